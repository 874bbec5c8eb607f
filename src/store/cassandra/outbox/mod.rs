//! Webhooks and their events in a cluster.
//!
//! ```text
//! webhook, registration   webhooks            event       pending events, and the rows that lead to them
//! due                     what is read        attempts    what an attempt changes
//! log, replay             the delivery log    usage, room the limits      memory      what a node remembers
//! ```
//!
//! The events of a message are in its intent, so they exist if and only if the message is stored. Its octets live for the
//! grace longer than its Emails would, even if these are deleted, and so do its events.
//!
//! In a daemon, only the node with the lease of a [shard](shard_of) sees its events as due or pending, so no other one sends
//! them. All nodes may do all else.
//!
//! Events keep to the limits as far as a node knows them: it may not know yet what others added or ended in the last ten
//! seconds, or in the last minute where the limits are about more than one webhook.
//!
//! What a node has read counts as current for a second, unless the node itself ended something. So a webhook that another node
//! deletes or disables may still get a request which a node was about to send within that second.

mod attempts;
mod due;
mod event;
mod log;
mod memory;
mod registration;
mod replay;
mod restore;
mod room;
mod statements;
mod usage;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::CassandraStore;
use super::leases::Work;
use super::state::ClusterState;
use crate::model::{AttemptRecord, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookRecord};
use crate::store::outbox::SweepFilter;
use crate::store::{
    DueEvents, DueQuery, Outbox, Replay, Replayed, StoreError, WebhookFilter, WebhookLimits, WebhookPage,
    WebhookRegistration,
};

pub(super) use memory::OutboxState;
pub(super) use statements::OutboxStatements;
pub(super) use webhook::StoredWebhook;

/// The parts of the outbox, each of which has one dispatcher.
pub(crate) const SHARDS: i8 = 8;
/// The most webhooks that one read of a list examines.
const LIST_ROWS_READ: usize = 10_000;

/// The part of the outbox that has the events of a webhook, from 0 up to [`SHARDS`].
pub(crate) fn shard_of(webhook: WebhookId) -> i8 {
    let [.., last] = webhook.octets();
    (last % SHARDS.cast_unsigned()).cast_signed()
}

#[async_trait]
impl Outbox for CassandraStore {
    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        self.state.register_webhook(&record, limits).await
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        Ok(self.state.webhooks_of(mailbox).await?.into_iter().map(|webhook| webhook.record).collect())
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        Ok(self.state.stored_webhook(id).await?.map(|webhook| webhook.record))
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        self.state.delete_webhook(id).await
    }

    async fn delete_idle_webhooks(&self, idle_since: Timestamp) -> Result<usize, StoreError> {
        self.state.sweep_alone(SweepFilter::IdleSince(idle_since)).await
    }

    async fn delete_unproven_webhooks(&self, registered_before: Timestamp) -> Result<usize, StoreError> {
        self.state.sweep_alone(SweepFilter::UnprovenSince(registered_before)).await
    }

    async fn delete_webhooks_of_origin(&self, origin: String) -> Result<usize, StoreError> {
        self.state.sweep_webhooks(&SweepFilter::Origin(origin)).await
    }

    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        self.state.webhook_page(|webhook| filter.lets_through(webhook), after, LIST_ROWS_READ, limit).await
    }

    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        self.state.pending_webhooks().await
    }

    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError> {
        self.state.due_events(webhook, &query).await
    }

    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        self.state.load_event(event).await
    }

    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.state.record_attempts(attempts).await
    }

    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        self.state.end_events(expired_by).await
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        Ok(self.state.read_log(webhook, limit, now).await?.into_iter().map(|(record, _)| record).collect())
    }

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        self.state.replay(webhook, &which, now).await
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        Arc::clone(&self.state.outbox.hint)
    }
}

impl ClusterState {
    /// Deletes webhooks that one node of all looks for.
    async fn sweep_alone(&self, filter: SweepFilter) -> Result<usize, StoreError> {
        if self.may_do(Work::Webhooks) { self.sweep_webhooks(&filter).await } else { Ok(0) }
    }

    /// Whether this node sends the events of a shard.
    fn dispatches(&self, shard: i8) -> bool {
        self.may_do(Work::Dispatch(shard))
    }

    /// Tells this node's dispatcher that there may be new events.
    pub(super) fn ring_outbox(&self) {
        self.outbox.hint.notify_one();
    }

    /// Ends events that nobody will deliver: their webhook is gone or disabled, or their Email expired before `expired_by`.
    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        self.check_open()?;
        if !self.may_do(Work::Webhooks) {
            return Ok(0);
        }
        let mut ended = 0;
        for (webhook, mut events) in self.pending().await? {
            if self.stored_webhook(webhook).await?.is_some_and(|webhook| webhook.is_active()) {
                events.retain(|event| event.expires_at < expired_by.millis());
            }
            if !events.is_empty() {
                ended += self.end_without_delivery(webhook, events).await?;
            }
        }
        Ok(ended)
    }
}
