//! The directories of a store within its data directory, and the end of a replacement that was interrupted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::store::journal::segment_number;

/// The directory of the store's files.
pub(in crate::store) const STORE: &str = "store";
/// A new store that is being built, or an old one that is being removed. It goes if its process is killed.
pub(super) const BUILDING: &str = "store.building";
/// A complete new store. The old one is to be removed.
pub(super) const NEXT: &str = "store.next";
/// A complete new store. The old one is to be kept as `damaged-N`.
pub(super) const NEXT_KEEPING: &str = "store.next-keeping";
/// The index of a store of an earlier version.
const EARLIER_INDEX: &str = "index.redb";
/// Prefix of a directory of old files. A number follows.
const ASIDE: &str = "damaged-";

/// What happens to the files of the replaced store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldFiles {
    /// The files are removed.
    Go,
    /// The files move into a directory `damaged-N` of the data directory.
    AreKept,
}

/// Whether a data directory holds a store, or a new one that only has to move.
pub fn is_store(path: &Path) -> bool {
    let has_files = |store: &Path| fs::read_dir(store).is_ok_and(|mut files| files.next().is_some());
    has_files(&path.join(STORE))
        || [NEXT, NEXT_KEEPING].iter().any(|name| path.join(name).exists())
        || earlier_files(path).is_ok_and(|files| !files.is_empty())
}

/// The files of a store of an earlier version, which lay in the data directory itself.
pub(super) fn earlier_files(path: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let is_of_store = |name: &String| name == EARLIER_INDEX || segment_number(name).is_some();
    names.filter(|name: &io::Result<String>| name.as_ref().map_or(true, is_of_store)).collect()
}

/// Finishes an interrupted replacement. The caller holds the lock.
pub(super) fn settle(path: &Path) -> io::Result<()> {
    remove_all(&path.join(BUILDING))?;
    for (next, old) in [(NEXT, OldFiles::Go), (NEXT_KEEPING, OldFiles::AreKept)] {
        let (next, store) = (path.join(next), path.join(STORE));
        if !next.exists() {
            continue;
        }
        if store.exists() {
            let away = match old {
                OldFiles::Go => path.join(BUILDING),
                OldFiles::AreKept => next_aside(path)?,
            };
            fs::rename(&store, away)?;
        }
        fs::rename(&next, &store)?;
        sync(path)?;
        remove_all(&path.join(BUILDING))?;
        if old == OldFiles::Go {
            for name in earlier_files(path)? {
                fs::remove_file(path.join(name))?;
            }
        }
    }
    Ok(())
}

/// The first free name for a directory of old files.
pub(super) fn next_aside(path: &Path) -> io::Result<PathBuf> {
    let names = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let number = |entry: &fs::DirEntry| entry.file_name().to_str()?.strip_prefix(ASIDE)?.parse::<u64>().ok();
    let last = names.iter().filter_map(number).max().unwrap_or(0);
    Ok(path.join(format!("{ASIDE}{}", last + 1)))
}

pub(super) fn sync(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

pub(super) fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
