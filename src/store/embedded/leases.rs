//! The trait `Leases` of the embedded store.

use async_trait::async_trait;

use super::EmbeddedStore;
use crate::model::{Client, DomainName, LeaseRecord, Mailbox, Share, Timestamp};
use crate::store::{Leases, StoreError};

#[async_trait]
impl Leases for EmbeddedStore {
    async fn lease(&self, mailbox: &Mailbox) -> Result<Option<LeaseRecord>, StoreError> {
        Ok(self.shared.registry.lease(mailbox))
    }

    async fn leases_of(&self, key: &[u8; 32]) -> Result<Vec<LeaseRecord>, StoreError> {
        Ok(self.shared.registry.leases_of(key))
    }

    async fn replace_lease(
        &self,
        before: Option<&LeaseRecord>,
        after: Option<&LeaseRecord>,
    ) -> Result<bool, StoreError> {
        let (before, after) = (before.cloned(), after.cloned());
        self.blocking(move |shared| shared.registry.replace_lease(before.as_ref(), after.as_ref())).await
    }

    async fn due_leases(&self, now: Timestamp, limit: usize) -> Result<Vec<LeaseRecord>, StoreError> {
        Ok(self.shared.registry.due_leases(now, limit))
    }

    async fn end_leases(&self, domain: &DomainName, now: Timestamp, is_dry_run: bool) -> Result<u64, StoreError> {
        let domain = domain.clone();
        self.blocking(move |shared| shared.registry.end_leases(&domain, now, is_dry_run)).await
    }

    async fn lease_counts(&self, client: Option<Client>) -> Result<Share, StoreError> {
        Ok(self.shared.registry.lease_counts(client))
    }

    async fn open_mailbox(&self, mailbox: &Mailbox, until: Timestamp, limit: u64) -> Result<bool, StoreError> {
        Ok(self.shared.registry.open_mailbox(mailbox, until, limit))
    }

    async fn is_mailbox_open(&self, mailbox: &Mailbox, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.shared.registry.is_mailbox_open(mailbox, now))
    }

    async fn close_mailboxes(&self, now: Timestamp) -> Result<(), StoreError> {
        self.blocking(move |shared| shared.registry.close_mailboxes(now)).await
    }
}
