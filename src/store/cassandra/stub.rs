//! Stands in for the outbox until it is there.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::state::ClusterState;
use super::{CassandraOptions, CassandraStore};
use crate::clock::Clock;
use crate::model::{
    AttemptRecord, Count, Counts, EmailId, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookLimits,
    WebhookRecord,
};
use crate::store::{
    DueEvents, DueQuery, OpenError, Outbox, OutboxVersion, Peers, Replay, Replayed, Storage, StoreError, StoreOptions,
    WebhookFilter, WebhookPage, WebhookRegistration,
};

impl CassandraStore {
    /// Connects as [`CassandraStore::connect`] does, for callers of any store.
    pub async fn open(options: &CassandraOptions, store: &StoreOptions) -> Result<Arc<dyn Storage>, OpenError> {
        Ok(Arc::new(Self::connect(options, store).await?))
    }
}

impl ClusterState {
    #[expect(clippy::unused_async, reason = "the outbox waits here")]
    pub(super) async fn insert_webhook(&self, _: &WebhookRecord) -> Result<(), StoreError> {
        Ok(())
    }

    #[expect(clippy::unused_async, reason = "the outbox waits here")]
    pub(super) async fn insert_event(
        &self,
        _: WebhookId,
        _: EmailId,
        _: u32,
        _: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(false)
    }
}

impl Counts for CassandraStore {
    fn read(&self) -> Vec<Count> {
        Vec::new()
    }
}

#[async_trait]
impl Storage for CassandraStore {
    async fn ended(&self) {
        std::future::pending().await
    }

    async fn run(&self, clock: Arc<dyn Clock>, shutdown: CancellationToken) {
        self.state.run(clock, &shutdown).await;
    }

    fn peers(&self) -> Option<Arc<dyn Peers>> {
        Some(Arc::clone(&self.state) as Arc<dyn Peers>)
    }
}

#[async_trait]
impl Outbox for CassandraStore {
    async fn register_webhook(&self, _: WebhookRecord, _: WebhookLimits) -> Result<WebhookRegistration, StoreError> {
        Ok(WebhookRegistration::Full)
    }
    async fn webhooks(&self, _: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        Ok(Vec::new())
    }
    async fn webhook(&self, _: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        Ok(None)
    }
    async fn delete_webhook(&self, _: WebhookId) -> Result<bool, StoreError> {
        Ok(false)
    }
    async fn delete_idle_webhooks(&self, _: Timestamp) -> Result<usize, StoreError> {
        Ok(0)
    }
    async fn delete_unproven_webhooks(&self, _: Timestamp) -> Result<usize, StoreError> {
        Ok(0)
    }
    async fn delete_webhooks_of_origin(&self, _: String) -> Result<usize, StoreError> {
        Ok(0)
    }
    async fn all_webhooks(&self, _: WebhookFilter, _: Option<WebhookId>, _: usize) -> Result<WebhookPage, StoreError> {
        Ok(WebhookPage::default())
    }
    async fn pending_webhooks(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        Ok(Vec::new())
    }
    async fn due_events(&self, _: WebhookId, _: DueQuery) -> Result<Option<DueEvents>, StoreError> {
        Ok(None)
    }
    fn version(&self) -> OutboxVersion {
        OutboxVersion(0)
    }
    fn is_current(&self, _: OutboxVersion) -> bool {
        true
    }
    async fn is_pending(&self, _: &PendingEvent) -> Result<bool, StoreError> {
        Ok(false)
    }
    async fn load_event(&self, _: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        Ok(None)
    }
    async fn record_attempts(&self, _: Vec<AttemptRecord>) -> Result<(), StoreError> {
        Ok(())
    }
    async fn end_events(&self, _: Timestamp) -> Result<usize, StoreError> {
        Ok(0)
    }
    async fn attempts(&self, _: WebhookId, _: usize, _: Timestamp) -> Result<Vec<AttemptRecord>, StoreError> {
        Ok(Vec::new())
    }
    async fn replay(&self, _: WebhookId, _: Replay, _: Timestamp) -> Result<Replayed, StoreError> {
        Ok(Replayed::default())
    }
    fn outbox_hint(&self) -> Arc<Notify> {
        Arc::default()
    }
}
