//! Tables that are opened when they are first used. A group of mail uses few of all tables, and each opening costs time.

use std::cell::OnceCell;

use redb::{Key, Table, TableDefinition, Value, WriteTransaction};

use super::IndexError;

/// A table of a redb transaction that may not be open yet.
pub(super) struct LazyTable<'t, K: Key + 'static, V: Value + 'static> {
    transaction: &'t WriteTransaction,
    definition: TableDefinition<'static, K, V>,
    table: OnceCell<Table<'t, K, V>>,
}

impl<'t, K: Key + 'static, V: Value + 'static> LazyTable<'t, K, V> {
    /// A table that is not open yet.
    pub(super) fn new(transaction: &'t WriteTransaction, definition: TableDefinition<'static, K, V>) -> Self {
        Self { transaction, definition, table: OnceCell::new() }
    }

    /// The table for reading.
    pub(super) fn get(&self) -> Result<&Table<'t, K, V>, IndexError> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = self.transaction.open_table(self.definition)?;
        Ok(self.table.get_or_init(|| table))
    }

    /// The table for writing.
    pub(super) fn get_mut(&mut self) -> Result<&mut Table<'t, K, V>, IndexError> {
        self.get()?;
        self.table.get_mut().ok_or(IndexError::Corrupt("a table is not open"))
    }
}
