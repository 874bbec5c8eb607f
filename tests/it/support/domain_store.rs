//! A store in memory that keeps domains and nothing else.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use tempmail::model::{Delivery, DomainName, DomainRecord, EmailId, Listed, Mailbox, StoredEmail, Timestamp};
use tempmail::store::{Expired, MailboxPart, Part, Registration, Store, StoreError, StoreStats};

/// A store that keeps domains in memory, and fails when a test says so.
#[derive(Default)]
pub(crate) struct DomainStore {
    records: Mutex<BTreeMap<DomainName, DomainRecord>>,
    failure: Mutex<Option<StoreError>>,
}

impl DomainStore {
    /// From now on every change fails with `error`; with `None` it works again. A change whose outcome is unknown is made.
    pub(crate) fn fail_changes(&self, error: Option<StoreError>) {
        *self.failure.lock().expect("failure") = error;
    }

    /// What is kept of `name`.
    pub(crate) fn record(&self, name: &str) -> Option<DomainRecord> {
        let name: DomainName = name.parse().expect(name);
        self.records.lock().expect("records").get(&name).cloned()
    }

    async fn change<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<DomainName, DomainRecord>) -> T,
    ) -> Result<T, StoreError> {
        let failure = self.failure.lock().expect("failure").clone();
        let outcome = match failure {
            None => Ok(change(&mut self.records.lock().expect("records"))),
            Some(StoreError::OutcomeUnknown) => {
                change(&mut self.records.lock().expect("records"));
                Err(StoreError::OutcomeUnknown)
            }
            Some(error) => Err(error),
        };
        // A real store's caller hears of a change only some time after it is made.
        tokio::task::yield_now().await;
        outcome
    }
}

fn not_kept<T>() -> Result<T, StoreError> {
    Err(StoreError::Failed("this store keeps domains only".to_owned()))
}

#[async_trait]
impl Store for DomainStore {
    async fn receive(&self, _: Delivery) -> Result<(), StoreError> {
        not_kept()
    }

    fn accepts(&self) -> Result<(), StoreError> {
        not_kept()
    }

    async fn list(&self, _: &Mailbox, _: Part, _: Timestamp) -> Result<MailboxPart, StoreError> {
        not_kept()
    }

    async fn find(&self, _: EmailId, _: Timestamp) -> Result<Option<Listed>, StoreError> {
        not_kept()
    }

    async fn load(&self, _: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        not_kept()
    }

    async fn delete(&self, _: EmailId, _: Timestamp) -> Result<bool, StoreError> {
        not_kept()
    }

    async fn delete_all(&self, _: &Mailbox, _: Timestamp) -> Result<u64, StoreError> {
        not_kept()
    }

    async fn expire(&self, _: Timestamp, _: usize) -> Result<Expired, StoreError> {
        not_kept()
    }

    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        Ok(self.records.lock().expect("records").values().cloned().collect())
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        self.change(|records| {
            if let Some(there) = records.get(&record.name) {
                return Registration::Taken(there.clone());
            }
            if records.len() >= limit {
                return Registration::Full;
            }
            records.insert(record.name.clone(), record);
            Registration::Won
        })
        .await
    }

    async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        self.change(|records| match records.get_mut(&record.name) {
            Some(there) => {
                *there = record;
                true
            }
            None => false,
        })
        .await
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.change(|records| records.remove(name).is_some()).await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        not_kept()
    }

    async fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
