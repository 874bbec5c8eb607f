//! The mailboxes that were opened. A change reaches memory first, and the file with the next flush.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use super::EmbeddedRegistry;
use super::row::{Row, Table};
use crate::model::{Mailbox, Timestamp};
use crate::store::StoreError;
use crate::store::names::mailbox_hash;

/// A mailbox that is open is written again when it would be open for so much longer.
const WRITTEN_EVERY: Duration = Duration::from_hours(1);
/// How many rows are removed together.
const REMOVED_AT_ONCE: usize = 10_000;

/// Until when mailboxes are open, by the hash of the mailbox.
#[derive(Debug, Default)]
pub(super) struct OpenMailboxes(HashMap<[u8; 16], Timestamp>);

impl OpenMailboxes {
    /// Takes over a row of the file.
    pub(super) fn set(&mut self, name: [u8; 16], until: Option<Timestamp>) {
        match until {
            Some(until) => drop(self.0.insert(name, until)),
            None => drop(self.0.remove(&name)),
        }
    }

    /// The rows of some mailboxes, as far as they are open.
    pub(super) fn rows(&self, names: &BTreeSet<[u8; 16]>) -> Result<Vec<Row>, StoreError> {
        let open = names.iter().filter_map(|name| Some((name, self.0.get(name)?)));
        open.map(|(name, until)| Row::put(Table::Opened, name, until)).collect()
    }
}

impl EmbeddedRegistry {
    /// Opens a mailbox until a time, unless `limit` others are open. Durable with the next flush.
    pub(crate) fn open_mailbox(&self, mailbox: &Mailbox, until: Timestamp, limit: u64) -> bool {
        let name = mailbox_hash(&self.secret, mailbox);
        let mut memory = self.memory_mut();
        match memory.opened.0.get(&name) {
            Some(known) if until.since(*known) < WRITTEN_EVERY => return true,
            None if memory.opened.0.len() as u64 >= limit => return false,
            _ => {}
        }
        memory.opened.set(name, Some(until));
        memory.unwritten.opened.insert(name);
        true
    }

    /// Whether a mailbox is open at `now`.
    pub(crate) fn is_mailbox_open(&self, mailbox: &Mailbox, now: Timestamp) -> bool {
        self.memory().opened.0.get(&mailbox_hash(&self.secret, mailbox)).is_some_and(|until| now < *until)
    }

    /// Forgets which mailboxes were open before `now`.
    pub(crate) fn close_mailboxes(&self, now: Timestamp) -> Result<(), StoreError> {
        // Nothing is flushed meanwhile, so a mailbox that is opened again gets its row afterwards.
        let mut writer = self.writer()?;
        let closed: Vec<_> = self.memory_mut().opened.0.extract_if(|_, until| *until <= now).collect();
        for some in closed.chunks(REMOVED_AT_ONCE) {
            let rows: Vec<Row> = some.iter().map(|(name, _)| Row::remove(Table::Opened, name)).collect();
            writer.file.write(&rows)?;
        }
        Ok(())
    }
}
