//! What commands share that delete: a question or `--yes`, `--dry-run`, and a line for each thing that went.

use serde_json::{Value, json};

use super::Context;
use super::output::Column;
use crate::client::ClientError;
use crate::error::Error;

/// Whether things go, or are only said to.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct Removal {
    /// Say what would go, and delete nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl Removal {
    /// Fails where nobody can be asked whether to do `what` and no flag says so.
    pub(super) fn must_ask(self, cx: &Context, what: &str) -> Result<(), Error> {
        if self.dry_run { Ok(()) } else { cx.must_ask(what, HINT) }
    }

    /// Goes on if the user agrees, or nothing goes. `done` is the word for what goes.
    pub(super) async fn agreed(self, cx: &Context, question: &str, done: &str) -> Result<(), Error> {
        if self.dry_run { Ok(()) } else { cx.agreed(question, done).await }
    }

    /// Prints a row for each thing, whose `deleted` says how many went or would go. What is gone is gone, and is said before
    /// what failed.
    pub(super) fn show(
        self,
        cx: &Context,
        columns: &[Column],
        rows: &[Value],
        done: Result<(), ClientError>,
    ) -> Result<(), Error> {
        if done.is_ok() || !rows.is_empty() {
            let sum: u64 = rows.iter().map(deleted).sum();
            cx.list(columns, rows, &json!({ (if self.dry_run { "wouldDelete" } else { "deleted" }): sum }))?;
            if self.dry_run {
                cx.hint(DRY_RUN);
            }
        }
        Ok(done?)
    }
}

/// What is said of a dry run.
pub(super) const DRY_RUN: &str = "dry run: nothing was deleted";

/// How a question is answered beforehand.
pub(super) const HINT: &str = "--yes deletes without a question, --dry-run shows what would go";

/// How many things of a row went or would go.
pub(super) fn deleted(row: &Value) -> u64 {
    row["deleted"].as_u64().unwrap_or(0)
}
