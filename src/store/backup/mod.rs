//! A backup: the live data of a store as a stream of records, in a file format of its own.
//!
//! A backup reads messages in the order in which they expire, a few rows at a time, so that it blocks neither the writer nor
//! the removal of mail. Where the octets of a message cannot be read, it asks again whether there still is such a message.

mod batch;
mod format;
mod restore;
mod source;

pub(in crate::store) use batch::{BATCHES_WAITING, Batch};
pub use format::{BackupCounts, BackupDecoder, BackupError, BackupItem, BackupRecord, encode, header};
#[cfg(feature = "cassandra")]
pub(in crate::store) use restore::each_record;
pub use restore::{RestoreError, restore, verify};
pub(crate) use source::{BackupSource, Damage};
