//! A file that appears under its name only when it is complete.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

/// Only the owner may read it: a backup has the secrets of webhooks.
const MODE: u32 = 0o600;

/// A file that is not complete yet. It goes with the process, or with this, if it never is.
///
/// A file system without files that have no name, such as NFS, holds it under a name of its own meanwhile. A signal leaves that behind.
pub(crate) struct Unfinished {
    file: File,
    target: PathBuf,
    /// The name of its own, where it has one.
    path: Option<PathBuf>,
}

impl Unfinished {
    /// An empty one beside `target`, which must be a regular file or not exist.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        match std::fs::symlink_metadata(target) {
            Ok(found) if !found.is_file() => return Err(io::Error::other("not a regular file")),
            _ => {}
        }
        Self::unnamed(target).or_else(|_| Self::named(target))
    }

    fn unnamed(target: &Path) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = open(directory(target), flags, Mode::from(MODE))?;
        Ok(Self { file: file.into(), target: target.into(), path: None })
    }

    fn named(target: &Path) -> io::Result<Self> {
        let path = name_beside(target)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&path)?;
        Ok(Self { file, target: target.into(), path: Some(path) })
    }

    pub(crate) fn write(&mut self, octets: &[u8]) -> io::Result<()> {
        self.file.write_all(octets)
    }

    /// Makes it durable under its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.path.is_none() {
            // A link replaces nothing, so it gets a name of its own first.
            let path = name_beside(&self.target)?;
            let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            linkat(CWD, unnamed, CWD, &path, AtFlags::SYMLINK_FOLLOW)?;
            self.path = Some(path);
        }
        if let Some(path) = &self.path {
            std::fs::rename(path, &self.target)?;
        }
        self.path = None;
        File::open(directory(&self.target))?.sync_all()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // It is of no use to anybody; what can't be removed now has a name that says so.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn directory(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A hidden name beside `target` that no other process has chosen or left behind. It is short, since the target may
/// have the longest name that there is.
fn name_beside(target: &Path) -> io::Result<PathBuf> {
    target.file_name().ok_or_else(|| io::Error::other("not the name of a file"))?;
    Ok(target.with_file_name(format!(".tempmail-{:016x}", rand::random::<u64>())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_finished_is_in_the_way_of_no_other() {
        let dir = tempfile::tempdir().expect("directory");
        let target = dir.path().join("tempmail.backup");
        for (number, begin) in [Unfinished::beside, Unfinished::named].into_iter().enumerate() {
            let left = begin(&target).expect("the first");
            let mut next = begin(&target).expect("the second");
            let text = format!("new {number}");
            next.write(text.as_bytes()).expect("write");
            next.finish().expect("finish");
            assert_eq!(std::fs::read_to_string(&target).expect("the file"), text);
            drop(left);
            assert_eq!(std::fs::read_dir(dir.path()).expect("directory").count(), 1);
        }
    }
}
