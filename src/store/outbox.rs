//! Webhooks and what they have not been told yet, behind one trait.
//!
//! An event is made by the very change that receives its message, so the two are durable together; nothing here is ever
//! handed from one to the other in memory.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::StoreError;
use crate::model::{
    AttemptRecord, DomainName, EventId, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookLimits,
    WebhookRecord,
};

/// What became of a webhook's registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookRegistration {
    /// It was not registered and is now.
    New,
    /// One with the same mailbox, URL and secret is registered. If it was disabled it is active again, with no failures;
    /// else nothing changed.
    Same(Box<WebhookRecord>),
    /// The mailbox has as many as permitted; nothing changed.
    FullForRecipient,
    /// The registrant has as many as permitted; nothing changed.
    FullForRegistrant,
    /// There are as many as permitted in all; nothing changed.
    Full,
}

/// Which webhooks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    /// Those of this origin alone, as in [`WebhookRecord::origin`].
    pub origin: Option<String>,
    /// Those of mailboxes of this domain alone.
    pub domain: Option<DomainName>,
}

impl WebhookFilter {
    pub(super) fn lets_through(&self, webhook: &WebhookRecord) -> bool {
        self.origin.as_ref().is_none_or(|origin| webhook.origin == *origin)
            && self.domain.as_ref().is_none_or(|domain| webhook.mailbox.domain() == domain.as_str())
    }
}

/// Some of all webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookPage {
    /// In the order of their ids.
    pub webhooks: Vec<WebhookRecord>,
    /// Where the next page begins behind; `None` if this is the last one. There may be a next page though this one is empty.
    pub next: Option<WebhookId>,
}

/// Which ended events of a webhook to send again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Replay {
    /// This one.
    Event(EventId),
    /// Those that were not delivered by the last line of each: given up, or tried in vain when their webhook was disabled.
    Failed,
    /// Those that were attempted at this time or later.
    Since(Timestamp),
}

/// What a replay came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Events that wait again.
    pub replayed: usize,
    /// Events that were meant and found no room in the outbox. They are as before and can be replayed later.
    pub no_room: usize,
}

/// The most events of a webhook that never had a delivery.
const UNPROVEN_EVENTS_MAX: u32 = 20;
/// The most octets of their messages, unless it is a single one.
const UNPROVEN_OCTETS_MAX: u64 = 1 << 20;
/// All such webhooks together have this part of the outbox, and the others the rest.
const UNPROVEN_PART: u64 = 8;

/// How much may wait for webhooks. A webhook beyond its own bounds drops its oldest events. Beyond the bound of all, one does
/// of the registrant or origin that holds most; webhooks that never had a delivery have less room, which is theirs alone.
/// The log of whoever drops says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OutboxLimits {
    /// Events of one webhook; 0 where nobody sends any: then none begins.
    pub events_per_webhook: u32,
    /// Octets of the messages of one webhook's events.
    pub octets_per_webhook: u64,
    /// Octets of the messages of all events.
    pub octets: u64,
}

impl OutboxLimits {
    /// Room for whatever has found some elsewhere.
    pub(super) const UNBOUNDED: Self =
        Self { events_per_webhook: u32::MAX, octets_per_webhook: u64::MAX, octets: u64::MAX };

    /// What a webhook may hold, and all together that are proven as it is, or unproven.
    pub(super) fn of(self, is_proven: bool) -> Self {
        let of_unproven = self.octets / UNPROVEN_PART;
        if self == Self::UNBOUNDED {
            self
        } else if is_proven {
            Self { octets: self.octets - of_unproven, ..self }
        } else {
            Self {
                events_per_webhook: self.events_per_webhook.min(UNPROVEN_EVENTS_MAX),
                octets_per_webhook: self.octets_per_webhook.min(UNPROVEN_OCTETS_MAX),
                octets: of_unproven,
            }
        }
    }
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self { events_per_webhook: 1_000, octets_per_webhook: 64 << 20, octets: 1 << 30 }
    }
}

/// Which of the events that wait for a webhook to read.
#[derive(Clone, Debug)]
pub struct DueQuery {
    /// Those that are due at this time, and all that were not tried yet.
    pub due_by: Timestamp,
    /// And those due later than this: so far ahead no time was set, so it was before the clock was put back.
    pub due_after: Timestamp,
    /// But these, by [`PendingEvent::sequence`].
    pub without: HashSet<u64>,
    /// How many at most.
    pub limit: usize,
}

/// A webhook and events that it is to be told, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueEvents {
    /// The webhook.
    pub webhook: WebhookRecord,
    /// In the order in which they became due.
    pub events: Vec<PendingEvent>,
    /// Others are due that were wanted.
    pub has_more: bool,
    /// When the first of those that are not due yet will be, unless others are due before.
    pub next_due_at: Option<Timestamp>,
    /// Until when the webhook is to be sent nothing, if that is later than [`DueQuery::due_by`]: its receiver asked for it.
    pub rests_until: Option<Timestamp>,
}

/// How many attempts are noted at once at most: what is written down of so many, each with its kilobyte of a response, must
/// fit where the smallest message does.
pub const ATTEMPTS_PER_RECORD: usize = 32;

/// A moment at which the outbox was read: see [`Outbox::is_current`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxVersion(pub(super) u64);

/// The operations on webhooks. Errors are [`StoreError`]'s, for every method.
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Registers a webhook unless one with the same mailbox, URL and secret is, or a limit is reached.
    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError>;

    /// The webhooks of a mailbox, in the order of their registration.
    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError>;

    /// The webhook with this id.
    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError>;

    /// Deletes a webhook with its events and its log, many events in steps. `false` if there is none.
    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError>;

    /// Deletes the webhooks for which no mail has come since `idle_since`; how many.
    async fn delete_idle_webhooks(&self, idle_since: Timestamp) -> Result<usize, StoreError>;

    /// Deletes the webhooks that were registered before `registered_before` and have never had a delivery; how many.
    async fn delete_unproven_webhooks(&self, registered_before: Timestamp) -> Result<usize, StoreError>;

    /// Deletes the webhooks of an origin; how many.
    async fn delete_webhooks_of_origin(&self, origin: String) -> Result<usize, StoreError>;

    /// Webhooks of all mailboxes that `filter` lets through, in the order of their ids, behind `after`; about `limit` at most.
    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError>;

    /// The webhooks that have events waiting, each with the time at which its next attempt is due; `None` where one waits
    /// for its first attempt, which is due whatever the clock says.
    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError>;

    /// The webhook and the events that it is to be told; `None` if there is no such webhook or it is disabled.
    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError>;

    /// What [`Outbox::is_current`] is asked of what is read from here on. Costs next to nothing and does not wait.
    fn version(&self) -> OutboxVersion;

    /// Whether what was read at `version` still holds: no webhook was deleted or disabled since, and no event ended other
    /// than by [`Outbox::record_attempts`] for itself. What was answered to whoever changed it is seen here. `false` may
    /// also be said where nothing changed. Costs next to nothing and does not wait.
    fn is_current(&self, version: OutboxVersion) -> bool;

    /// Whether the event still waits: it ends with its last attempt, with its webhook, when that is disabled, and when it is
    /// dropped.
    async fn is_pending(&self, event: &PendingEvent) -> Result<bool, StoreError>;

    /// The Email of an event, also after it was deleted or has expired; `None` once the event has ended.
    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError>;

    /// Notes attempts, all or none: in the log, at the webhook, and at the event, which ends or is due again. Noting one for
    /// an event or webhook that is gone does nothing. At most [`ATTEMPTS_PER_RECORD`].
    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError>;

    /// The same for one.
    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<(), StoreError> {
        self.record_attempts(vec![attempt]).await
    }

    /// Ends events that nobody is told any more; how many. Those of disabled webhooks end when these are disabled, unless
    /// that was cut off; here end as well those whose Email expired before `expired_by`, for where nobody sends events.
    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError>;

    /// The log of a webhook, newest first, the last `limit` lines without those that are older than 30 days at `now`.
    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError>;

    /// Makes ended events due again at `now`, and the webhook active if there are any. Only events whose Email is still
    /// there and that [`Outbox::attempts`] shows can be sent again. The oldest mail comes first, and what finds no room is
    /// passed over: no event is dropped for it.
    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError>;

    /// Is told, from time to time and never reliably, that there are new events.
    fn outbox_hint(&self) -> Arc<Notify>;
}
