//! Rows of pending events, and the order in which they are due.
//!
//! Each event has two rows: one with what it is about, by the sequence number of its Email, and one by the time of its next
//! attempt. An event without an attempt is due at once, whatever the clock says, so its time is 0.

use redb::{ReadTransaction, ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::keys::{DueKey, WebhookKey, due_key, sequence_of, webhook_in, webhook_key};
use super::lazy_table::LazyTable;
use super::rows::{EventRow, decode_event};
use super::tables::{DUE, EVENTS};
use crate::model::{EmailId, WebhookId};

/// The tables of events, open for writing.
pub(super) struct Events<'t> {
    events: LazyTable<'t, &'static WebhookKey, &'static [u8]>,
    due: LazyTable<'t, &'static DueKey, ()>,
}

impl<'t> Events<'t> {
    /// The tables, which are opened when they are used.
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self { events: LazyTable::new(transaction, EVENTS), due: LazyTable::new(transaction, DUE) }
    }

    /// Finds the event of a webhook about the Email with this sequence number.
    pub(super) fn get(&self, webhook: WebhookId, sequence: u64) -> Result<Option<EventRow>, IndexError> {
        event_in(self.events.get()?, &webhook_key(webhook, sequence))
    }

    /// The table by webhook and sequence number.
    pub(super) fn table(&self) -> Result<&Table<'t, &'static WebhookKey, &'static [u8]>, IndexError> {
        self.events.get()
    }

    /// Adds an event. The webhook must not have one with this sequence number.
    pub(super) fn put(&mut self, webhook: WebhookId, sequence: u64, event: &EventRow) -> Result<(), IndexError> {
        self.update(&webhook_key(webhook, sequence), event)?;
        self.due.get_mut()?.insert(&due_key(webhook, event, sequence), ())?;
        Ok(())
    }

    /// Replaces the row of an event whose time does not change.
    pub(super) fn update(&mut self, key: &WebhookKey, event: &EventRow) -> Result<(), IndexError> {
        let value = postcard::to_stdvec(event).map_err(|_| IndexError::Corrupt("an event cannot be encoded"))?;
        self.events.get_mut()?.insert(key, &value[..])?;
        Ok(())
    }

    /// Removes the event with this sequence number and returns it, if it is about `email`.
    pub(super) fn take(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        email: EmailId,
    ) -> Result<Option<EventRow>, IndexError> {
        // In a store that was rebuilt from another's journal the number may belong to another Email.
        let Some(event) = self.get(webhook, sequence)?.filter(|event| event.email == email) else { return Ok(None) };
        self.events.get_mut()?.remove(&webhook_key(webhook, sequence))?;
        self.due.get_mut()?.remove(&due_key(webhook, &event, sequence))?;
        Ok(Some(event))
    }

    /// Finds the event of a webhook whose Email came first.
    pub(super) fn oldest(&self, webhook: WebhookId) -> Result<Option<(u64, EventRow)>, IndexError> {
        let (first, last) = (webhook_key(webhook, 0), webhook_key(webhook, u64::MAX));
        let oldest = self.events.get()?.range::<&WebhookKey>(&first..=&last)?.next().transpose()?;
        oldest.map(|(key, row)| Ok((sequence_of(key.value()), decode_event(row.value())?))).transpose()
    }
}

/// Finds the event with this key.
pub(super) fn event_in(
    table: &impl ReadableTable<&'static WebhookKey, &'static [u8]>,
    key: &WebhookKey,
) -> Result<Option<EventRow>, IndexError> {
    table.get(key)?.map(|row| decode_event(row.value())).transpose()
}

/// Reads every event as of the start of the transaction: webhook, sequence number and row.
pub(super) fn all_events(
    transaction: &ReadTransaction,
) -> Result<impl Iterator<Item = Result<(WebhookId, u64, EventRow), IndexError>> + use<>, IndexError> {
    Ok(transaction.open_table(EVENTS)?.range::<&WebhookKey>(..)?.map(|row| {
        let (key, row) = row?;
        Ok((webhook_in(key.value()), sequence_of(key.value()), decode_event(row.value())?))
    }))
}
