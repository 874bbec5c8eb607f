//! Reads of pending events for the dispatcher.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::super::state::ClusterState;
use super::event::{EventRow, Events};
use super::webhook::StoredWebhook;
use super::{SHARDS, shard_of};
use crate::model::{PendingEvent, StoredEmail, Timestamp, WebhookId};
use crate::store::{DueEvents, DueQuery, StoreError};

/// The shards that are read at once.
const SHARDS_AT_ONCE: usize = 4;

impl ClusterState {
    /// The webhooks that have pending events, of all shards, each with its events.
    pub(super) async fn pending(&self) -> Result<Vec<(WebhookId, Vec<EventRow>)>, StoreError> {
        let pending = self.pending_of(0..SHARDS).await?;
        pending.into_iter().map(|(webhook, events)| Ok((webhook, events?))).collect()
    }

    async fn pending_of(&self, shards: impl Iterator<Item = i8>) -> Result<Vec<(WebhookId, Events)>, StoreError> {
        let shards = stream::iter(shards).map(|shard| self.pending_of_shard(shard));
        let shards: Vec<_> = shards.buffer_unordered(SHARDS_AT_ONCE).try_collect().await?;
        Ok(shards.into_iter().flatten().collect())
    }

    /// All pending events, in the order of their webhooks and sequence numbers.
    pub(in super::super) async fn pending_events(&self) -> Result<Vec<PendingEvent>, StoreError> {
        let mut pending = self.pending().await?;
        pending.sort_unstable_by_key(|(webhook, _)| *webhook);
        let pending = pending
            .into_iter()
            .flat_map(|(webhook, events)| events.into_iter().map(move |event| event.to_pending(self, webhook)));
        Ok(pending.collect())
    }

    pub(super) async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        // A webhook whose events cannot be read counts as due: the error is that of its own next read, and holds up no other.
        let next = |events: Events| {
            let events = events.ok().filter(|events| events.iter().all(|event| event.attempts > 0))?;
            events.iter().map(|event| event.due_at).min().map(Timestamp::from_millis)
        };
        let pending = self.pending_of((0..SHARDS).filter(|shard| self.dispatches(*shard))).await?;
        Ok(pending.into_iter().map(|(webhook, events)| (webhook, next(events))).collect())
    }

    pub(super) async fn due_events(
        &self,
        webhook: WebhookId,
        query: &DueQuery,
    ) -> Result<Option<DueEvents>, StoreError> {
        if !self.dispatches(shard_of(webhook)) {
            return Ok(None);
        }
        let (stored, events) = self.webhook_with_events(webhook).await?;
        let Some(stored) = stored.filter(StoredWebhook::is_active) else { return Ok(None) };
        let (by, after) = (query.due_by.millis(), query.due_after.millis());
        let is_due = |event: &EventRow| event.attempts == 0 || event.due_at <= by || event.due_at > after;
        let next_due_at = events.iter().filter(|event| !is_due(event)).map(|event| event.due_at).min();
        let mut due: Vec<EventRow> = events
            .into_iter()
            .filter(|event| is_due(event) && !query.without.contains(&event.sequence.cast_unsigned()))
            .collect();
        // The event that has been due for longer comes first, so that neither kind starves the other.
        due.sort_by_key(|event| (event.due_at, event.attempts > 0, event.sequence));
        let has_more = due.len() > query.limit;
        due.truncate(query.limit);
        Ok(Some(DueEvents {
            backs_off_until: stored.health.backs_off_until(query.due_by),
            webhook: stored.record,
            events: due.iter().map(|event| event.to_pending(self, webhook)).collect(),
            has_more,
            next_due_at: next_due_at.map(Timestamp::from_millis),
        }))
    }

    /// Whether an event is pending, its webhook is active, and this node may send it.
    async fn is_pending(&self, event: &PendingEvent) -> Result<bool, StoreError> {
        let row = self.find_event(event.webhook, event.email.sequence, event.email.id);
        let (row, webhook) = futures_util::future::try_join(row, self.stored_webhook(event.webhook)).await?;
        // Asked last, so that a node that was suspended while it read the message sends nothing.
        let is_pending = row.is_some() && webhook.is_some_and(|webhook| webhook.is_active());
        Ok(is_pending && self.dispatches(shard_of(event.webhook)))
    }

    pub(super) async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let email = self.load(&event.email).await?;
        if !self.is_pending(event).await? {
            return Ok(None);
        }
        if email.is_none() {
            tracing::error!(webhook = %event.webhook, email = %event.email.id, "the message of an event is missing");
            return Err(StoreError::Damaged { segment: 0, offset: 0 });
        }
        Ok(email)
    }
}
