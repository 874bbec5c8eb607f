//! The trait `Registry` of the store in a cluster.

use async_trait::async_trait;

use super::super::CassandraStore;
use super::super::leases::Work;
use crate::model::{AttemptRecord, DomainName, DomainRecord, Mailbox, Timestamp, WebhookId, WebhookRecord};
use crate::store::{
    Registration, Registry, StoreError, WebhookFilter, WebhookLimits, WebhookPage, WebhookRegistration, WebhookSweep,
};

/// The most webhooks that one read of a list examines.
const LIST_ROWS_READ: usize = 10_000;

#[async_trait]
impl Registry for CassandraStore {
    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        let mut domains = self.state.domains().await?;
        domains.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(domains)
    }

    async fn domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        self.state.find_domain(name).await
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        self.state.register_domain(record, limit).await
    }

    async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        self.state.update_domain(record).await
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.state.remove_domain(name).await
    }

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

    async fn delete_webhooks(&self, sweep: WebhookSweep) -> Result<usize, StoreError> {
        let is_of_one_node = matches!(sweep, WebhookSweep::IdleSince(_) | WebhookSweep::UnprovenSince(_));
        if is_of_one_node && !self.state.may_do(Work::Webhooks) {
            return Ok(0);
        }
        self.state.sweep_webhooks(&sweep).await
    }

    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        self.state.webhook_page(|webhook| filter.lets_through(webhook), after, LIST_ROWS_READ, limit).await
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        Ok(self.state.read_log(webhook, limit, now).await?.into_iter().map(|(record, _)| record).collect())
    }
}
