//! Webhooks and their events in a cluster.
//!
//! ```text
//! registry                the trait Registry  event       pending events, and the rows that lead to them
//! webhook, registration   webhooks            attempts    what an attempt changes
//! due                     what is read
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
mod registry;
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
use crate::model::{AttemptRecord, PendingEvent, StoredEmail, Timestamp, WebhookId};
use crate::store::{DueEvents, DueQuery, Outbox, Replay, Replayed, StoreError};

pub(super) use memory::OutboxState;
pub(super) use statements::OutboxStatements;
pub(super) use webhook::StoredWebhook;

/// The parts of the outbox, each of which has one dispatcher.
pub(crate) const SHARDS: i8 = 8;

/// The part of the outbox that has the events of a webhook, from 0 up to [`SHARDS`].
pub(crate) fn shard_of(webhook: WebhookId) -> i8 {
    let [.., last] = webhook.octets();
    (last % SHARDS.cast_unsigned()).cast_signed()
}

#[async_trait]
impl Outbox for CassandraStore {
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

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        self.state.replay(webhook, &which, now).await
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        Arc::clone(&self.state.outbox.hint)
    }
}

impl ClusterState {
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
