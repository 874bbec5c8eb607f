//! The rows of pending events.
//!
//! A row is written at a time that follows from when the event is due and from its attempts, and is deleted at the same time.
//! So nothing that repeats a write brings an event back.

use std::cmp::Reverse;
use std::future::Future;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::super::Shared;
use super::super::log::Received;
use super::super::receive::{OUTLIVES_SECONDS, to_ttl};
use super::super::registry::StoredWebhook;
use super::key_of;
use crate::model::{EmailId, Listed, PendingEvent, Place, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::names::event_id;

/// Statements that one change of many rows has under way, and webhooks that are read at once.
pub(super) const AT_ONCE: usize = 32;
/// The attempts of an event that are told apart at one time.
const ATTEMPTS_MAX: u32 = 999;

/// What a row has beside its key: the Email's sequence, place, octets and times, and the attempts so far.
type Record = (u64, [u8; 16], u64, Timestamp, Timestamp, u32);

/// Waits for all of some writes.
pub(super) async fn all<F>(writes: impl Iterator<Item = F>) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let writes: Vec<F> = writes.collect();
    stream::iter(writes).buffer_unordered(AT_ONCE).try_collect::<()>().await
}

/// The time of the write and of the deletion of an event's row, in microseconds. A later attempt at one time has a later one.
pub(super) fn row_micros(event: &PendingEvent) -> i64 {
    event.due_at.millis().saturating_mul(1000).saturating_add(i64::from(event.attempts.min(ATTEMPTS_MAX)))
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

    /// The events that a message begins.
    pub(super) fn begun_by(&self, received: &Received) -> Vec<PendingEvent> {
        let Received { message, octets, at: received_at, expires_at, ref emails, ref events } = *received;
        let begun = events.iter().filter_map(|(nth, webhook)| {
            let (id, sequence, ..) = *emails.get(usize::from(*nth))?;
            let (size_octets, place) = (u64::from(octets), message.place(u64::from(octets)));
            let email = Listed { id, sequence, received_at, expires_at, size_octets, place };
            Some(self.new_event(*webhook, email, received_at))
        });
        begun.collect()
    }

    /// Writes the events that a message begins, before it is shown. It may have been done before.
    pub(in super::super) async fn write_events(&self, received: &Received) -> Result<(), StoreError> {
        all(self.begun_by(received).iter().map(|event| self.write_event(event))).await
    }

    /// Adds an event of a backup. It may be there already.
    pub(in super::super) async fn insert_event(
        &self,
        webhook: WebhookId,
        email: Listed,
        attempts: u32,
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write_event(&PendingEvent { attempts, ..self.new_event(webhook, email, due_at) }).await
    }

    /// Writes the row of an event. It lives as long as its message at least.
    pub(super) async fn write_event(&self, event: &PendingEvent) -> Result<(), StoreError> {
        let PendingEvent { webhook, ref email, attempts, due_at, .. } = *event;
        let life = email.expires_at.since(email.received_at).saturating_add(self.grace).as_secs();
        let ttl = to_ttl(OUTLIVES_SECONDS.saturating_add_unsigned(life) + 1);
        let Listed { id, sequence, received_at, expires_at, size_octets, place } = *email;
        let record: Record = (sequence, place.0, size_octets, received_at, expires_at, attempts);
        let record = postcard::to_stdvec(&record).map_err(|error| StoreError::Failed(error.to_string()))?;
        let (webhook, id) = (webhook.octets(), id.octets());
        let values = (&webhook[..], due_at.millis(), &id[..], record, ttl, row_micros(event));
        self.session.run(&self.statements.event_insert, values).await
    }

    /// Deletes the row of an event.
    pub(super) async fn delete_event(&self, event: &PendingEvent) -> Result<(), StoreError> {
        let (webhook, id) = (event.webhook.octets(), event.email.id.octets());
        let values = (row_micros(event), &webhook[..], event.due_at.millis(), &id[..]);
        self.session.run(&self.statements.event_delete, values).await
    }

    /// Deletes the rows of events.
    pub(super) async fn delete_events(&self, events: &[PendingEvent]) -> Result<(), StoreError> {
        all(events.iter().map(|event| self.delete_event(event))).await
    }

    /// The events of a webhook in the table.
    async fn rows_of(&self, webhook: &StoredWebhook) -> Result<Vec<PendingEvent>, StoreError> {
        let id = webhook.record.id;
        // What is known must be read as well, though the clock that `low` comes from was wrong.
        let low = self.events_of(id).iter().map(|event| event.due_at.millis()).fold(webhook.low, i64::min);
        let values = (&id.octets()[..], low);
        let rows = self.session.all::<(i64, Vec<u8>, Vec<u8>)>(&self.statements.event_select, values).await?;
        let events = rows.into_iter().map(|(due, email, record)| {
            let (sequence, place, size_octets, received_at, expires_at, attempts) =
                postcard::from_bytes::<Record>(&record)
                    .map_err(|error| StoreError::Failed(format!("an event of webhook {id} is damaged: {error}")))?;
            let email = EmailId::from_octets(email[..].try_into().unwrap_or_default());
            let email = Listed { id: email, sequence, received_at, expires_at, size_octets, place: Place(place) };
            Ok(PendingEvent { attempts, ..self.new_event(id, email, Timestamp::from_millis(due)) })
        });
        events.collect()
    }

    /// Reads the events of webhooks, in the order of webhooks and Emails, and those rows that a change of them has left.
    pub(super) async fn read_events(
        &self,
        webhooks: &[StoredWebhook],
    ) -> Result<(Vec<PendingEvent>, Vec<PendingEvent>), StoreError> {
        let reads: Vec<_> = webhooks.iter().map(|webhook| self.rows_of(webhook)).collect();
        let rows: Vec<Vec<PendingEvent>> = stream::iter(reads).buffer_unordered(AT_ONCE).try_collect().await?;
        let mut events = rows.concat();
        // A change of an event writes its new row before it deletes the old one.
        events.sort_unstable_by_key(|event| (key_of(event), event.id, Reverse((event.attempts, event.due_at))));
        let mut left = Vec::new();
        events.dedup_by(|event, last| {
            let is_left = event.id == last.id;
            if is_left {
                left.push(event.clone());
            }
            is_left
        });
        Ok((events, left))
    }
}
