//! Replacing a store by another, all or nothing.
//!
//! The new store is built in a directory inside the data directory, since the parent often belongs to another user. When it
//! is complete and durable, one rename of that directory makes it the store. The rest is finished by the next process that
//! locks the data directory: it removes the old files and moves the new ones up.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::directory::{Directory, LOCK_NAME};
use crate::store::OpenError;
use crate::store::{index, journal};

/// A new store that is being built. It is removed if its process was killed, and so has a name that no other program uses.
const STAGING: &str = ".tempmail-staging";
/// A complete new store whose old files are to be removed.
const REPLACING: &str = ".tempmail-replacing";
/// A complete new store whose old files are to be moved aside.
const SAVING: &str = ".tempmail-replacing-keeping";
/// The new files after the old ones have gone. They are to move up.
const ARRIVING: &str = ".tempmail-arriving";
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

/// Whether a file of the data directory belongs to the store.
fn is_of_store(name: &str) -> bool {
    name == index::NAME || journal::segment_number(name).is_some()
}

fn store_files(path: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.filter(|name: &io::Result<String>| name.as_ref().map_or(true, |name| is_of_store(name))).collect()
}

fn sync(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

/// Whether a directory holds a store, or a new one that only has to move up.
pub(in crate::store) fn is_there(path: &Path) -> bool {
    [index::NAME, REPLACING, SAVING, ARRIVING].iter().any(|name| path.join(name).exists())
}

/// Finishes an interrupted replacement. The caller holds the lock.
pub(super) fn settle(path: &Path) -> io::Result<()> {
    settle_by(path, &mut sync)
}

/// Finishes an interrupted replacement with a given function that makes a directory durable.
fn settle_by(path: &Path, sync: &mut dyn FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    remove_all(&path.join(STAGING))?;
    let arriving = path.join(ARRIVING);
    for (marker, old) in [(REPLACING, OldFiles::Go), (SAVING, OldFiles::AreKept)] {
        let marker = path.join(marker);
        if !marker.exists() {
            continue;
        }
        let aside = last_aside(path)?;
        for name in store_files(path)? {
            match (&aside, old) {
                (Some(aside), OldFiles::AreKept) => fs::rename(path.join(&name), aside.join(&name))?,
                _ => fs::remove_file(path.join(&name))?,
            }
        }
        // After a power cut each moved file must be in one of the two directories.
        if let (Some(aside), OldFiles::AreKept) = (&aside, old) {
            sync(aside)?;
        }
        sync(path)?;
        fs::rename(&marker, &arriving)?;
        sync(path)?;
    }
    if arriving.exists() {
        for name in store_files(&arriving)? {
            fs::rename(arriving.join(&name), path.join(&name))?;
        }
        sync(path)?;
        fs::remove_dir_all(&arriving)?;
    }
    Ok(())
}

fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Finds the newest directory of old files.
fn last_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    Ok(aside_numbers(path)?.into_iter().max().map(|number| path.join(format!("{ASIDE}{number}"))))
}

fn aside_numbers(path: &Path) -> io::Result<Vec<u64>> {
    let names = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    Ok(names.iter().filter_map(|entry| entry.file_name().to_str()?.strip_prefix(ASIDE)?.parse().ok()).collect())
}

impl Directory {
    /// Whether the directory holds files of a store.
    pub fn holds_store(&self) -> Result<bool, OpenError> {
        let files = store_files(self.path()).map_err(|error| OpenError::from_io(self.path(), &error))?;
        Ok(!files.is_empty())
    }

    /// Creates an empty directory for a new store that is to replace this one.
    pub fn stage(&self) -> Result<Self, OpenError> {
        let path = self.path().join(STAGING);
        remove_all(&path).map_err(|error| OpenError::from_io(&path, &error))?;
        Self::create(&path)?;
        Self::lock(&path)
    }

    /// Removes the directory of [`Directory::stage`].
    pub fn discard(&self) {
        if let Err(error) = remove_all(&self.path().join(STAGING)) {
            tracing::warn!(%error, "an unfinished new store could not be removed; the next start removes it");
        }
    }

    /// Replaces this store by the staged one, which must be closed. Returns the directory of the old files if they stay.
    ///
    /// After an error either the old or the new store is valid.
    pub fn replace(&self, old: OldFiles) -> io::Result<Option<PathBuf>> {
        let (path, staged) = (self.path(), self.path().join(STAGING));
        let (marker, aside) = match old {
            OldFiles::Go => (REPLACING, None),
            OldFiles::AreKept => {
                let number = aside_numbers(path)?.into_iter().max().unwrap_or(0) + 1;
                let aside = path.join(format!("{ASIDE}{number}"));
                Self::create(&aside).map_err(|error| io::Error::other(error.to_string()))?;
                (SAVING, Some(aside))
            }
        };
        fs::remove_file(staged.join(LOCK_NAME))?;
        sync(&staged)?;
        sync(path)?;
        fs::rename(&staged, path.join(marker))?;
        sync(path)?;
        settle(path)?;
        Ok(aside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [&str; 3] = ["index.redb", "journal-0000000000000001", "journal-0000000000000002"];
    const NEW: [&str; 3] = ["index.redb", "journal-0000000000000001", "journal-0000000000000003"];

    fn write(path: &Path, names: &[&str], what: &str) {
        fs::create_dir_all(path).expect("directory");
        for name in names {
            fs::write(path.join(name), what).expect("write");
        }
    }

    fn read(path: &Path) -> Vec<(String, String)> {
        let mut names = store_files(path).expect("list");
        names.sort();
        names.into_iter().map(|name| (name.clone(), fs::read_to_string(path.join(name)).expect("read"))).collect()
    }

    fn all(names: &[&str], what: &str) -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).into(), what.into())).collect()
    }

    /// Does the first `steps` of a replacement, as a kill would leave them. `None` if there are fewer steps.
    fn replaced_up_to(steps: usize, old: OldFiles, path: &Path) -> Option<()> {
        let aside = path.join("damaged-1");
        write(path, &OLD, "old");
        write(&path.join(STAGING), &NEW, "new");
        let marker = path.join(if old == OldFiles::Go { REPLACING } else { SAVING });
        if old == OldFiles::AreKept {
            fs::create_dir(&aside).expect("directory");
        }
        let arriving = path.join(ARRIVING);
        let mut all: Vec<Box<dyn Fn() -> io::Result<()> + '_>> =
            vec![Box::new(|| fs::rename(path.join(STAGING), &marker))];
        for name in OLD {
            let aside = &aside;
            all.push(match old {
                OldFiles::Go => Box::new(move || fs::remove_file(path.join(name))),
                OldFiles::AreKept => Box::new(move || fs::rename(path.join(name), aside.join(name))),
            });
        }
        all.push(Box::new(|| fs::rename(&marker, &arriving)));
        for name in NEW {
            let arriving = &arriving;
            all.push(Box::new(move || fs::rename(arriving.join(name), path.join(name))));
        }
        all.push(Box::new(|| fs::remove_dir(&arriving)));
        (steps <= all.len()).then(|| all[..steps].iter().for_each(|step| step().expect("a step")))
    }

    #[test]
    fn wherever_a_replacement_is_cut_off_one_of_the_stores_is_whole() {
        for old in [OldFiles::Go, OldFiles::AreKept] {
            for steps in 0.. {
                let dir = tempfile::tempdir().expect("directory");
                let Some(()) = replaced_up_to(steps, old, dir.path()) else {
                    assert!(steps > OLD.len() + NEW.len(), "{steps}");
                    break;
                };
                for time in ["first", "second"] {
                    drop(Directory::lock(dir.path()).expect("lock"));
                    let expected = if steps == 0 { all(&OLD, "old") } else { all(&NEW, "new") };
                    assert_eq!(read(dir.path()), expected, "{old:?} cut off after {steps}, the {time} time");
                    let left = [STAGING, REPLACING, SAVING, ARRIVING];
                    assert!(left.iter().all(|name| !dir.path().join(name).exists()), "{old:?}, {steps}: left behind");
                    if old == OldFiles::AreKept && steps > 0 {
                        assert_eq!(read(&dir.path().join("damaged-1")), all(&OLD, "old"));
                    }
                }
            }
        }
    }

    /// A file that one directory has durably lost must be durable in the other.
    #[test]
    fn old_files_that_are_kept_are_durable_where_they_went_before_they_are_gone_where_they_were() {
        let dir = tempfile::tempdir().expect("directory");
        let aside = dir.path().join("damaged-1");
        replaced_up_to(2, OldFiles::AreKept, dir.path()).expect("steps");
        let (mut durable, mut looks) = (Vec::new(), 0);
        let mut look = |path: &Path| {
            let there = read(&aside);
            if path == aside {
                durable = there;
            } else {
                looks += 1;
                assert!(there.iter().all(|file| durable.contains(file)), "{there:?}, and durable {durable:?}");
            }
            Ok(())
        };
        settle_by(dir.path(), &mut look).expect("settled");
        assert!(looks > 0);
        assert_eq!((read(&aside), read(dir.path())), (all(&OLD, "old"), all(&NEW, "new")));
    }
}
