//! Giving free pages of the index back to the file system, while nothing else uses the store.

use redb::{Database, Durability};

use super::{Index, IndexError};

/// An index smaller than this is left as it is.
const LEAST_OCTETS: u64 = 1 << 20;
/// A larger one is left to a person when the store is opened: a start must not take long.
const AT_START_OCTETS_MAX: u64 = 512 << 20;

/// What a compaction did to the file of the index, in octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Its length before.
    pub before_octets: u64,
    /// Its length now.
    pub after_octets: u64,
}

impl Index {
    /// Compacts an index of `octets` of which more than half is free, unless it is too small to matter or too large for
    /// a start. Whether it did.
    pub(crate) fn compact_if_worthwhile(&mut self, octets: u64) -> Result<bool, IndexError> {
        // Counting what is used reads the whole index.
        if !(LEAST_OCTETS..=AT_START_OCTETS_MAX).contains(&octets)
            || used_octets(&self.database)?.saturating_mul(2) > octets
        {
            return Ok(false);
        }
        self.compact()?;
        Ok(true)
    }

    /// Moves what is used to the front of the file and cuts the file. Reads and writes all of it.
    pub(crate) fn compact(&mut self) -> Result<(), IndexError> {
        // One pass moves what it can; what that freed may let the next one move more.
        while self.database.compact()? {}
        Ok(())
    }
}

/// Octets of the pages in use.
fn used_octets(database: &Database) -> Result<u64, IndexError> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::None)?;
    let stats = transaction.stats()?;
    transaction.abort()?;
    Ok(stats.allocated_pages().saturating_mul(stats.page_size() as u64))
}
