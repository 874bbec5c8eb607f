//! The embedded store over a disk in memory, with a gate and faults on demand, for tests of the layers above it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tempmail::config::{Config, Revision};
use tempmail::events::{Position, Subscription};
use tempmail::model::{Caps, Delivery, DomainName, DomainRecord, EmailId, Listed, Mailbox, StoredEmail, Timestamp};
use tempmail::store::{
    BackupStream, DetailedStats, EmailsAfter, EmbeddedStore, Expired, MailboxPage, NewestPage, NewestQuery,
    PageRequest, Registration, Store, StoreError, StoreOptions, StoreStats,
};
use tokio::sync::{Semaphore, watch};

use super::recording_disk::RecordingDisk;

/// A store that works as usual, unless a test gives it a fault or closes its gate.
pub(crate) struct FaultyStore {
    store: Arc<EmbeddedStore>,
    /// Lets one message through per permit.
    gate: Semaphore,
    fault: Mutex<Option<Fault>>,
    load_faults: Mutex<Vec<(EmailId, Option<StoreError>)>>,
    panics_next: AtomicBool,
    panics_at_load: Mutex<Option<EmailId>>,
    /// Arrives when the next mailbox is listed after an Email: before the rows are read, or after.
    at_next_look: Mutex<Option<(Look, Delivery)>>,
    /// Messages that arrive after each such look.
    at_each_look: Mutex<Option<Arrivals>>,
    arrived: watch::Sender<usize>,
    stored: Mutex<Vec<Delivery>>,
}

/// Makes messages that arrive.
type Arrivals = Box<dyn Fn() -> Delivery + Send>;

/// A moment around a look at the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Before,
    After,
}

#[derive(Clone)]
struct Fault {
    error: StoreError,
    is_for_changes_only: bool,
}

impl FaultyStore {
    /// A store whose gate is open.
    pub(crate) fn open() -> Self {
        Self::on(RecordingDisk::default())
    }

    /// A store whose gate is closed.
    pub(crate) fn gated() -> Self {
        Self::made(RecordingDisk::default(), Caps::default())
    }

    /// A store on a disk of the caller's, whose gate is open.
    pub(crate) fn on(disk: RecordingDisk) -> Self {
        Self::made(disk, Caps::default()).opened()
    }

    /// A store whose gate is open, and whose mailboxes and domains have no more mail than this.
    pub(crate) fn with_caps(caps: Caps) -> Self {
        Self::made(RecordingDisk::default(), caps).opened()
    }

    /// A store whose gate is open, for messages of up to `octets`.
    pub(crate) fn taking(octets: u64) -> Self {
        Self::of_size(RecordingDisk::default(), Caps::default(), octets).opened()
    }

    fn opened(self) -> Self {
        self.let_through(1_000_000);
        self
    }

    fn made(disk: RecordingDisk, caps: Caps) -> Self {
        Self::of_size(disk, caps, 0)
    }

    fn of_size(disk: RecordingDisk, caps: Caps, octets: u64) -> Self {
        let config = Config::of_revision(Revision::Two, PathBuf::from("unused"));
        let options = StoreOptions { segment_octets: 1 << 20, caps, ..StoreOptions::from_config(&config) };
        let options = options.taking(octets);
        Self {
            store: Arc::new(EmbeddedStore::open_on(Arc::new(disk), &options).expect("an empty disk")),
            gate: Semaphore::new(0),
            fault: Mutex::default(),
            load_faults: Mutex::default(),
            panics_next: AtomicBool::new(false),
            panics_at_load: Mutex::default(),
            at_next_look: Mutex::default(),
            at_each_look: Mutex::default(),
            arrived: watch::Sender::new(0),
            stored: Mutex::default(),
        }
    }

    /// The store below, which has no faults.
    pub(crate) fn embedded(&self) -> Arc<EmbeddedStore> {
        Arc::clone(&self.store)
    }

    /// Lets this many messages through.
    pub(crate) fn let_through(&self, messages: usize) {
        self.gate.add_permits(messages);
    }

    /// From now on every method fails with `error`, or works again. A change with an unknown outcome is made.
    pub(crate) fn fail_with(&self, error: Option<StoreError>) {
        *self.fault.lock().expect("fault") = error.map(|error| Fault { error, is_for_changes_only: false });
    }

    /// From now on every method that changes something fails with `error`, or works again.
    pub(crate) fn fail_changes(&self, error: Option<StoreError>) {
        *self.fault.lock().expect("fault") = error.map(|error| Fault { error, is_for_changes_only: true });
    }

    /// `load` of this Email fails with `error`; with `None` it says that the Email is gone.
    pub(crate) fn fail_load(&self, id: EmailId, error: Option<StoreError>) {
        self.load_faults.lock().expect("load faults").push((id, error));
    }

    /// The next message makes it panic.
    pub(crate) fn panic_next(&self) {
        self.panics_next.store(true, Ordering::Relaxed);
    }

    /// `load` of this Email panics.
    pub(crate) fn panic_at_load(&self, id: EmailId) {
        *self.panics_at_load.lock().expect("an id") = Some(id);
    }

    /// This message arrives while the next waiter looks at the store.
    pub(crate) fn deliver_at_next_look(&self, moment: Look, delivery: Delivery) {
        *self.at_next_look.lock().expect("a message") = Some((moment, delivery));
    }

    /// From now on mail arrives after each look of a waiter, so that it never has to wait.
    pub(crate) fn deliver_at_each_look(&self, arrivals: impl Fn() -> Delivery + Send + 'static) {
        *self.at_each_look.lock().expect("arrivals") = Some(Box::new(arrivals));
    }

    async fn deliver_at(&self, moment: Look) -> Result<(), StoreError> {
        if moment == Look::After {
            // When the second one is stored, the first one has been published.
            let arriving =
                self.at_each_look.lock().expect("arrivals").as_ref().map(|arrivals| [arrivals(), arrivals()]);
            for delivery in arriving.into_iter().flatten() {
                self.store.receive(delivery).await?;
            }
        }
        let delivery = self.at_next_look.lock().expect("a message").take_if(|(wanted, _)| *wanted == moment);
        match delivery {
            Some((_, delivery)) => self.store.receive(delivery).await,
            None => Ok(()),
        }
    }

    /// Waits until this many messages have come, stored or not.
    pub(crate) async fn wait_for_arrivals(&self, messages: usize) {
        self.arrived.subscribe().wait_for(|arrived| *arrived >= messages).await.expect("the store is there");
    }

    /// The stored messages.
    pub(crate) fn stored(&self) -> Vec<Delivery> {
        self.stored.lock().expect("kept").clone()
    }

    /// The record of the domain `name`.
    pub(crate) async fn record(&self, name: &str) -> Option<DomainRecord> {
        let name: DomainName = name.parse().expect(name);
        self.store.domains().await.expect("domains").into_iter().find(|record| record.name == name)
    }

    fn working(&self) -> Result<(), StoreError> {
        match self.fault.lock().expect("fault").clone() {
            Some(Fault { error, is_for_changes_only: false }) => Err(error),
            _ => Ok(()),
        }
    }

    async fn change<T>(&self, change: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StoreError> {
        let fault = self.fault.lock().expect("fault").clone();
        match fault.map(|fault| fault.error) {
            None => change.await,
            Some(StoreError::OutcomeUnknown) => change.await.and(Err(StoreError::OutcomeUnknown)),
            Some(error) => Err(error),
        }
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        self.arrived.send_modify(|arrived| *arrived += 1);
        self.gate.acquire().await.expect("the gate is there").forget();
        assert!(!self.panics_next.swap(false, Ordering::Relaxed), "the store panics as the test wants");
        self.change(self.store.receive(delivery.clone())).await?;
        self.stored.lock().expect("kept").push(delivery);
        Ok(())
    }

    fn accepts(&self) -> Result<(), StoreError> {
        self.working().and_then(|()| self.store.accepts())
    }

    fn check_caps(&self, mailboxes: &[Mailbox], now: Timestamp) -> Result<(), StoreError> {
        self.store.check_caps(mailboxes, now)
    }

    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError> {
        self.working()?;
        self.store.list(mailbox, page, now).await
    }

    async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError> {
        self.working()?;
        self.store.list_before(mailbox, before, limit, now).await
    }

    async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError> {
        self.working()?;
        self.deliver_at(Look::Before).await?;
        let listed = self.store.list_after(mailbox, after, limit, now).await;
        self.deliver_at(Look::After).await?;
        listed
    }

    fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        self.store.subscribe(mailbox, events_max)
    }

    async fn position(&self, mailbox: Option<&Mailbox>) -> Result<Position, StoreError> {
        self.working()?;
        self.store.position(mailbox).await
    }

    async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError> {
        self.working()?;
        self.store.newest(query, now).await
    }

    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        self.working()?;
        self.store.find(id, now).await
    }

    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        self.working()?;
        let panics_at = *self.panics_at_load.lock().expect("an id");
        assert!(panics_at != Some(listed.id), "the store panics as the test wants");
        let faults = self.load_faults.lock().expect("load faults").clone();
        match faults.into_iter().find(|(id, _)| *id == listed.id) {
            Some((_, fault)) => fault.map_or(Ok(None), Err),
            None => self.store.load(listed).await,
        }
    }

    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        self.change(self.store.delete(id, now)).await
    }

    async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        self.change(self.store.delete_all(mailbox, before, now)).await
    }

    async fn remove_overlong(&self, latest: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.change(self.store.remove_overlong(latest, limit)).await
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        self.change(self.store.expire(now, limit)).await
    }

    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        self.working()?;
        self.store.domains().await
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        self.change(self.store.register_domain(record, limit)).await
    }

    async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        self.change(self.store.update_domain(record)).await
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        self.change(self.store.remove_domain(name)).await
    }

    async fn answers(&self) -> Result<(), StoreError> {
        self.working()?;
        self.store.answers().await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.working()?;
        self.store.stats().await
    }

    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError> {
        self.working()?;
        self.store.detailed_stats().await
    }

    fn backup(&self) -> BackupStream {
        self.store.backup()
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.store.close().await
    }
}
