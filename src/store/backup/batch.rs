//! Records of a backup on their way to its reader.

use super::BackupItem;

/// A batch is complete once its messages have this many octets, or it has this many records.
const BATCH_OCTETS: usize = 256 << 10;
const BATCH_RECORDS: usize = 256;
/// The most batches that wait for their reader.
pub(in crate::store) const BATCHES_WAITING: usize = 2;

/// A batch of records.
#[derive(Debug, Default)]
pub(in crate::store) struct Batch {
    items: Vec<BackupItem>,
    octets: usize,
}

impl Batch {
    /// Adds a record. Returns the batch once it is complete.
    pub(in crate::store) fn push(&mut self, item: BackupItem) -> Option<Vec<BackupItem>> {
        self.octets += item.content.len();
        self.items.push(item);
        (self.octets >= BATCH_OCTETS || self.items.len() >= BATCH_RECORDS).then(|| self.take())
    }

    /// The records so far.
    pub(in crate::store) fn take(&mut self) -> Vec<BackupItem> {
        self.octets = 0;
        std::mem::take(&mut self.items)
    }
}
