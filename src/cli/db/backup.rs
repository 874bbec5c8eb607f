//! `tempmail db backup`

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::{Context, output};
use super::bar;
use crate::client;
use crate::error::{Error, Exit};

/// Only the owner may read a backup: the secrets of webhooks are in it.
const MODE: u32 = 0o600;

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
        let is_piped = self.file.as_os_str() == "-";
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
                Some(unfinished) => unfinished.file.write_all(&piece).map_err(failed)?,
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

/// A file that is not complete yet, under a name of its own. It is removed if it never is.
struct Unfinished {
    file: File,
    path: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl Unfinished {
    fn beside(target: &Path) -> io::Result<Self> {
        match std::fs::symlink_metadata(target) {
            Ok(found) if !found.is_file() => return Err(io::Error::other("not a regular file")),
            _ => {}
        }
        let name = target.file_name().ok_or_else(|| io::Error::other("not the name of a file"))?;
        let mut unfinished = OsString::from(".");
        unfinished.push(name);
        unfinished.push(format!(".{}", std::process::id()));
        let path = target.with_file_name(unfinished);
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&path)?;
        Ok(Self { file, path, target: target.into(), is_finished: false })
    }

    /// Makes it durable under its name.
    fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.sync_all()?;
        std::fs::rename(&self.path, &self.target)?;
        self.is_finished = true;
        let directory = self.target.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished {
            // It is of no use to anybody; what can't be removed now has a name that says so.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
