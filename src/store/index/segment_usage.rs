//! The usage of segments: how many live messages each has, and their octets.

use std::collections::BTreeMap;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::tables::SEGMENTS;
use crate::store::journal::RecordPlace;

/// The usage of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentUsage {
    /// Messages that an Email or an event refers to.
    pub(crate) messages: u64,
    /// Octets of their records.
    pub(crate) octets: u64,
    /// Emails of these messages. 0 if only events refer to them.
    pub(crate) emails: u64,
}

impl SegmentUsage {
    pub(super) fn decode((messages, octets, emails): (u64, u64, u64)) -> Self {
        Self { messages, octets, emails }
    }
}

/// The table of segments, open for writing, with the changes of the group.
pub(super) struct SegmentUsages<'t> {
    table: Table<'t, u64, (u64, u64, u64)>,
    deltas: BTreeMap<u64, UsageDelta>,
}

#[derive(Default)]
struct UsageDelta {
    messages: i64,
    octets: i64,
    emails: i64,
}

impl<'t> SegmentUsages<'t> {
    /// Opens the table and creates it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(SEGMENTS)?, deltas: BTreeMap::new() })
    }

    /// Counts a message in the record at `place`.
    pub(super) fn add_message(&mut self, place: RecordPlace) {
        self.change_messages(place, 1);
    }

    /// Removes a message from the counts.
    pub(super) fn remove_message(&mut self, place: RecordPlace) {
        self.change_messages(place, -1);
    }

    /// Counts an Email whose message is in the record at `place`.
    pub(super) fn add_email(&mut self, place: RecordPlace) {
        self.deltas.entry(place.segment).or_default().emails += 1;
    }

    /// Removes an Email from the counts.
    pub(super) fn remove_email(&mut self, place: RecordPlace) {
        self.deltas.entry(place.segment).or_default().emails -= 1;
    }

    fn change_messages(&mut self, place: RecordPlace, messages: i64) {
        let delta = self.deltas.entry(place.segment).or_default();
        delta.messages += messages;
        delta.octets += messages * i64::from(place.length);
    }

    /// Writes the changed rows.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (segment, UsageDelta { messages, octets, emails }) in std::mem::take(&mut self.deltas) {
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
