//! `tempmail db backup`

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use serde_json::json;

use super::super::{Context, STANDARD, output};
use super::bar;
use crate::client;
use crate::error::{Error, Exit};
use crate::unfinished::Unfinished;

/// Back up all mail, domains and webhooks
///
/// Works with and without a running service, which goes on meanwhile. The file is complete and on the disk when this
/// ends with 0, and until then an older one of the same name stays as it is. It holds the secrets of webhooks and is
/// made readable for its owner alone.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db backup /var/backups/tempmail.backup
  tempmail db backup - | gzip > tempmail.backup.gz")]
pub(in crate::cli) struct Backup {
    /// Where to; - for standard output
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

impl Backup {
    pub(in crate::cli) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let is_piped = self.file.as_os_str() == STANDARD;
        if is_piped && io::stdout().is_terminal() {
            return Err(Error::usage("a backup is no text for a terminal").hint("name a file, or pipe it somewhere"));
        }
        let failed = |error: io::Error| Error::new(Exit::Failure, format!("{}: {error}", self.file.display()));
        let mut unfinished = if is_piped { None } else { Some(Unfinished::beside(&self.file).map_err(failed)?) };
        let client = cx.client().await?;
        let all = client.status().await?.store.get("liveOctets").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let progress = bar(cx, "backing up");
        let mut backup = client.backup().await?;
        while let Some(piece) = backup.next().await? {
            match &mut unfinished {
                Some(unfinished) => unfinished.write(&piece).map_err(failed)?,
                None => cx.print(&piece)?,
            }
            progress(backup.counts().octets.min(all), all);
        }
        drop(progress);
        if let Some(unfinished) = unfinished {
            unfinished.finish().map_err(failed)?;
            cx.print(output::document(cx.style, &json!(backup.counts()), cx.now()))?;
        } else {
            let client::BackupCounts { emails, domains, webhooks, .. } = backup.counts();
            cx.hint(&format!("{emails} Emails, {domains} domains and {webhooks} webhooks are in the backup"));
        }
        Ok(Exit::Ok)
    }
}
