//! Where the files of a ring are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use tempfile::TempDir;

/// The directory of a ring, under `target/tmp`, and so on a real disk. It is removed when this is dropped.
pub(super) struct Directory {
    dir: TempDir,
}

impl Directory {
    /// An empty one. The shared ring is never dropped, so the next process removes what it has left.
    pub(super) fn new() -> Self {
        let rings = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rings");
        fs::create_dir_all(&rings).expect("directory");
        remove_left(&rings);
        let prefix = format!("{}-", process::id());
        Self { dir: tempfile::Builder::new().prefix(&prefix).tempdir_in(rings).expect("directory") }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}

/// Removes the directories of processes that have ended.
fn remove_left(rings: &Path) {
    for entry in fs::read_dir(rings).expect("directory").flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.split_once('-')).map(|(process, _)| process);
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process may be removing it too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
