//! How many Emails and events share a record while a group is applied: each row is read once and written once, however many
//! of them the group begins or ends.

use std::collections::BTreeMap;

use redb::{ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::apply::Removal;
use super::tables::{SHARE_DELETED, SHARED};

/// A record: segment and offset.
type Record = (u64, u32);

/// The table of shares, open for writing, and what the group has seen of it.
pub(super) struct Shares<'t> {
    table: Table<'t, Record, u32>,
    seen: BTreeMap<Record, Seen>,
}

struct Seen {
    /// `None` if there is no row: one Email or event has the record, or none.
    now: Option<u32>,
    /// What the table holds.
    kept: Option<u32>,
}

impl<'t> Shares<'t> {
    /// Opens the table, making it if it is missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self { table: transaction.open_table(SHARED)?, seen: BTreeMap::new() })
    }

    fn row(&mut self, record: Record) -> Result<&mut Option<u32>, IndexError> {
        if !self.seen.contains_key(&record) {
            let kept = self.table.get(record)?.map(|row| row.value());
            self.seen.insert(record, Seen { now: kept, kept });
        }
        Ok(&mut self.seen.entry(record).or_insert(Seen { now: None, kept: None }).now)
    }

    /// Begins with so many, more than one, for a record that is new.
    pub(super) fn begin(&mut self, record: Record, shares: u32) -> Result<(), IndexError> {
        *self.row(record)? = Some(shares);
        Ok(())
    }

    /// Adds one.
    pub(super) fn add(&mut self, record: Record) -> Result<(), IndexError> {
        let shares = self.row(record)?;
        *shares = Some(shares.unwrap_or(1) + 1);
        Ok(())
    }

    /// Takes one away by `removal`; how far that of the record goes, `None` if others are left. What one of several deleted
    /// is remembered until the last one goes.
    pub(super) fn release(&mut self, record: Record, removal: Removal) -> Result<Option<Removal>, IndexError> {
        let row = self.row(record)?;
        let (shares, was_deleted) = row.map_or((0, 0), |row| (row & !SHARE_DELETED, row & SHARE_DELETED));
        let deleted = if removal == Removal::Expire { was_deleted } else { SHARE_DELETED };
        *row = (shares > 1).then(|| (shares - 1) | deleted);
        let end = if deleted == 0 { Removal::Expire } else { Removal::Delete };
        Ok(row.is_none().then_some(end))
    }

    /// Writes what has changed.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        for (record, Seen { now, kept }) in std::mem::take(&mut self.seen) {
            match now {
                Some(shares) if now != kept => drop(self.table.insert(record, shares)?),
                None if kept.is_some() => drop(self.table.remove(record)?),
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}
