//! Leases in the cluster.

use async_trait::async_trait;

use super::CassandraStore;
use crate::model::{Client, DomainName, LeaseRecord, Mailbox, Share, Timestamp};
use crate::store::{Leases, StoreError};

#[async_trait]
impl Leases for CassandraStore {
    async fn lease(&self, _mailbox: &Mailbox) -> Result<Option<LeaseRecord>, StoreError> {
        Ok(None)
    }

    async fn leases_of(&self, _key: &[u8; 32]) -> Result<Vec<LeaseRecord>, StoreError> {
        Ok(Vec::new())
    }

    async fn replace_lease(
        &self,
        _before: Option<&LeaseRecord>,
        _after: Option<&LeaseRecord>,
    ) -> Result<bool, StoreError> {
        Err(StoreError::Failed("a cluster keeps no leases yet".into()))
    }

    async fn due_leases(&self, _now: Timestamp, _limit: usize) -> Result<Vec<LeaseRecord>, StoreError> {
        Ok(Vec::new())
    }

    async fn end_leases(&self, _domain: &DomainName, _now: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn lease_counts(&self, _client: Option<Client>) -> Result<Share, StoreError> {
        Ok(Share { client: 0, network: 0, all: 0 })
    }

    async fn open_mailbox(&self, _mailbox: &Mailbox, _until: Timestamp, _limit: u64) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn is_mailbox_open(&self, _mailbox: &Mailbox, _now: Timestamp) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn close_mailboxes(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }
}
