//! A file that appears under its name only when it is complete.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Only the owner may read it: a backup has the secrets of webhooks.
const MODE: u32 = 0o600;

/// A file that is not complete yet, under a name of its own. It is removed if it never is.
pub(crate) struct Unfinished {
    file: File,
    path: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl Unfinished {
    /// An empty one beside `target`, which must be a regular file or not exist.
    pub(crate) fn beside(target: &Path) -> io::Result<Self> {
        match std::fs::symlink_metadata(target) {
            Ok(found) if !found.is_file() => return Err(io::Error::other("not a regular file")),
            _ => {}
        }
        let name = target.file_name().ok_or_else(|| io::Error::other("not the name of a file"))?;
        let mut unfinished = OsString::from(".");
        unfinished.push(name);
        // A process in a container has the same id each time, and one that was killed leaves its file.
        unfinished.push(format!(".{:016x}", rand::random::<u64>()));
        let path = target.with_file_name(unfinished);
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&path)?;
        Ok(Self { file, path, target: target.into(), is_finished: false })
    }

    pub(crate) fn write(&mut self, octets: &[u8]) -> io::Result<()> {
        self.file.write_all(octets)
    }

    /// Makes it durable under its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_left_behind_blocks_no_other() {
        let dir = tempfile::tempdir().expect("directory");
        let target = dir.path().join("tempmail.backup");
        let left = Unfinished::beside(&target).expect("the first");
        let mut next = Unfinished::beside(&target).expect("the second");
        next.write(b"new").expect("write");
        next.finish().expect("finish");
        assert_eq!(std::fs::read(&target).expect("the file"), b"new");
        drop(left);
        assert_eq!(std::fs::read_dir(dir.path()).expect("directory").count(), 1);
    }
}
