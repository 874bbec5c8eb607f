//! A backup: the live data of a store as a stream of records, in a file format of its own.
//!
//! A backup reads messages in the order of the journal. *After* it has read the octets of a message, it asks the index which
//! of its Emails are live. A message that is live then was whole when it was read, since only unreferenced octets leave the
//! disk. So a backup blocks neither the writer nor the removal of mail.

mod batch;
mod format;
mod restore;
mod source;

pub(in crate::store) use batch::{BATCHES_WAITING, Batch};
pub use format::{BackupCounts, BackupDecoder, BackupError, BackupItem, BackupRecord, encode, header};
#[cfg(feature = "cassandra")]
pub(in crate::store) use restore::each_record;
pub(in crate::store) use restore::load;
pub use restore::{RestoreError, restore, verify};
pub(crate) use source::{BackupSource, Damage};
