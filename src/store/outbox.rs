//! The outbox: webhooks and their pending events, behind one trait.
//!
//! The change that receives a message also creates its events, so that both are durable together.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::StoreError;
use crate::model::{
    AttemptRecord, DomainName, EventId, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookRecord,
};

/// The result of a webhook's registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookRegistration {
    /// The webhook is registered now.
    New,
    /// A webhook with the same mailbox, URL and secret is registered. If it was disabled, it is active again and its
    /// failures are forgotten. Otherwise nothing changed.
    Same(Box<WebhookRecord>),
    /// The mailbox has reached its limit of webhooks. Nothing changed.
    FullForRecipient,
    /// The registrant has reached its limit of webhooks. Nothing changed.
    FullForRegistrant,
    /// The limit of all webhooks is reached. Nothing changed.
    Full,
}

/// Which webhooks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    /// Only webhooks of this origin, as in [`WebhookRecord::origin`].
    pub origin: Option<String>,
    /// Only webhooks of mailboxes of this domain.
    pub domain: Option<DomainName>,
}

impl WebhookFilter {
    pub(super) fn lets_through(&self, webhook: &WebhookRecord) -> bool {
        self.origin.as_ref().is_none_or(|origin| webhook.origin == *origin)
            && self.domain.as_ref().is_none_or(|domain| webhook.mailbox.domain() == domain.as_str())
    }
}

/// One page of the list of all webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookPage {
    /// In the order of their ids.
    pub webhooks: Vec<WebhookRecord>,
    /// The next page begins after this id; `None` on the last page. A page may be empty and still have a next one.
    pub next: Option<WebhookId>,
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The limits of the number of webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WebhookLimits {
    /// The most webhooks of one mailbox.
    pub per_recipient: u32,
    /// The most webhooks of one registrant. The administrator has no such limit.
    pub per_registrant: u32,
    /// The most webhooks in all.
    pub total: u32,
    /// At `total` webhooks, a new one evicts the oldest unproven webhook that was registered before this time.
    pub unproven_before: Timestamp,
}

impl WebhookLimits {
    /// No limits, for webhooks that were accepted before.
    pub const UNBOUNDED: Self = Self {
        per_recipient: u32::MAX,
        per_registrant: u32::MAX,
        total: u32::MAX,
        unproven_before: Timestamp::from_millis(i64::MIN),
    };
}

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
    /// More events are due than the limit permitted to read.
    pub has_more: bool,
    /// When the next event becomes due that is not due yet.
    pub next_due_at: Option<Timestamp>,
    /// The webhook gets no request before this time, because its receiver asked for that. Later than [`DueQuery::due_by`].
    pub backs_off_until: Option<Timestamp>,
}

/// The most attempts that one call records.
///
/// Their records, each with a kilobyte of a response, must fit where the smallest message fits.
pub const ATTEMPTS_PER_RECORD: usize = 32;

/// The operations on webhooks and their events.
///
/// Every method can return any error of [`StoreError`].
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Registers a webhook, unless one with the same mailbox, URL and secret is registered or a limit is reached.
    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError>;

    /// Lists the webhooks of a mailbox, in the order of their registration.
    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError>;

    /// Finds the webhook with this id.
    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError>;

    /// Deletes a webhook with its events and its delivery log, in steps if it has many events. `false` if there is none.
    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError>;

    /// Deletes the webhooks whose mailboxes had no mail since `idle_since`. Returns how many.
    async fn delete_idle_webhooks(&self, idle_since: Timestamp) -> Result<usize, StoreError>;

    /// Deletes evictable webhooks that were registered before `registered_before`. Returns how many.
    async fn delete_unproven_webhooks(&self, registered_before: Timestamp) -> Result<usize, StoreError>;

    /// Deletes the webhooks of an origin. Returns how many.
    async fn delete_webhooks_of_origin(&self, origin: String) -> Result<usize, StoreError>;

    /// Lists the webhooks of all mailboxes that match `filter`, in the order of their ids, after `after`; about `limit`.
    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError>;

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

    /// Reads the last `limit` records of a webhook's delivery log, newest first, without those older than 30 days at `now`.
    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError>;

    /// Makes ended events due again at `now`, and the webhook active if there are any.
    ///
    /// The oldest mail comes first. An event that does not fit into the outbox is skipped: no event is dropped for it.
    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError>;

    /// A hint that there are new events. It may be lost.
    fn outbox_hint(&self) -> Arc<Notify>;
}

/// Which webhooks a sweep deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SweepFilter {
    /// The webhooks of a domain. The registry of a directory removes them itself.
    #[cfg(feature = "cassandra")]
    Domain(DomainName),
    /// The webhooks without mail since this time.
    IdleSince(Timestamp),
    /// The evictable webhooks that were registered before this time.
    UnprovenSince(Timestamp),
    /// The webhooks of an origin.
    Origin(String),
}

impl SweepFilter {
    /// Whether the sweep deletes this webhook.
    pub(crate) fn matches(&self, webhook: &WebhookRecord) -> bool {
        match self {
            #[cfg(feature = "cassandra")]
            Self::Domain(domain) => webhook.mailbox.domain() == domain.as_str(),
            Self::IdleSince(since) => webhook.last_mail_at < *since,
            Self::UnprovenSince(since) => webhook.is_evictable() && webhook.created_at < *since,
            Self::Origin(origin) => webhook.origin == *origin,
        }
    }
}
