//! The outbox's rows: events that nobody was told of yet, in the order of their mail, and those that are tried again, in the
//! order of time as well.
//!
//! Nearly every event is told at the first attempt, and such a one costs one row put in and taken out.

use redb::{ReadTransaction, ReadableTable, Table, WriteTransaction};

use super::IndexError;
use super::keys::{WebhookKey, due_key, sequence_of, webhook_in, webhook_key};
use super::rows::EventRow;
use super::rows::decode_event;
use super::tables::{DUE, FRESH_EVENTS, TRIED_EVENTS};
use crate::model::{EmailId, WebhookId};

/// The tables of events, open for writing.
pub(super) struct Events<'t> {
    fresh: Table<'t, &'static WebhookKey, &'static [u8]>,
    tried: Table<'t, &'static WebhookKey, &'static [u8]>,
    due: Table<'t, &'static [u8; 32], ()>,
}

impl<'t> Events<'t> {
    /// Opens the tables, making those that are missing.
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, IndexError> {
        Ok(Self {
            fresh: transaction.open_table(FRESH_EVENTS)?,
            tried: transaction.open_table(TRIED_EVENTS)?,
            due: transaction.open_table(DUE)?,
        })
    }

    pub(super) fn get(&self, webhook: WebhookId, sequence: u64) -> Result<Option<EventRow>, IndexError> {
        event_in(self.tables(), &webhook_key(webhook, sequence))
    }

    /// Those of events that were not tried and of those that were.
    pub(super) fn tables(&self) -> [&Table<'t, &'static WebhookKey, &'static [u8]>; 2] {
        [&self.fresh, &self.tried]
    }

    /// There is none for this webhook with this sequence.
    pub(super) fn put(&mut self, webhook: WebhookId, sequence: u64, event: &EventRow) -> Result<(), IndexError> {
        self.write(&webhook_key(webhook, sequence), event)?;
        if !event.is_fresh() {
            self.due.insert(&due_key(webhook, event.due_at, sequence), ())?;
        }
        Ok(())
    }

    /// Writes the row of an event that was or was not tried, as before, and is due when it was.
    pub(super) fn write(&mut self, key: &WebhookKey, event: &EventRow) -> Result<(), IndexError> {
        let value = postcard::to_stdvec(event).map_err(|_| IndexError::Corrupt("an event can't be written"))?;
        let table = if event.is_fresh() { &mut self.fresh } else { &mut self.tried };
        table.insert(key, &value[..])?;
        Ok(())
    }

    /// Takes out the event that tells of `email`, if that is the one with this sequence.
    pub(super) fn take(
        &mut self,
        webhook: WebhookId,
        sequence: u64,
        email: EmailId,
    ) -> Result<Option<EventRow>, IndexError> {
        let key = webhook_key(webhook, sequence);
        let mut row = self.fresh.remove(&key)?.map(|row| decode_event(row.value())).transpose()?;
        if row.is_none() {
            row = self.tried.remove(&key)?.map(|row| decode_event(row.value())).transpose()?;
            if let Some(event) = &row {
                self.due.remove(&due_key(webhook, event.due_at, sequence))?;
            }
        }
        let Some(event) = row else { return Ok(None) };
        if event.email != email {
            // In a store that was made of another's journal the number may be another Email's.
            self.put(webhook, sequence, &event)?;
            return Ok(None);
        }
        Ok(Some(event))
    }

    /// The event that waits longest.
    pub(super) fn oldest(&self, webhook: WebhookId) -> Result<Option<(u64, EventRow)>, IndexError> {
        let (first, last) = (webhook_key(webhook, 0), webhook_key(webhook, u64::MAX));
        let mut oldest: Option<(u64, EventRow)> = None;
        for table in self.tables() {
            if let Some(row) = table.range::<&WebhookKey>(&first..=&last)?.next() {
                let (key, row) = row?;
                let sequence = sequence_of(key.value());
                if oldest.as_ref().is_none_or(|(known, _)| sequence < *known) {
                    oldest = Some((sequence, decode_event(row.value())?));
                }
            }
        }
        Ok(oldest)
    }
}

/// The event with this key in the table of those that were not tried or in that of those that were.
pub(super) fn event_in<T>(tables: [&T; 2], key: &WebhookKey) -> Result<Option<EventRow>, IndexError>
where
    T: ReadableTable<&'static WebhookKey, &'static [u8]>,
{
    for table in tables {
        if let Some(row) = table.get(key)? {
            return Ok(Some(decode_event(row.value())?));
        }
    }
    Ok(None)
}

/// Every event, as it was when the transaction began, those that were not tried first: webhook, sequence and row.
pub(super) fn all_events(
    transaction: &ReadTransaction,
) -> Result<impl Iterator<Item = Result<(WebhookId, u64, EventRow), IndexError>> + use<>, IndexError> {
    let (fresh, tried) = (transaction.open_table(FRESH_EVENTS)?, transaction.open_table(TRIED_EVENTS)?);
    let rows = fresh.range::<&WebhookKey>(..)?.chain(tried.range::<&WebhookKey>(..)?);
    Ok(rows.map(|row| {
        let (key, row) = row?;
        Ok((webhook_in(key.value()), sequence_of(key.value()), decode_event(row.value())?))
    }))
}
