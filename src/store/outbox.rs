//! The outbox: pending events of webhooks, behind one trait.
//!
//! The change that receives a message also creates its events, so that both are durable together.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::StoreError;
use crate::model::{AttemptRecord, EventId, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookRecord};

/// Which ended events of a webhook to send again.
///
/// Only events in the delivery log whose Email still exists can be sent again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Replay {
    /// This event.
    Event(EventId),
    /// Events whose last attempt failed: they were given up, or ended when their webhook was disabled.
    Failed,
    /// Events with an attempt at this time or later.
    Since(Timestamp),
}

/// The result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Events that are pending again.
    pub replayed: usize,
    /// Events that did not fit into the outbox. They can be replayed later.
    pub no_room: usize,
}

/// The most events of a webhook without a delivery.
const UNPROVEN_EVENTS_MAX: u32 = 20;
/// The most octets of their messages, unless there is only one event.
const UNPROVEN_OCTETS_MAX: u64 = 1 << 20;
/// The last of so many parts of the outbox is for receivers that answer.
const PROVEN_PART: u64 = 4;

/// How much may be pending for webhooks.
///
/// A webhook beyond its own limits drops its oldest events. Of the octets of all events, a client that registers webhooks has
/// at most a sixteenth and its network a quarter, and the last quarter takes no events of webhooks without a delivery: beyond
/// these shares and beyond all octets, the new event is dropped. The administrator's webhooks have no share of a client or
/// network. The delivery log of a webhook records each dropped event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OutboxLimits {
    /// Events of one webhook. With 0 no event is created.
    pub events_per_webhook: u32,
    /// Octets of the messages of one webhook's events.
    pub octets_per_webhook: u64,
    /// Octets of the messages of all events.
    pub octets: u64,
}

impl OutboxLimits {
    /// No limits: for events that fitted into the outbox of another store.
    pub(super) const UNBOUNDED: Self =
        Self { events_per_webhook: u32::MAX, octets_per_webhook: u64::MAX, octets: u64::MAX };

    /// The limits of one proven or unproven webhook; its octets are those up to which all events together leave it room.
    pub(super) fn of(self, is_proven: bool) -> Self {
        if is_proven || self == Self::UNBOUNDED {
            return self;
        }
        Self {
            events_per_webhook: self.events_per_webhook.min(UNPROVEN_EVENTS_MAX),
            octets_per_webhook: self.octets_per_webhook.min(UNPROVEN_OCTETS_MAX),
            octets: self.octets - self.octets / PROVEN_PART,
        }
    }
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self { events_per_webhook: 1_000, octets_per_webhook: 64 << 20, octets: 1 << 30 }
    }
}

/// Which pending events of a webhook to read.
#[derive(Clone, Debug)]
pub struct DueQuery {
    /// Read retries that are due at this time or before, and every event without an attempt.
    pub due_by: Timestamp,
    /// Read retries that are due after this time, too. No retry is scheduled so far ahead, so the clock was set back.
    pub due_after: Timestamp,
    /// Leave these events out, by the sequence of their Emails.
    pub without: HashSet<u64>,
    /// The most events to read.
    pub limit: usize,
}

/// A webhook and its due events, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueEvents {
    /// The webhook.
    pub webhook: WebhookRecord,
    /// In the order in which they became due.
    pub events: Vec<PendingEvent>,
    /// When the next event becomes due that is not due yet.
    pub next_due_at: Option<Timestamp>,
    /// The webhook gets no request before this time, because its receiver asked for that. Later than [`DueQuery::due_by`].
    pub backs_off_until: Option<Timestamp>,
}

/// The most attempts that one call records.
///
/// Their records, each with a kilobyte of a response, must fit where the smallest message fits.
pub const ATTEMPTS_PER_RECORD: usize = 32;

/// The operations on the events of webhooks.
///
/// Every method can return any error of [`StoreError`].
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Lists the webhooks with pending events, each with the time of its next attempt.
    ///
    /// The time is `None` if an event had no attempt yet: such an event is due whatever the clock says.
    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError>;

    /// Reads a webhook and its due events. `None` if there is no such webhook, or it is disabled.
    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError>;

    /// Loads the Email of an event, even if it was deleted or has expired. `None` once the event has ended: with its last
    /// attempt, with its webhook, when the webhook is disabled, and when it is dropped. That is looked at last.
    ///
    /// May block the calling thread while it reads the disk.
    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError>;

    /// Records attempts, all or none, at most [`ATTEMPTS_PER_RECORD`].
    ///
    /// Each attempt goes into the delivery log and into the record of its webhook. Its event ends or is due again. An
    /// attempt of an event or webhook that is gone changes nothing.
    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError>;

    /// Records one attempt.
    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<(), StoreError> {
        self.record_attempts(vec![attempt]).await
    }

    /// Ends events that nobody will deliver, and returns how many.
    ///
    /// These are events of disabled webhooks, and events whose Email expired before `expired_by`. A webhook's events end
    /// when it is disabled, but a crash may leave some.
    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError>;

    /// Makes ended events due again at `now`, and the webhook active if there are any.
    ///
    /// The oldest mail comes first. An event that does not fit into the outbox is skipped: no event is dropped for it.
    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError>;

    /// A hint that there are new events. It may be lost.
    fn outbox_hint(&self) -> Arc<Notify>;
}
