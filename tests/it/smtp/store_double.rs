//! A store that does what a test tells it to.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use tempmail::model::{Delivery, DomainName, DomainRecord, EmailId, Listed, Mailbox, StoredEmail, Timestamp};
use tempmail::store::{Expired, MailboxPart, Part, Registration, Store, StoreError, StoreStats};
use tokio::sync::{Semaphore, watch};

/// What becomes of the next message.
pub(crate) enum Fate {
    /// It fails with this.
    Error(StoreError),
    /// The store panics.
    Panic,
}

/// Keeps messages in memory; answers only while its gate is open.
pub(crate) struct StoreDouble {
    gate: Semaphore,
    fates: Mutex<VecDeque<Fate>>,
    accepts: Mutex<Result<(), StoreError>>,
    arrived: watch::Sender<usize>,
    kept: Mutex<Vec<Delivery>>,
}

impl StoreDouble {
    /// A store whose gate is open.
    pub(crate) fn open() -> Self {
        let store = Self::gated();
        store.let_through(1_000_000);
        store
    }

    /// A store that lets nothing through until told.
    pub(crate) fn gated() -> Self {
        Self {
            gate: Semaphore::new(0),
            fates: Mutex::default(),
            accepts: Mutex::new(Ok(())),
            arrived: watch::Sender::new(0),
            kept: Mutex::default(),
        }
    }

    /// Lets this many messages through.
    pub(crate) fn let_through(&self, messages: usize) {
        self.gate.add_permits(messages);
    }

    /// The next message for which nothing is decided meets this.
    pub(crate) fn decide(&self, fate: Fate) {
        self.fates.lock().expect("fates").push_back(fate);
    }

    /// What `accepts` says from now on.
    pub(crate) fn set_accepts(&self, accepts: Result<(), StoreError>) {
        *self.accepts.lock().expect("accepts") = accepts;
    }

    /// Waits until this many messages have been handed over, kept or not.
    pub(crate) async fn wait_for_arrivals(&self, messages: usize) {
        self.arrived.subscribe().wait_for(|arrived| *arrived >= messages).await.expect("the store is there");
    }

    /// What has been kept.
    pub(crate) fn kept(&self) -> Vec<Delivery> {
        self.kept.lock().expect("kept").clone()
    }
}

#[async_trait]
impl Store for StoreDouble {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        self.arrived.send_modify(|arrived| *arrived += 1);
        self.gate.acquire().await.expect("the gate is there").forget();
        let fate = self.fates.lock().expect("fates").pop_front();
        match fate {
            None => {
                self.kept.lock().expect("kept").push(delivery);
                Ok(())
            }
            Some(Fate::Error(error)) => Err(error),
            Some(Fate::Panic) => panic!("the store double panics as it was told"),
        }
    }

    fn accepts(&self) -> Result<(), StoreError> {
        self.accepts.lock().expect("accepts").clone()
    }

    async fn list(&self, _: &Mailbox, _: Part, _: Timestamp) -> Result<MailboxPart, StoreError> {
        unimplemented!("SMTP does not read")
    }

    async fn find(&self, _: EmailId, _: Timestamp) -> Result<Option<Listed>, StoreError> {
        unimplemented!("SMTP does not read")
    }

    async fn load(&self, _: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        unimplemented!("SMTP does not read")
    }

    async fn delete(&self, _: EmailId, _: Timestamp) -> Result<bool, StoreError> {
        unimplemented!("SMTP does not delete")
    }

    async fn delete_all(&self, _: &Mailbox, _: Timestamp) -> Result<u64, StoreError> {
        unimplemented!("SMTP does not delete")
    }

    async fn expire(&self, _: Timestamp, _: usize) -> Result<Expired, StoreError> {
        unimplemented!("SMTP does not delete")
    }

    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        unimplemented!("SMTP asks the domain table")
    }

    async fn register_domain(&self, _: DomainRecord, _: usize) -> Result<Registration, StoreError> {
        unimplemented!("SMTP asks the domain table")
    }

    async fn update_domain(&self, _: DomainRecord) -> Result<bool, StoreError> {
        unimplemented!("SMTP asks the domain table")
    }

    async fn remove_domain(&self, _: &DomainName) -> Result<bool, StoreError> {
        unimplemented!("SMTP asks the domain table")
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        unimplemented!("SMTP does not count")
    }

    async fn close(&self) -> Result<(), StoreError> {
        unimplemented!("SMTP does not close the store")
    }
}
