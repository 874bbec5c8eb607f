//! Replacing a store by another, all or nothing.
//!
//! The files of a store are in one directory inside the data directory. A new store is built beside it. When it is complete
//! and durable, one rename makes it the next store. The next process that locks the data directory does the rest: it moves
//! the store's directory away and the next one to its place.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::directory::Directory;
use super::layout::{BUILDING, NEXT, NEXT_KEEPING, OldFiles, STORE, is_store, next_aside, remove_all, settle, sync};
use crate::store::OpenError;

impl Directory {
    /// Whether it holds a store.
    pub fn holds_store(&self) -> bool {
        is_store(self.path())
    }

    /// An empty directory for a new store, which is to replace this one. The caller holds the lock of this one.
    pub fn stage(&self) -> Result<Self, OpenError> {
        let path = self.path().join(BUILDING);
        remove_all(&path).map_err(|error| OpenError::from_io(&path, &error))?;
        Self::create(&path)?;
        Self::lock(&path)
    }

    /// Removes the directory of [`Directory::stage`].
    pub fn discard(&self) {
        if let Err(error) = remove_all(&self.path().join(BUILDING)) {
            tracing::warn!(%error, "an unfinished new store could not be removed; the next start removes it");
        }
    }

    /// Replaces this store by the staged one, which must be closed and durable. Returns the directory of the old files if
    /// they stay.
    ///
    /// After an error either the old or the new store is valid.
    pub fn replace(&self, old: OldFiles) -> io::Result<Option<PathBuf>> {
        let path = self.path();
        let (next, aside) = match old {
            OldFiles::Go => (NEXT, None),
            OldFiles::AreKept => (NEXT_KEEPING, path.join(STORE).exists().then(|| next_aside(path)).transpose()?),
        };
        let built = path.join(BUILDING).join(STORE);
        sync(&built)?;
        fs::rename(built, path.join(next))?;
        sync(path)?;
        settle(path)?;
        Ok(aside)
    }
}
