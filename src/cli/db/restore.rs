//! `tempmail db restore`

use std::path::PathBuf;

use serde_json::json;

use super::super::{Context, output};
use super::{agreed, bar, is_in_cluster, sources, tell_of_tokens};
use crate::client::{self, OfflineStore};
use crate::error::{Error, Exit};

/// Replace the store with a backup
///
/// The service must be stopped. The backup is read to its end first, and the new store is made beside the old one; until
/// it is complete nothing of the old one is touched. Events that were pending are not sent unless --with-events
/// is given: their endpoints may have received them since.
///
/// In a cluster the keyspace is made, or must be empty, and no node of the service may run on it. Until the restore is
/// complete nobody can open the keyspace. If it is interrupted, restore into another keyspace, and drop this one. Mail that
/// has expired is left out.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db restore tempmail.backup
  tempmail db restore /var/backups/tempmail.backup --yes
  tempmail db restore tempmail.backup --data-dir copy")]
pub(in crate::cli) struct Restore {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Also restore the events that were pending when the backup was made
    #[arg(long)]
    with_events: bool,
}

impl Restore {
    pub(in crate::cli) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        // Before anything is made for it.
        std::fs::File::open(&self.file)
            .map_err(|error| Error::usage(format!("{} can't be read: {error}", self.file.display())))?;
        let sources = sources(cx)?;
        let (checking, restoring) = (bar(cx, "reading"), bar(cx, "restoring"));
        if is_in_cluster(&sources)? {
            // Nothing is replaced there, so there is nothing to ask.
            let counts =
                client::restore_into_cluster(&sources, self.file, self.with_events, checking, restoring).await?;
            cx.print(output::document(cx.style, &json!(counts), cx.now()))?;
            return Ok(Exit::Ok);
        }
        let store = OfflineStore::take(&sources, true).await?;
        if store.holds_store()? {
            let question = format!("Replace all mail, domains and webhooks in {}?", store.path().display());
            if !agreed(cx, &question, "replacing a store").await? {
                cx.hint("nothing was changed");
                return Ok(Exit::Ok);
            }
        }
        let (counts, has_tokens) = store.restore(self.file, self.with_events, checking, restoring).await?;
        cx.print(output::document(cx.style, &json!(counts), cx.now()))?;
        tell_of_tokens(cx, has_tokens);
        Ok(Exit::Ok)
    }
}
