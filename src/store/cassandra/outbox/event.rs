//! Pending events.
//!
//! ```text
//! pending_webhook     which webhooks may have events     before the event; a node remembers that it wrote it for 30 s
//! event_slot          in which of its slots              likewise
//! event               the event
//! ```
//!
//! The first write of an event has the time of its message's receipt, which is what a sweeper repeats. Each later one, and its
//! end, is later by a microsecond. So no repetition undoes the end of an event.
//!
//! The rows that lead to an event have the cluster's time. A reader that finds nothing where such a row leads deletes it,
//! unless it was written within the last minute. Every event that it leads to was written within half a minute of it or has
//! written it again, as long as clocks differ by less than that.

use std::time::Duration;

use futures_util::future::{try_join, try_join_all};
use futures_util::{StreamExt, TryStreamExt, stream};
use scylla::DeserializeRow;
use uuid::Uuid;

use super::super::message::{Message, to_ttl};
use super::super::rows::EmailRow;
use super::super::state::ClusterState;
use super::{shard_of, webhook::webhook_id};
use crate::model::{EmailId, Listed, PendingEvent, Place, Timestamp, WebhookId};
use crate::store::StoreError;
use crate::store::names::event_id;
use crate::store::outbox_rules::DroppedEvent;

/// The bits of a sequence number below the milliseconds, and the milliseconds of a slot.
///
/// What a reader passes over are the events that have ended since the slot began, and a server refuses to pass over more than
/// 100,000. So a slot is short.
const SLOT: i64 = 60_000 << 21;
/// A node writes a row that leads to events again after this time.
const ENTERED_FOR: Duration = Duration::from_secs(30);
/// The milliseconds after which such a row may be deleted. It is longer than [`ENTERED_FOR`] and the time of a commit.
const KEPT_MILLIS: i64 = 60_000;
/// The webhooks of a shard whose events are read at once.
const WEBHOOKS_AT_ONCE: usize = 8;
/// The slots of a webhook that are read at once.
const SLOTS_AT_ONCE: usize = 16;
/// How long such a row outlives its events, in seconds.
const OUTLIVES_SECONDS: i32 = 120;

/// The columns of [`EventRow`].
pub(super) const EVENT_COLUMNS: &str = "sequence, email, message, attempts, due_at, received_at, expires_at, octets, \
    WRITETIME(due_at) AS written_at, TTL(due_at) AS ttl";

/// A pending event.
#[derive(Clone, Debug, DeserializeRow)]
pub(super) struct EventRow {
    pub(super) sequence: i64,
    pub(super) email: Uuid,
    pub(super) message: Uuid,
    pub(super) attempts: i32,
    pub(super) due_at: i64,
    pub(super) received_at: i64,
    pub(super) expires_at: i64,
    pub(super) octets: i64,
    /// In microseconds.
    pub(super) written_at: i64,
    /// The seconds that are left of its life.
    pub(super) ttl: Option<i32>,
}

/// The events of a webhook, or why they could not be read.
pub(super) type Events = Result<Vec<EventRow>, StoreError>;

/// A row that leads to events.
#[derive(Debug, DeserializeRow)]
struct LeadRow {
    slot: i64,
    entered_at: i64,
    now: i64,
}

#[derive(Debug, DeserializeRow)]
struct PendingRow {
    webhook: Vec<u8>,
    entered_at: i64,
    now: i64,
}

impl EventRow {
    /// The event of an Email, due at once.
    pub(super) fn of(email: &EmailRow, ttl: i32, written_at: i64) -> Self {
        Self {
            sequence: email.sequence,
            email: email.id,
            message: email.message,
            attempts: 0,
            due_at: email.received_at,
            received_at: email.received_at,
            expires_at: email.expires_at,
            octets: email.octets,
            written_at,
            ttl: Some(ttl),
        }
    }

    pub(super) fn email_id(&self) -> EmailId {
        EmailId::from_octets(self.email.into_bytes())
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts.cast_unsigned()
    }

    fn slot(&self) -> i64 {
        slot_of(self.sequence)
    }

    pub(super) fn to_pending(&self, state: &ClusterState, webhook: WebhookId) -> PendingEvent {
        PendingEvent {
            id: event_id(&state.secret, webhook, self.email_id()),
            webhook,
            email: Listed {
                id: self.email_id(),
                sequence: self.sequence.cast_unsigned(),
                received_at: Timestamp::from_millis(self.received_at),
                expires_at: Timestamp::from_millis(self.expires_at),
                size_octets: self.octets.cast_unsigned(),
                place: Place(self.message.into_bytes()),
            },
            attempts: self.attempts(),
            due_at: Timestamp::from_millis(self.due_at),
        }
    }

    pub(super) fn to_dropped(&self, state: &ClusterState, webhook: WebhookId) -> DroppedEvent {
        let email = self.email_id();
        let id = event_id(&state.secret, webhook, email);
        DroppedEvent { webhook, id, email, sequence: self.sequence.cast_unsigned(), attempts: self.attempts() }
    }
}

const fn slot_of(sequence: i64) -> i64 {
    sequence.div_euclid(SLOT)
}

impl ClusterState {
    /// Writes the events of a message. They may be there already, or may have ended.
    pub(in super::super) async fn write_events(&self, rows: &[EmailRow], message: &Message) -> Result<(), StoreError> {
        let ttl = self.ttl_of_raw(message.ttl());
        let writes = message.events.iter().filter_map(|event| Some((rows.get(event.recipient as usize)?, event)));
        let writes = writes.map(async |(row, event)| {
            self.write_event(event.webhook, &EventRow::of(row, ttl, message.written_at)).await
        });
        try_join_all(writes).await.map(drop)
    }

    /// Writes an event with the time and the life that it has.
    pub(super) async fn write_event(&self, webhook: WebhookId, event: &EventRow) -> Result<(), StoreError> {
        let ttl = event.ttl.unwrap_or(1).max(1);
        self.enter(webhook, event.slot(), ttl).await?;
        let id = webhook.octets();
        let EventRow {
            sequence, email, message, attempts, due_at, received_at, expires_at, octets, written_at, ..
        } = event;
        let values = (
            &id[..],
            event.slot(),
            sequence,
            email,
            message,
            attempts,
            due_at,
            received_at,
            expires_at,
            octets,
            ttl,
            written_at,
        );
        self.cluster.run(&self.outbox.statements.event_insert, values).await
    }

    /// Ends an event, at a time in microseconds.
    pub(super) async fn delete_event(&self, webhook: WebhookId, event: &EventRow, at: i64) -> Result<(), StoreError> {
        let values = (at, &webhook.octets()[..], event.slot(), event.sequence, event.email);
        self.cluster.run(&self.outbox.statements.event_delete, values).await
    }

    pub(super) async fn find_event(
        &self,
        webhook: WebhookId,
        sequence: u64,
        email: EmailId,
    ) -> Result<Option<EventRow>, StoreError> {
        let (sequence, email) = (sequence.cast_signed(), Uuid::from_bytes(email.octets()));
        let values = (&webhook.octets()[..], slot_of(sequence), sequence, email);
        self.cluster.first(&self.outbox.statements.event_select, values).await
    }

    /// The pending events of a webhook, in the order of their sequence numbers.
    pub(super) async fn events_of(&self, webhook: WebhookId) -> Result<Vec<EventRow>, StoreError> {
        Ok(self.read_events(webhook).await?.unwrap_or_default())
    }

    /// The same; `None` if no row leads to any.
    async fn read_events(&self, webhook: WebhookId) -> Result<Option<Vec<EventRow>>, StoreError> {
        let id = webhook.octets();
        let mut leads = self.cluster.all::<LeadRow>(&self.outbox.statements.slot_select, (&id[..],)).await?;
        if leads.is_empty() {
            return Ok(None);
        }
        leads.sort_unstable_by_key(|lead| lead.slot);
        let slots = stream::iter(leads).map(async |lead| {
            let values = (&id[..], lead.slot);
            let events = self.cluster.all::<EventRow>(&self.outbox.statements.event_slot_select, values).await?;
            if events.is_empty() && is_old(lead.entered_at, lead.now) {
                let values = (lead.entered_at, &id[..], lead.slot);
                self.cluster.run(&self.outbox.statements.slot_delete, values).await?;
            }
            Ok::<_, StoreError>(events)
        });
        let slots: Vec<_> = slots.buffered(SLOTS_AT_ONCE).try_collect().await?;
        Ok(Some(slots.into_iter().flatten().collect()))
    }

    /// The webhooks of a shard that may have pending events, each with its events or with why they could not be read.
    pub(super) async fn pending_of_shard(&self, shard: i8) -> Result<Vec<(WebhookId, Events)>, StoreError> {
        let rows = self.cluster.all::<PendingRow>(&self.outbox.statements.pending_select, (shard,)).await?;
        let webhooks = stream::iter(rows).map(async |row| {
            let webhook = webhook_id(&row.webhook);
            let events = self.read_events(webhook).await;
            if matches!(events, Ok(None)) && is_old(row.entered_at, row.now) {
                let values = (row.entered_at, shard, row.webhook);
                self.cluster.run(&self.outbox.statements.pending_delete, values).await?;
            }
            Ok::<_, StoreError>((webhook, events.map(Option::unwrap_or_default)))
        });
        let mut pending: Vec<_> = webhooks.buffer_unordered(WEBHOOKS_AT_ONCE).try_collect().await?;
        pending.retain(|(_, events)| events.as_ref().map_or(true, |events| !events.is_empty()));
        Ok(pending)
    }

    /// Enters a slot of a webhook where readers look for events.
    async fn enter(&self, webhook: WebhookId, slot: i64, ttl: i32) -> Result<(), StoreError> {
        if self.outbox.was_entered(webhook, slot, ENTERED_FOR) {
            return Ok(());
        }
        let begun = tokio::time::Instant::now();
        let (id, ttl) = (webhook.octets(), to_ttl(i64::from(ttl.saturating_add(OUTLIVES_SECONDS))));
        try_join(
            self.cluster.run(&self.outbox.statements.slot_insert, (&id[..], slot, ttl)),
            self.cluster.run(&self.outbox.statements.pending_insert, (shard_of(webhook), &id[..], ttl)),
        )
        .await?;
        self.outbox.entered(webhook, slot, begun);
        Ok(())
    }
}

/// Whether a row was written, at a time in microseconds, so long ago that nobody relies on it.
const fn is_old(entered_at: i64, now_millis: i64) -> bool {
    entered_at / 1000 < now_millis - KEPT_MILLIS
}
