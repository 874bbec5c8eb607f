//! `tempmail db check`

use serde_json::json;

use super::super::Context;
use super::super::output::{self, Cell, Row};
use super::{agreed, bar, bar_of_parts, is_in_cluster, sources, tell_of_tokens};
use crate::client::{self, CheckReport, Finding, OfflineStore};
use crate::config::{self, Sources, StoreLocation};
use crate::error::{Error, Exit};

/// Check whether the store is whole: every record, every row, and whether they agree
///
/// The service must be stopped. Nothing is written. In a pipe each finding is a line of four fields separated by tabs:
/// its kind, the segment of the journal, the octet in it, what is wrong. Exit code 8 when there is one.
///
/// In a cluster the service may run meanwhile, and every message is read.
///
/// With --salvage, what can still be read becomes the store, and the files as they are go into a directory damaged-N of
/// the data directory. Needs as much free space as the mail takes.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db check
  tempmail db check --json | jq -r '.findings[].detail'
  tempmail db check --salvage")]
pub(in crate::cli) struct Check {
    /// Keep the readable part of a damaged store, after a question or with --yes
    #[arg(long)]
    salvage: bool,
}

impl Row for Finding {
    const HEADINGS: &'static [&'static str] = &["KIND", "SEGMENT", "OFFSET", "WHAT"];

    fn cells(&self) -> Vec<Cell> {
        let number = |value: Option<u64>| value.map_or(Cell::Text(String::new()), Cell::Number);
        vec![
            Cell::State(self.kind.as_str().to_owned(), false),
            number(self.segment),
            number(self.offset),
            Cell::Text(self.detail.clone()),
        ]
    }

    fn id(&self) -> String {
        self.kind.as_str().to_owned()
    }
}

impl Check {
    pub(in crate::cli) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        if !self.salvage && is_in_cluster(&sources(cx)?)? {
            return check_cluster(cx).await;
        }
        let store = OfflineStore::take(&files(cx)?, false).await?;
        let report = store.check(bar(cx, "checking")).await?;
        show(cx, &report)?;
        if report.is_clean() {
            let (segments, records) = (report.segments, report.records);
            cx.hint(&format!("{records} records in {segments} segments and {} Emails are whole", report.emails));
            return Ok(Exit::Ok);
        }
        if self.salvage {
            return salvage(cx, &store).await;
        }
        cx.hint("`tempmail db check --salvage` goes on without what is damaged; a backup may have more");
        Ok(Exit::CheckFailed)
    }
}

/// Where the files of the data directory are.
fn files(cx: &Context) -> Result<Sources, Error> {
    let sources = sources(cx)?;
    match config::load(&sources)?.config.store.location {
        StoreLocation::Embedded => Ok(sources),
        cluster @ StoreLocation::Cassandra(_) => {
            let cause = format!("mail is kept in {cluster}, and this works on the files of a data directory");
            Err(Error::usage(cause).hint("`nodetool repair` brings back what another node of the cluster still has"))
        }
    }
}

/// Shows the findings of a check.
fn show(cx: &Context, report: &CheckReport) -> Result<(), Error> {
    let whole = json!({
        "clean": report.is_clean(), "segments": report.segments, "records": report.records,
        "emails": report.emails, "findings": report.findings, "unlisted": report.unlisted,
    });
    cx.print(output::list(cx.style, &report.findings, &whole, cx.now()))?;
    if report.unlisted > 0 {
        cx.hint(&format!("and {} more", report.unlisted));
    }
    Ok(())
}

async fn check_cluster(cx: &Context) -> Result<Exit, Error> {
    let report = client::check_cluster(&sources(cx)?, bar_of_parts(cx, "checking")).await?;
    show(cx, &report)?;
    if !report.is_clean() {
        cx.hint("`nodetool repair` brings back what another node of the cluster still has; a backup may have more");
        return Ok(Exit::CheckFailed);
    }
    cx.hint(&format!("{} Emails are whole", report.emails));
    Ok(Exit::Ok)
}

async fn salvage(cx: &Context, store: &OfflineStore) -> Result<Exit, Error> {
    let question = format!("Go on without what is damaged in {}?", store.path().display());
    if !agreed(cx, &question, "going on without what is damaged").await? {
        cx.hint("nothing was changed");
        return Ok(Exit::CheckFailed);
    }
    let salvaged = store.salvage(bar(cx, "salvaging")).await?;
    let copied = salvaged.copied;
    cx.hint(&format!(
        "kept {} Emails of {}, {} domains and {} webhooks, which are disabled until they are registered again",
        copied.emails, salvaged.report.emails, copied.domains, copied.webhooks
    ));
    cx.hint("Emails that were deleted may be back, where the damage hides that they were");
    tell_of_tokens(cx, salvaged.has_tokens);
    cx.hint(&format!(
        "the damaged files are in {}; remove them when they are of no more use",
        salvaged.aside.display()
    ));
    Ok(Exit::Ok)
}
