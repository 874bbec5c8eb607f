//! A backup: the living state of a store as a stream of records, in a file format of its own.
//!
//! Mail is read off the journal in its order, and of each message the index is asked which Emails live *after* its octets
//! were read: what lives then was whole when it was read, since nothing is taken off the disk before it is dead. So a
//! backup holds nothing back, neither the writer nor the space of what goes meanwhile.

mod format;
mod restore;
mod source;

pub use format::{BackupCounts, BackupDecoder, BackupError, BackupItem, BackupRecord, encode, header};
pub(in crate::store) use restore::load;
pub use restore::{RestoreError, restore, verify};
pub(crate) use source::{Damage, Source};
