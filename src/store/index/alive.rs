//! What lives in each segment, counted while a group is applied.

use std::collections::BTreeMap;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::tables::{SEGMENTS, expiry_second};
use crate::model::Timestamp;
use crate::store::journal::RecordPlace;

/// What lives in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentLife {
    pub(crate) messages: u64,
    /// Octets of their records.
    pub(crate) octets: u64,
    /// The second in which the last message expires that ever came into it. What was given a shorter life since goes sooner.
    pub(crate) last_expiry: u64,
}

impl SegmentLife {
    pub(super) fn decode((messages, octets, last_expiry): (u64, u64, u64)) -> Self {
        Self { messages, octets, last_expiry }
    }
}

/// The table of segments, open for writing, and what the group changes about it.
pub(super) struct Alive<'t> {
    table: Table<'t, u64, (u64, u64, u64)>,
    changes: BTreeMap<u64, Change>,
}

#[derive(Default)]
struct Change {
    messages: i64,
    octets: i64,
    last_expiry: u64,
}

impl<'t> Alive<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(SEGMENTS)?, changes: BTreeMap::new() })
    }

    /// A message that expires at `expires_at` lives in the record at `place`.
    pub(super) fn add(&mut self, place: RecordPlace, expires_at: Timestamp) {
        let change = self.change(place, 1);
        change.last_expiry = change.last_expiry.max(expiry_second(expires_at));
    }

    /// It does not any more.
    pub(super) fn remove(&mut self, place: RecordPlace) {
        self.change(place, -1);
    }

    fn change(&mut self, place: RecordPlace, messages: i64) -> &mut Change {
        let change = self.changes.entry(place.segment).or_default();
        change.messages += messages;
        change.octets += messages * i64::from(place.length);
        change
    }

    /// Writes what has changed.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (segment, Change { messages, octets, last_expiry }) in std::mem::take(&mut self.changes) {
            let before = self.table.get(segment)?.map(|row| SegmentLife::decode(row.value())).unwrap_or_default();
            let now = (
                before.messages.saturating_add_signed(messages),
                before.octets.saturating_add_signed(octets),
                before.last_expiry.max(last_expiry),
            );
            self.table.insert(segment, now)?;
        }
        Ok(())
    }
}
