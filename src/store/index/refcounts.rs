//! Reference counts of records: how many Emails and events refer to each.
//!
//! While a group is applied, each row is read once and written once, however many references the group adds or removes.

use std::collections::BTreeMap;

use redb::{ReadableTable, WriteTransaction};

use super::IndexError;
use super::apply::Removal;
use super::lazy_table::LazyTable;
use super::tables::{REFCOUNT_DELETED, REFCOUNTS};

/// A record: segment and offset.
type RecordKey = (u64, u32);

/// A row of [`REFCOUNTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RefCount {
    pub(super) references: u32,
    /// Whether somebody deleted an Email of the record.
    pub(super) was_deleted: bool,
    /// The sequence number of the first recipient's Email.
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

/// The table of reference counts, open for writing, with the rows that the group has used.
pub(super) struct RefCounts<'t> {
    table: LazyTable<'t, RecordKey, (u32, u64)>,
    rows: BTreeMap<RecordKey, Row>,
}

struct Row {
    /// The current row. `None` if there is none: the record has one reference, or none.
    current: Option<RefCount>,
    /// The row in the table.
    stored: Option<RefCount>,
}

impl<'t> RefCounts<'t> {
    /// The table, which is opened when it is used.
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self { table: LazyTable::new(transaction, REFCOUNTS), rows: BTreeMap::new() }
    }

    fn row(&mut self, record: RecordKey) -> Result<&mut Option<RefCount>, IndexError> {
        if !self.rows.contains_key(&record) {
            let stored = self.table.get()?.get(record)?.map(|row| RefCount::decode(row.value()));
            self.rows.insert(record, Row { current: stored, stored });
        }
        Ok(&mut self.rows.entry(record).or_insert(Row { current: None, stored: None }).current)
    }

    /// Finds the reference count of a record. `None` if it has none.
    pub(super) fn get(&mut self, record: RecordKey) -> Result<Option<RefCount>, IndexError> {
        Ok(*self.row(record)?)
    }

    /// Adds the reference count of a new record with several recipients.
    pub(super) fn begin(&mut self, record: RecordKey, refcount: RefCount) -> Result<(), IndexError> {
        *self.row(record)? = Some(refcount);
        Ok(())
    }

    /// Adds a reference to the record of the Email with this sequence number.
    pub(super) fn add(&mut self, record: RecordKey, sequence: u64) -> Result<(), IndexError> {
        let row = self.row(record)?;
        // A record without a row has one recipient.
        let one = RefCount { references: 1, was_deleted: false, sequence };
        let refcount = row.get_or_insert(one);
        refcount.references += 1;
        Ok(())
    }

    /// Removes a reference. Returns how the record is to be removed, `None` if it has other references.
    ///
    /// A deletion is remembered until the last reference is removed.
    pub(super) fn release(&mut self, record: RecordKey, removal: Removal) -> Result<Option<Removal>, IndexError> {
        let row = self.row(record)?;
        let was_deleted = removal != Removal::Expire || row.is_some_and(|refcount| refcount.was_deleted);
        *row =
            row.filter(|it| it.references > 1).map(|it| RefCount { references: it.references - 1, was_deleted, ..it });
        let end = if was_deleted { Removal::Delete } else { Removal::Expire };
        Ok(row.is_none().then_some(end))
    }

    /// Moves the references of a record to its copy.
    pub(super) fn relocate(&mut self, from: RecordKey, to: RecordKey) -> Result<(), IndexError> {
        let refcount = self.row(from)?.take();
        *self.row(to)? = refcount;
        Ok(())
    }

    /// Writes the changed rows.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (record, Row { current, stored }) in std::mem::take(&mut self.rows) {
            match current {
                Some(refcount) if current != stored => drop(self.table.get_mut()?.insert(record, refcount.encode())?),
                None if stored.is_some() => drop(self.table.get_mut()?.remove(record)?),
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}
