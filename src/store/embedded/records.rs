//! The trait `Registry` of the embedded store.

use async_trait::async_trait;

use super::EmbeddedStore;
use crate::model::{
    AttemptRecord, DomainName, DomainRecord, Mailbox, Timestamp, TokenRecord, WebhookId, WebhookRecord,
};
use crate::store::{
    Registration, Registry, StoreError, WebhookFilter, WebhookLimits, WebhookPage, WebhookRegistration, WebhookSweep,
};

#[async_trait]
impl Registry for EmbeddedStore {
    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        Ok(self.shared.registry.domains())
    }

    async fn domain(&self, name: &DomainName) -> Result<Option<DomainRecord>, StoreError> {
        Ok(self.shared.registry.domain(name))
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        let (registration, gone) = self.blocking(move |shared| shared.registry.register_domain(record, limit)).await?;
        self.forget(&gone);
        Ok(registration)
    }

    async fn update_domain(&self, before: &DomainRecord, after: DomainRecord) -> Result<bool, StoreError> {
        let before = before.clone();
        self.blocking(move |shared| shared.registry.update_domain(&before, after)).await
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        let name = name.clone();
        let gone = self.blocking(move |shared| shared.registry.remove_domain(&name)).await?;
        self.forget(gone.as_deref().unwrap_or_default());
        Ok(gone.is_some())
    }

    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        Ok(self.shared.registry.tokens())
    }

    async fn replace_tokens(&self, before: &[TokenRecord], after: &[TokenRecord]) -> Result<bool, StoreError> {
        let (before, after) = (before.to_vec(), after.to_vec());
        self.blocking(move |shared| shared.registry.replace_tokens(&before, &after)).await
    }

    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        let (registration, evicted) =
            self.blocking(move |shared| shared.registry.register_webhook(record, limits)).await?;
        self.forget(evicted.as_slice());
        Ok(registration)
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        Ok(self.shared.registry.webhooks(mailbox))
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        Ok(self.shared.registry.webhook(id))
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        // An unknown id must not cause a write, since anybody may send one.
        if self.shared.registry.webhook(id).is_none() {
            return Ok(false);
        }
        Ok(self.delete(move |webhook| webhook.id == id).await? > 0)
    }

    async fn delete_webhooks(&self, sweep: WebhookSweep) -> Result<usize, StoreError> {
        self.delete(move |webhook| sweep.matches(webhook)).await
    }

    async fn all_webhooks(
        &self,
        filter: WebhookFilter,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<WebhookPage, StoreError> {
        Ok(self.shared.registry.all_webhooks(&filter, after, limit))
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        self.blocking(move |shared| shared.registry.attempts(webhook, limit, now)).await
    }
}

impl EmbeddedStore {
    /// Deletes the webhooks that `which` names. Returns how many.
    async fn delete(&self, which: impl Fn(&WebhookRecord) -> bool + Send + 'static) -> Result<usize, StoreError> {
        let gone = self.blocking(move |shared| shared.registry.delete_webhooks(&which)).await?;
        self.forget(&gone);
        Ok(gone.len())
    }
}
