//! The rows of pending events.
//!
//! A row is written at its `written`, and what replaces or ends it is a microsecond later. So nothing that repeats a write
//! brings an event back.

use std::cmp::Reverse;
use std::future::Future;

use futures_util::{StreamExt, TryStreamExt, stream};
use scylla::DeserializeRow;

use super::super::Shared;
use super::super::log::Received;
use super::super::message::MessageId;
use super::super::receive::{OUTLIVES_SECONDS, to_ttl};
use crate::model::{EmailId, Listed, PendingEvent, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::names::event_id;

/// Statements that one change of many rows has under way, and webhooks that are read at once.
pub(super) const AT_ONCE: usize = 32;

/// An event in the table.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) event: PendingEvent,
    /// The time of its row's write, in microseconds.
    pub(super) written: i64,
}

#[derive(DeserializeRow)]
struct EventRow {
    due: i64,
    email: Vec<u8>,
    sequence: i64,
    message: Vec<u8>,
    attempts: i32,
    received_at: i64,
    expires_at: i64,
    octets: i64,
    written: i64,
}

/// Waits for all of some writes.
pub(super) async fn all<F>(writes: impl Iterator<Item = F>) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let writes: Vec<F> = writes.collect();
    stream::iter(writes).buffer_unordered(AT_ONCE).try_collect::<()>().await
}

impl Shared {
    /// Whether mail begins events.
    pub(in super::super) fn begins_events(&self) -> bool {
        self.options.outbox.events_per_webhook > 0
    }

    /// An event about an Email that had no attempt.
    pub(super) fn new_event(&self, webhook: WebhookId, email: Listed, due_at: Timestamp) -> PendingEvent {
        PendingEvent { id: event_id(&self.secret, webhook, email.id), webhook, email, attempts: 0, due_at }
    }

    /// The events that a message begins, as they are written.
    pub(super) fn begun_by(&self, received: &Received) -> Vec<Stored> {
        let Received { message, octets, at: received_at, expires_at, ref emails, ref events } = *received;
        let begun = events.iter().filter_map(|(nth, webhook)| {
            let (id, sequence, ..) = *emails.get(usize::from(*nth))?;
            let (size_octets, place) = (u64::from(octets), message.place(u64::from(octets)));
            let email = Listed { id, sequence, received_at, expires_at, size_octets, place };
            let event = self.new_event(*webhook, email, received_at);
            Some(Stored { event, written: received_at.millis().saturating_mul(1000) })
        });
        begun.collect()
    }

    /// Writes the events that a message begins, before it is shown. It may have been done before.
    pub(in super::super) async fn write_events(&self, received: &Received, ttl: i32) -> Result<(), StoreError> {
        let begun = self.begun_by(received);
        all(begun.iter().map(|begun| self.write_event(&begun.event, begun.written, ttl))).await
    }

    /// Adds an event of a backup. It may be there already.
    pub(in super::super) async fn insert_event(
        &self,
        webhook: WebhookId,
        email: &Listed,
        attempts: u32,
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        let event = PendingEvent { attempts, ..self.new_event(webhook, email.clone(), due_at) };
        let written = email.received_at.millis().saturating_mul(1000).saturating_add(i64::from(attempts));
        self.write_event(&event, written, self.event_ttl(email)).await
    }

    /// How long the row of an event lives, in seconds: as long as its message at least.
    pub(super) fn event_ttl(&self, email: &Listed) -> i32 {
        let life = email.expires_at.since(email.received_at).saturating_add(self.grace).as_secs();
        to_ttl(OUTLIVES_SECONDS.saturating_add_unsigned(life) + 1)
    }

    pub(super) async fn write_event(&self, event: &PendingEvent, written: i64, ttl: i32) -> Result<(), StoreError> {
        let PendingEvent { webhook, email, attempts, due_at, .. } = event;
        let (webhook, id, message) = (webhook.octets(), email.id.octets(), MessageId::of_place(email.place));
        let (sequence, attempts) = (email.sequence.cast_signed(), attempts.cast_signed());
        let (received_at, expires_at) = (email.received_at.millis(), email.expires_at.millis());
        let (key, octets) = ((&webhook[..], due_at.millis(), &id[..]), email.size_octets.cast_signed());
        let row = (key.0, key.1, key.2, sequence, message.octets(), attempts, received_at, expires_at, octets, written);
        let values = (row.0, row.1, row.2, row.3, row.4, row.5, row.6, row.7, row.8, row.9, ttl, written);
        self.session.run(&self.statements.event_insert, values).await
    }

    /// Deletes the row of an event that was written at `at` or before.
    pub(super) async fn delete_event(&self, event: &PendingEvent, at: i64) -> Result<(), StoreError> {
        let (webhook, id) = (event.webhook.octets(), event.email.id.octets());
        let values = (at, &webhook[..], event.due_at.millis(), &id[..]);
        self.session.run(&self.statements.event_delete, values).await
    }

    /// Ends events in the table.
    pub(super) async fn end_rows(&self, events: &[Stored]) -> Result<(), StoreError> {
        all(events.iter().map(|ended| self.delete_event(&ended.event, ended.written.saturating_add(1)))).await
    }

    /// The events of a webhook in the table that are due at `low` or later, the first written first.
    pub(super) async fn rows_of(&self, webhook: WebhookId, low: i64) -> Result<Vec<Stored>, StoreError> {
        let values = (&webhook.octets()[..], low);
        let mut rows = self.session.all::<EventRow>(&self.statements.event_select, values).await?;
        rows.sort_by_key(|row| row.written);
        let stored = rows.into_iter().map(|row| {
            let octets = row.octets.cast_unsigned();
            let email = Listed {
                id: EmailId::from_octets(row.email[..].try_into().unwrap_or_default()),
                sequence: row.sequence.cast_unsigned(),
                received_at: Timestamp::from_millis(row.received_at),
                expires_at: Timestamp::from_millis(row.expires_at),
                size_octets: octets,
                place: MessageId::from_column(&row.message).place(octets),
            };
            let event = self.new_event(webhook, email, Timestamp::from_millis(row.due));
            Stored { event: PendingEvent { attempts: row.attempts.cast_unsigned(), ..event }, written: row.written }
        });
        Ok(stored.collect())
    }

    /// All events in the table, in the order of webhooks and Emails.
    pub(super) async fn all_events(&self) -> Result<Vec<PendingEvent>, StoreError> {
        let webhooks = self.stored_webhooks().await?;
        let reads = webhooks.iter().map(|webhook| self.rows_of(webhook.record.id, webhook.low)).collect::<Vec<_>>();
        let rows: Vec<Vec<Stored>> = stream::iter(reads).buffer_unordered(AT_ONCE).try_collect().await?;
        let mut rows = rows.concat();
        // A change of an event writes its new row before it deletes the old one.
        let key = |stored: &Stored| (stored.event.webhook, stored.event.email.sequence);
        rows.sort_unstable_by_key(|stored| (key(stored), Reverse(stored.written)));
        rows.dedup_by_key(|stored| key(stored));
        Ok(rows.into_iter().map(|stored| stored.event).collect())
    }
}
