//! Maildirs: a directory with `tmp`, `new` and `cur`, and a file per message.

use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::MAILS_MAX;
use super::entry::Entry;
use crate::model::{EmailId, Timestamp};

/// The part of a name that says which machine made it.
const HOST: &str = "tempmail";

/// A Maildir that is written to.
pub(in crate::cli) struct Writer {
    path: PathBuf,
    /// The names that are there, without what a reader added to them.
    names: HashSet<String>,
}

impl Writer {
    /// Makes the directories that are missing.
    pub(in crate::cli) fn open(path: &Path) -> io::Result<Self> {
        for name in ["tmp", "new", "cur"] {
            DirBuilder::new().recursive(true).mode(0o700).create(path.join(name))?;
        }
        let names = files(path)?.into_iter().filter_map(|file| {
            let name = file.file_name()?.to_str()?;
            Some(name.split(':').next().unwrap_or(name).to_owned())
        });
        Ok(Self { path: path.to_owned(), names: names.collect() })
    }

    /// Writes a message into `tmp` and moves it into `new` when it is complete; `false` if it is there already.
    pub(in crate::cli) fn add(&mut self, id: EmailId, entry: &Entry<'_>, received_at: Timestamp) -> io::Result<bool> {
        let millis = u64::try_from(received_at.millis()).unwrap_or_default();
        let name = format!("{}.{id}.{HOST}", millis / 1_000);
        if self.names.contains(&name) {
            return Ok(false);
        }
        let unfinished = self.path.join("tmp").join(&name);
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
            file.write_all(&entry.to_archive())?;
            file.set_modified(UNIX_EPOCH + Duration::from_millis(millis))?;
            file.sync_all()?;
            // Unlike a rename, a link replaces nothing.
            std::fs::hard_link(&unfinished, self.path.join("new").join(&name))
        })();
        // What can't be removed from `tmp` is removed by a reader, after 36 hours.
        let _ = std::fs::remove_file(&unfinished);
        written?;
        self.names.insert(name);
        Ok(true)
    }

    /// Makes the new names durable.
    pub(in crate::cli) fn finish(self) -> io::Result<()> {
        File::open(self.path.join("new"))?.sync_all()
    }
}

/// The files of the messages in the order of their names, which begin with the time.
pub(in crate::cli) fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for name in ["cur", "new"] {
        for entry in std::fs::read_dir(path.join(name))? {
            let entry = entry?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !is_hidden && entry.file_type()?.is_file() {
                files.push(entry.path());
            }
            if files.len() > MAILS_MAX {
                return Err(io::Error::other(format!("it has more than {MAILS_MAX} messages")));
            }
        }
    }
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    Ok(files)
}

/// The message in a file, of at most `octets_max`.
pub(in crate::cli) fn message(file: &Path, octets_max: u64) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    File::open(file)?.take(octets_max + 1).read_to_end(&mut message)?;
    if message.len() as u64 > octets_max {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long"));
    }
    Ok(message)
}
