//! An outbox whose use a test observes, and can hold up.

use std::sync::Arc;

use async_trait::async_trait;
use tempmail::model::{
    AttemptRecord, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookLimits, WebhookRecord,
};
use tempmail::store::{
    DueEvents, DueQuery, EmbeddedStore, Outbox, OutboxVersion, Replay, Replayed, StoreError, WebhookFilter,
    WebhookPage, WebhookRegistration,
};
use tokio::sync::Notify;

/// Is called at each step, before the caller of the outbox goes on.
#[async_trait]
pub(super) trait Observer: Send + Sync + 'static {
    /// An event was read whole.
    async fn loaded(&self, _: &EmbeddedStore, _: &PendingEvent) {}

    /// It was checked whether an event is still pending.
    async fn checked(&self, _: &EmbeddedStore) {}

    /// The outbox is being scanned.
    fn scans(&self) {}

    /// These events of a webhook were read; `limit` is how many were wanted.
    fn read(&self, _: WebhookId, _limit: usize, _: &[PendingEvent]) {}

    /// Attempts are about to be recorded.
    async fn records(&self) {}
}

/// A store's outbox with an observer.
pub(super) struct ObservedOutbox<O> {
    pub(super) store: Arc<EmbeddedStore>,
    pub(super) observer: O,
}

#[async_trait]
impl<O: Observer> Outbox for ObservedOutbox<O> {
    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let loaded = self.store.load_event(event).await;
        self.observer.loaded(&self.store, event).await;
        loaded
    }

    async fn is_pending(&self, event: &PendingEvent) -> Result<bool, StoreError> {
        let is_pending = self.store.is_pending(event).await;
        self.observer.checked(&self.store).await;
        is_pending
    }

    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        self.store.register_webhook(record, limits).await
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        self.store.webhooks(mailbox).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        self.store.webhook(id).await
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        self.store.delete_webhook(id).await
    }

    async fn delete_idle_webhooks(&self, idle_since: Timestamp) -> Result<usize, StoreError> {
        self.store.delete_idle_webhooks(idle_since).await
    }

    async fn delete_unproven_webhooks(&self, registered_before: Timestamp) -> Result<usize, StoreError> {
        self.store.delete_unproven_webhooks(registered_before).await
    }

    async fn delete_webhooks_of_origin(&self, origin: String) -> Result<usize, StoreError> {
        self.store.delete_webhooks_of_origin(origin).await
    }

    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        self.store.all_webhooks(filter, after, limit).await
    }

    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        self.observer.scans();
        self.store.pending_webhooks().await
    }

    async fn due_events(&self, webhook: WebhookId, query: DueQuery) -> Result<Option<DueEvents>, StoreError> {
        let limit = query.limit;
        let due = self.store.due_events(webhook, query).await;
        self.observer.read(webhook, limit, due.as_ref().ok().and_then(Option::as_ref).map_or(&[], |due| &due.events));
        due
    }

    fn version(&self) -> OutboxVersion {
        self.store.version()
    }

    fn is_current(&self, version: OutboxVersion) -> bool {
        self.store.is_current(version)
    }

    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.observer.records().await;
        self.store.record_attempts(attempts).await
    }

    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        self.store.end_events(expired_by).await
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        self.store.attempts(webhook, limit, now).await
    }

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<Replayed, StoreError> {
        self.store.replay(webhook, which, now).await
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        self.store.outbox_hint()
    }
}
