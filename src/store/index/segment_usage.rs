//! What lives in each segment, counted while a group is applied.

use std::collections::BTreeMap;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::tables::SEGMENTS;
use crate::store::journal::RecordPlace;

/// What lives in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentUsage {
    /// Messages that an Email or an event needs.
    pub(crate) messages: u64,
    /// Octets of their records.
    pub(crate) octets: u64,
    /// Emails that have one of them: none where only events are left.
    pub(crate) emails: u64,
}

impl SegmentUsage {
    pub(super) fn decode((messages, octets, emails): (u64, u64, u64)) -> Self {
        Self { messages, octets, emails }
    }
}

/// The table of segments, open for writing, and what the group changes about it.
pub(super) struct SegmentUsages<'t> {
    table: Table<'t, u64, (u64, u64, u64)>,
    changes: BTreeMap<u64, Change>,
}

#[derive(Default)]
struct Change {
    messages: i64,
    octets: i64,
    emails: i64,
}

impl<'t> SegmentUsages<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(SEGMENTS)?, changes: BTreeMap::new() })
    }

    /// A message lives in the record at `place`.
    pub(super) fn add_message(&mut self, place: RecordPlace) {
        self.change_messages(place, 1);
    }

    /// It does not any more.
    pub(super) fn remove_message(&mut self, place: RecordPlace) {
        self.change_messages(place, -1);
    }

    /// An Email has the message in the record at `place`.
    pub(super) fn add_email(&mut self, place: RecordPlace) {
        self.changes.entry(place.segment).or_default().emails += 1;
    }

    /// It is gone.
    pub(super) fn remove_email(&mut self, place: RecordPlace) {
        self.changes.entry(place.segment).or_default().emails -= 1;
    }

    fn change_messages(&mut self, place: RecordPlace, messages: i64) {
        let change = self.changes.entry(place.segment).or_default();
        change.messages += messages;
        change.octets += messages * i64::from(place.length);
    }

    /// Writes what has changed.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (segment, Change { messages, octets, emails }) in std::mem::take(&mut self.changes) {
            let before = self.table.get(segment)?.map(|row| SegmentUsage::decode(row.value())).unwrap_or_default();
            let now = (
                before.messages.saturating_add_signed(messages),
                before.octets.saturating_add_signed(octets),
                before.emails.saturating_add_signed(emails),
            );
            self.table.insert(segment, now)?;
        }
        Ok(())
    }
}
