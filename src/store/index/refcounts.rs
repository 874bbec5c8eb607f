//! How many Emails and events share a record while a group is applied: each row is read once and written once, however many
//! of them the group begins or ends.

use std::collections::BTreeMap;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::apply::Removal;
use super::tables::{REFCOUNT_DELETED, REFCOUNTS};

/// A record: segment and offset.
type Record = (u64, u32);

/// What [`REFCOUNTS`] has of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RefCount {
    pub(super) references: u32,
    /// Somebody deleted their Email of it.
    pub(super) was_deleted: bool,
    /// The number of its first recipient's Email.
    pub(super) sequence: u64,
}

impl RefCount {
    pub(super) fn decode((references, sequence): (u32, u64)) -> Self {
        Self { references: references & !REFCOUNT_DELETED, was_deleted: references & REFCOUNT_DELETED != 0, sequence }
    }

    fn encode(self) -> (u32, u64) {
        (self.references | if self.was_deleted { REFCOUNT_DELETED } else { 0 }, self.sequence)
    }
}

/// The table of shares, open for writing, and what the group has seen of it.
pub(super) struct RefCounts<'t> {
    table: Table<'t, Record, (u32, u64)>,
    seen: BTreeMap<Record, Seen>,
}

struct Seen {
    /// `None` if there is no row: one Email or event has the record, or none.
    now: Option<RefCount>,
    /// What the table holds.
    kept: Option<RefCount>,
}

impl<'t> RefCounts<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(REFCOUNTS)?, seen: BTreeMap::new() })
    }

    fn row(&mut self, record: Record) -> Result<&mut Option<RefCount>, IndexError> {
        if !self.seen.contains_key(&record) {
            let kept = self.table.get(record)?.map(|row| RefCount::decode(row.value()));
            self.seen.insert(record, Seen { now: kept, kept });
        }
        Ok(&mut self.seen.entry(record).or_insert(Seen { now: None, kept: None }).now)
    }

    /// How a record is shared; `None` if it never was.
    pub(super) fn get(&mut self, record: Record) -> Result<Option<RefCount>, IndexError> {
        Ok(*self.row(record)?)
    }

    /// Begins for a record that is new and has several recipients.
    pub(super) fn begin(&mut self, record: Record, refcount: RefCount) -> Result<(), IndexError> {
        *self.row(record)? = Some(refcount);
        Ok(())
    }

    /// Adds one, to what is about the Email number `sequence`.
    pub(super) fn add(&mut self, record: Record, sequence: u64) -> Result<(), IndexError> {
        let row = self.row(record)?;
        // A record that has no row has one recipient.
        let one = RefCount { references: 1, was_deleted: false, sequence };
        let refcount = row.get_or_insert(one);
        refcount.references += 1;
        Ok(())
    }

    /// Takes one away by `removal`; how far that of the record goes, `None` if others are left. What one of several deleted
    /// is remembered until the last one goes.
    pub(super) fn release(&mut self, record: Record, removal: Removal) -> Result<Option<Removal>, IndexError> {
        let row = self.row(record)?;
        let was_deleted = removal != Removal::Expire || row.is_some_and(|refcount| refcount.was_deleted);
        *row =
            row.filter(|it| it.references > 1).map(|it| RefCount { references: it.references - 1, was_deleted, ..it });
        let end = if was_deleted { Removal::Delete } else { Removal::Expire };
        Ok(row.is_none().then_some(end))
    }

    /// Has those who share a record share its copy instead.
    pub(super) fn relocate(&mut self, from: Record, to: Record) -> Result<(), IndexError> {
        let refcount = self.row(from)?.take();
        *self.row(to)? = refcount;
        Ok(())
    }

    /// Writes what has changed.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (record, Seen { now, kept }) in std::mem::take(&mut self.seen) {
            match now {
                Some(refcount) if now != kept => drop(self.table.insert(record, refcount.encode())?),
                None if kept.is_some() => drop(self.table.remove(record)?),
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}
