//! Giving the index's free pages back to the file system.

use std::sync::Arc;

use redb::Durability;

use super::{Backend, Database, Index, IndexError, NAME, OpenError, StoreOptions, failed, find};
use crate::store::disk::Disk;

/// Makes the file of an index that nobody has open as small as its rows permit; its size before and after, in octets.
pub fn compact_file(disk: &Arc<dyn Disk>, options: &StoreOptions) -> Result<(u64, u64), OpenError> {
    Index::open_untouched(disk, options)?.ok_or(OpenError::Empty)?;
    let file = find(disk)?.ok_or(OpenError::Index(format!("{NAME} is missing")))?;
    let before = file.size().map_err(|error| failed(&error))?;
    let mut database = Database::builder()
        .set_cache_size(options.index_cache_octets)
        .create_with_backend(Backend(Arc::clone(&file)))
        .map_err(IndexError::from)?;
    // One pass moves what it can; what that freed may let the next one move more.
    while database.compact().map_err(IndexError::from)? {}
    let mut transaction = database.begin_write().map_err(IndexError::from)?;
    // Compaction leaves a file that would take a full repair after a crash.
    transaction.set_durability(Durability::Immediate).map_err(IndexError::from)?;
    transaction.set_quick_repair(true);
    transaction.commit().map_err(IndexError::from)?;
    drop(database);
    Ok((before, file.size().map_err(|error| failed(&error))?))
}
