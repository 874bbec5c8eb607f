//! The embedded store: a directory with a journal and a registry, rows of mail in memory, and one writer thread.
//!
//! ```text
//! mod            the trait Store: mail
//! records        the trait Registry: domains and webhooks
//! leases         the trait Leases
//! outbox         the trait Outbox: pending events
//! registry       what people typed in, in redb
//! queue, writer  the way of a request: queue, decision, journal, rows, answer
//! shared         what the writer and the readers share
//! open, load     opening a store, filling a new one
//! backup         the backup of a store in use
//! ```

mod backup;
mod leases;
mod load;
mod open;
mod outbox;
mod queue;
mod records;
mod registry;
mod shared;
mod writer;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::oneshot;

pub(super) use load::Loader;
use open::Opened;
use queue::{Queue, Swept};
pub use registry::EmbeddedRegistry;
pub use registry::carry_tokens;
use shared::Shared;

use super::change::RecordPlace;
use super::disk::{Directory, Disk};
use super::mail::{Mail, Outcome, Request};
use super::names::{named_hash, tag};
use super::{
    BackupStream, Cluster, DetailedStats, EmailsAfter, Expired, MailboxPage, NewestPage, NewestQuery, OpenError,
    PageRequest, Storage, Store, StoreError, StoreOptions, StoreStats,
};
use crate::events::{Position, Subscription};
use crate::metrics::{Measured, MetricFamily};
use crate::model::{Delivery, EmailId, Listed, Mailbox, StoredEmail, Timestamp, WebhookId};

/// The most Emails that one request of [`Store::delete_all`] removes.
const DELETE_STEP: usize = 1000;
/// How long dead octets wait before they are punched out. Most segments are dead as a whole by then, and go.
const PUNCH_AFTER: Duration = Duration::from_secs(20);

/// A store in a directory of this machine, which this process has locked.
#[derive(Debug)]
pub struct EmbeddedStore {
    shared: Arc<Shared>,
    queue: Queue,
}

impl EmbeddedStore {
    /// Opens the store in an existing directory, or creates one if the directory is empty. Blocks on the disk.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(Directory::lock(path)?), options).map_err(|error| error.within(path))
    }

    /// Opens the store on any disk. Blocks on the disk.
    pub fn open_on(disk: Arc<dyn Disk>, options: &StoreOptions) -> Result<Self, OpenError> {
        let Opened { mail, registry, journal } = open::open(&disk, options, rand::random())?;
        let (sender, commands) = mpsc::channel();
        let shared = Arc::new(Shared::new(mail, registry, (journal.files().clone(), journal.spare()), *options));
        let thread = writer::start(Arc::clone(&shared), journal, commands)
            .map_err(|error| OpenError::Io { path: "the writer thread".into(), reason: error.to_string() })?;
        Ok(Self { shared, queue: Queue::new(sender, thread) })
    }

    async fn request(&self, request: Request, content: Bytes) -> Result<Outcome, StoreError> {
        if self.shared.writer_ended.is_cancelled() {
            return Err(StoreError::WriterEnded);
        }
        self.queue.submit(request, content).await
    }

    /// Ends the events of webhooks that are gone for good. What the journal still says about them means nothing.
    fn forget(&self, gone: &[WebhookId]) {
        for webhook in gone {
            self.shared.mail_mut().forget_webhook(*webhook);
        }
    }

    /// Runs work that may wait for the disk on a thread for that.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let (answer, answered) = oneshot::channel();
        let work: Box<dyn FnOnce() + Send> = Box::new(move || {
            // This fails only if the caller has gone.
            let _ = answer.send(work(&shared));
        });
        tokio::task::spawn_blocking(work);
        answered.await.unwrap_or_else(|_| Err(StoreError::Failed("work on the disk ended early".into())))
    }
}

impl Cluster for EmbeddedStore {}

impl Measured for EmbeddedStore {
    fn metrics(&self) -> Vec<MetricFamily> {
        self.shared.counters.metrics()
    }
}

#[async_trait]
impl Storage for EmbeddedStore {
    /// Waits until the writer thread has panicked.
    ///
    /// From then on every change fails with [`StoreError::WriterEnded`]. Reads still work.
    async fn ended(&self) {
        self.shared.writer_ended.cancelled().await;
    }

    fn derived_secret(&self, purpose: &str) -> [u8; 16] {
        named_hash(&self.shared.secret, "secret", purpose)
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        let limit = self.shared.options.message_octets_max;
        if delivery.raw.len() as u64 > limit {
            return Err(StoreError::TooLarge { limit });
        }
        let content = delivery.raw.clone();
        let has_own_life = delivery.envelope.has_own_life();
        match self.request(Request::Receive { delivery, has_own_life }, content).await? {
            Outcome::MailboxFull => Err(StoreError::MailboxFull),
            Outcome::Full => Err(StoreError::Full),
            _ => Ok(()),
        }
    }

    fn accepts(&self) -> Result<(), StoreError> {
        if self.queue.is_closed() && !self.shared.writer_ended.is_cancelled() {
            return Err(StoreError::Stopping);
        }
        self.shared.accepts()
    }

    fn shortage(&self) -> Option<String> {
        self.shared.shortage()
    }

    fn check_cap(&self, mailbox: &Mailbox, now: Timestamp) -> Result<(), StoreError> {
        self.shared.check_cap(mailbox, now)
    }

    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError> {
        Ok(self.shared.mail().list(mailbox, page, now))
    }

    async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError> {
        Ok(self.shared.mail().list_before(mailbox, before, limit, now))
    }

    async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError> {
        Ok(self.shared.mail().list_after(mailbox, after, limit, now))
    }

    async fn begin_of(&self, mailbox: &Mailbox, since: Timestamp) -> Result<u64, StoreError> {
        Ok(self.shared.mail().begin_of(mailbox, since))
    }

    fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        self.shared.subscribe(mailbox, events_max)
    }

    async fn position(&self, mailbox: Option<&Mailbox>) -> Result<Position, StoreError> {
        let sequence = self.shared.mail().last_sequence();
        Ok(Position { tag: tag(&self.shared.secret, mailbox), sequence })
    }

    async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError> {
        Ok(self.shared.mail().newest(&query, now))
    }

    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        Ok(self.shared.mail().find(id, now))
    }

    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        let listed = listed.clone();
        self.shared.load(listed, |mail, listed| mail.find(listed.id, Timestamp::from_millis(i64::MIN)).is_some())
    }

    fn load_cached(&self, listed: &Listed) -> Option<StoredEmail> {
        let content =
            self.shared.files.read_cached(RecordPlace::of(listed)).filter(|content| content.has(listed.id))?;
        Some(StoredEmail { listed: listed.clone(), envelope: content.envelope, raw: content.raw })
    }

    fn reads_content_cached(&self) -> bool {
        true
    }

    fn read_content_cached(&self, listed: &Listed, start: usize, out: &mut [u8]) -> bool {
        let place = RecordPlace::of(listed);
        let is_within = start.checked_add(out.len()).is_some_and(|end| end <= place.content as usize);
        let content_start = u64::from(place.offset) + u64::from(place.length.saturating_sub(place.content));
        is_within && self.shared.files.read_part_cached(place.segment, content_start + start as u64, out)
    }

    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        // An unknown id must not cause a write, since anybody may send one.
        if self.shared.mail().find(id, now).is_none() {
            return Ok(false);
        }
        let (readable, _) = self.request(Request::Delete { id, now }, Bytes::new()).await?.removed();
        Ok(readable > 0)
    }

    async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        // The number comes first: what arrives afterwards stays.
        let through = self.shared.mail().last_sequence().min(before.saturating_sub(1));
        let mut deleted = 0;
        loop {
            let request = Request::DeleteAll { mailbox: mailbox.clone(), through, now, limit: DELETE_STEP };
            let (readable, more) = self.request(request, Bytes::new()).await?.removed();
            deleted += readable;
            if !more {
                return Ok(deleted);
            }
        }
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        let Swept { removed, last_group } = self.queue.sweep(now, limit).await?;
        self.blocking(move |shared| {
            let flushed = shared.registry.flush();
            if let Err(error) = &flushed {
                tracing::warn!(%error, "what was learnt of webhooks could not be written; the next second tries again");
            }
            // Only what is known to have expired, whatever the clock says later, may lose its octets.
            if flushed.is_ok() {
                // After the clock was set back, what waited is due at once.
                let is_due = |at: Timestamp| now.since(at).max(at.since(now)) >= PUNCH_AFTER;
                shared.punch(is_due, last_group, || true);
            }
            Ok(())
        })
        .await?;
        Ok(Expired { removed, next_due_at: self.shared.mail().next_due_at() })
    }

    async fn answers(&self) -> Result<(), StoreError> {
        self.queue.answers().await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.blocking(Shared::stats).await
    }

    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError> {
        self.blocking(|shared| {
            let (oldest, newest) = shared.mail().span().unzip();
            let domains = shared.registry.domain_count() as u64;
            Ok(DetailedStats { domains, oldest, newest, stats: shared.stats()? })
        })
        .await
    }

    fn backup(&self, now: Timestamp) -> BackupStream {
        backup::stream(Arc::clone(&self.shared), now)
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.queue.close().await;
        if self.shared.writer_ended.is_cancelled() { Err(StoreError::WriterEnded) } else { Ok(()) }
    }
}

impl Shared {
    /// Reads a message. `None` if `is_wanted` says, once its octets could not be read, that it has gone meanwhile.
    ///
    /// [`StoreError::Damaged`] if it has not.
    fn load(
        &self,
        listed: Listed,
        is_wanted: impl FnOnce(&Mail, &Listed) -> bool,
    ) -> Result<Option<StoredEmail>, StoreError> {
        let place = RecordPlace::of(&listed);
        let content = self.files.read(place).map_err(|error| StoreError::from_io(&error))?;
        // The file of a dead segment may have been written again.
        if let Some(content) = content.filter(|content| content.has(listed.id)) {
            return Ok(Some(StoredEmail { listed, envelope: content.envelope, raw: content.raw }));
        }
        if !is_wanted(&self.mail(), &listed) {
            return Ok(None);
        }
        Err(StoreError::Damaged { segment: u64::from(place.segment), offset: u64::from(place.offset) })
    }
}
