//! The embedded store: a directory with a journal and an index, and one writer thread.
//!
//! ```text
//! mod, outbox          the traits Store and Outbox
//! queue, writer        the way of a change: queue, group, journal, index, answer
//! state                what the writer and the readers share
//! open, load           opening a store, filling a new one
//! checkpoint           making the index durable; punching removes deleted messages after it
//! segment_compaction   copies messages of pending events out of mostly free segments
//! recovery             reopens an index that failed
//! index_headroom       makes sure that the index can grow
//! backup               backups and detailed counts of a store in use
//! counters             counters for metrics; drop_warnings logs dropped events
//! ```

mod backup;
mod checkpoint;
mod counters;
mod index_headroom;
mod load;
mod open;
mod outbox;
mod punching;
mod queue;
mod recovery;
mod segment_compaction;
mod state;
mod writer;

use std::path::Path;
use std::sync::{Arc, mpsc};

use async_trait::async_trait;
use bytes::Bytes;

pub(super) use load::Loader;
use queue::Queue;
use state::StoreState;

use super::change::{Change, ChangeResult, SweepFilter};
use super::disk::{self, Directory, Disk};
use super::index::{View, record_place};
use super::journal::RecordPlace;
use super::{
    BackupStream, DetailedStats, EmailsAfter, Expired, IndexError, MailboxPage, NewestPage, NewestQuery, OpenError,
    PageRequest, Registration, Storage, Store, StoreError, StoreOptions, StoreStats,
};
use crate::events::{Position, Subscription};
use crate::model::{Delivery, DomainName, DomainRecord, EmailId, Listed, Mailbox, StoredEmail, Timestamp};

/// The most Emails that one change of [`Store::delete_all`] removes.
const DELETE_STEP: u32 = 1000;
/// The most rows that a list reads on its caller's thread, which may serve sockets.
///
/// That takes some tens of microseconds while the pages are in memory. A change of threads would cost more.
const FEW_ROWS: u64 = 500;

/// A store in a directory of this machine, which this process has locked.
#[derive(Debug)]
pub struct EmbeddedStore {
    state: Arc<StoreState>,
    queue: Queue,
}

impl EmbeddedStore {
    /// Whether a directory holds a store. Opens no file.
    pub fn is_in(path: &Path) -> bool {
        disk::staging::is_there(path)
    }

    /// Opens the store in an existing directory, or creates one if the directory is empty. Blocks on the disk.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(Directory::lock(path)?), options).map_err(|error| error.within(path))
    }

    /// Opens the store on any disk. Blocks on the disk.
    pub fn open_on(disk: Arc<dyn Disk>, options: &StoreOptions) -> Result<Self, OpenError> {
        let opened = open::open(&disk, options)?;
        let (sender, messages) = mpsc::channel();
        let state = Arc::new(StoreState::new(&opened, *options, sender.clone()));
        let queue = writer::start(Arc::clone(&state), opened, sender, messages)?;
        Ok(Self { state, queue })
    }

    async fn change(&self, change: Change, content: Bytes) -> Result<ChangeResult, StoreError> {
        if self.state.writer_ended().is_cancelled() {
            return Err(StoreError::WriterEnded);
        }
        self.queue.submit(change, content).await
    }

    /// Repeats a change until nothing is left to change. Returns how many it changed.
    async fn changed(&self, change: Change) -> Result<usize, StoreError> {
        let mut changed = 0;
        loop {
            match self.change(change.clone(), Bytes::new()).await? {
                ChangeResult::Changed { number, more } => {
                    changed += number;
                    if !more {
                        return Ok(changed);
                    }
                }
                other => return Err(unexpected(&other)),
            }
        }
    }

    async fn has_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        let name = name.clone();
        self.read(move |view| Ok(view.domains()?.iter().any(|domain| domain.name == name))).await
    }

    /// Runs a read on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&View) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let state = Arc::clone(&self.state);
        blocking(move || state.read(read)).await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(StoreError::Failed("a read ended early".into())),
    }
}

#[async_trait]
impl Storage for EmbeddedStore {
    /// Waits until the writer thread has panicked.
    ///
    /// From then on every change fails with [`StoreError::WriterEnded`]. Reads still work.
    async fn ended(&self) {
        self.state.writer_ended().cancelled().await;
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn receive(&self, delivery: Delivery) -> Result<(), StoreError> {
        let Delivery { envelope, raw, received_at, expires_at } = delivery;
        let limit = self.state.options().message_octets_max;
        if raw.len() as u64 > limit {
            return Err(StoreError::TooLarge { limit });
        }
        let StoreOptions { emails_per_mailbox_max: cap, outbox, .. } = *self.state.options();
        match self.change(Change::Received { envelope, received_at, expires_at, cap, outbox }, raw).await? {
            ChangeResult::MailboxFull => Err(StoreError::MailboxFull),
            _ => Ok(()),
        }
    }

    fn check_cap(&self, mailbox: &Mailbox, now: Timestamp) -> Result<(), StoreError> {
        self.state.check_cap(mailbox, now)
    }

    fn accepts(&self) -> Result<(), StoreError> {
        if self.queue.is_closed() && !self.state.writer_ended().is_cancelled() {
            return Err(StoreError::Stopping);
        }
        self.state.accepts()
    }

    async fn list(&self, mailbox: &Mailbox, page: PageRequest, now: Timestamp) -> Result<MailboxPage, StoreError> {
        if let Some(index) = self.state.index()
            && let Some(listed) = self.state.ask(&index, |view| view.list(mailbox, page, now, FEW_ROWS))?
        {
            return Ok(listed);
        }
        let mailbox = mailbox.clone();
        let listed = self.read(move |view| view.list(&mailbox, page, now, u64::MAX)).await?;
        listed.ok_or_else(|| StoreError::Failed("a list has more rows than can be counted".into()))
    }

    async fn list_before(
        &self,
        mailbox: &Mailbox,
        before: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Listed>, StoreError> {
        let mailbox = mailbox.clone();
        self.read(move |view| view.list_before(&mailbox, before, limit, now)).await
    }

    async fn list_after(
        &self,
        mailbox: &Mailbox,
        after: u64,
        limit: usize,
        now: Timestamp,
    ) -> Result<EmailsAfter, StoreError> {
        let mailbox = mailbox.clone();
        match self.state.index() {
            // A change of threads would cost more than so few rows.
            Some(index) => self.state.ask(&index, |view| view.list_after(&mailbox, after, limit, FEW_ROWS, now)),
            None => self.read(move |view| view.list_after(&mailbox, after, limit, FEW_ROWS, now)).await,
        }
    }

    fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        self.state.subscribe(mailbox, events_max)
    }

    async fn position(&self, mailbox: Option<&Mailbox>) -> Result<Position, StoreError> {
        let (sequence, _) = match self.state.index() {
            Some(index) => self.state.ask(&index, View::last_sequence)?,
            None => self.read(View::last_sequence).await?,
        };
        Ok(Position { tag: self.state.tag(mailbox), sequence })
    }

    async fn newest(&self, query: NewestQuery, now: Timestamp) -> Result<NewestPage, StoreError> {
        self.read(move |view| view.newest(&query, now)).await
    }

    async fn find(&self, id: EmailId, now: Timestamp) -> Result<Option<Listed>, StoreError> {
        match self.state.index() {
            // A change of threads would cost several times as much as these two rows.
            Some(index) => self.state.ask(&index, |view| view.find(id, now)),
            None => self.read(move |view| view.find(id, now)).await,
        }
    }

    async fn load(&self, listed: &Listed) -> Result<Option<StoredEmail>, StoreError> {
        self.state.load(listed.clone())
    }

    async fn delete(&self, id: EmailId, now: Timestamp) -> Result<bool, StoreError> {
        // An unknown id must not cause a write, since anybody may send one.
        if self.find(id, now).await?.is_none() {
            return Ok(false);
        }
        match self.change(Change::Deleted { id, now }, Bytes::new()).await? {
            ChangeResult::Removed { readable, .. } => Ok(readable > 0),
            other => Err(unexpected(&other)),
        }
    }

    async fn delete_all(&self, mailbox: &Mailbox, before: u64, now: Timestamp) -> Result<u64, StoreError> {
        // The number comes first: what arrives afterwards stays.
        let (last, group) = self.read(View::last_sequence).await?;
        let through = last.min(before.saturating_sub(1));
        let total = self.list(mailbox, PageRequest { offset: 0, limit: 0 }, now).await?.total;
        let mut deleted = 0;
        let mut is_left = total > 0;
        while is_left {
            let change = Change::MailboxDeleted { mailbox: mailbox.clone(), through, group, now, limit: DELETE_STEP };
            match self.change(change, Bytes::new()).await? {
                ChangeResult::Removed { readable, more, .. } => {
                    deleted += readable;
                    is_left = more;
                }
                other => return Err(unexpected(&other)),
            }
        }
        Ok(deleted)
    }

    async fn expire(&self, now: Timestamp, limit: usize) -> Result<Expired, StoreError> {
        let next_due_at = self.read(View::next_due_at).await?;
        if next_due_at.is_none_or(|next| next > now) {
            return Ok(Expired { removed: 0, next_due_at });
        }
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let removed = match self.change(Change::Expired { now, limit }, Bytes::new()).await? {
            ChangeResult::Removed { all, .. } => usize::try_from(all).unwrap_or(usize::MAX),
            other => return Err(unexpected(&other)),
        };
        Ok(Expired { removed, next_due_at: self.read(View::next_due_at).await? })
    }

    async fn domains(&self) -> Result<Vec<DomainRecord>, StoreError> {
        self.read(View::domains).await
    }

    async fn register_domain(&self, record: DomainRecord, limit: usize) -> Result<Registration, StoreError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        // Webhooks of an earlier registration must not get the mail of the new owner.
        if !self.has_domain(&record.name).await? {
            self.sweep(SweepFilter::Domain(record.name.clone())).await?;
        }
        match self.change(Change::DomainRegistered { record, limit }, Bytes::new()).await? {
            ChangeResult::Registered(registration) => Ok(registration),
            other => Err(unexpected(&other)),
        }
    }

    async fn update_domain(&self, record: DomainRecord) -> Result<bool, StoreError> {
        match self.change(Change::DomainUpdated { record }, Bytes::new()).await? {
            ChangeResult::Domain(was_registered) => Ok(was_registered),
            other => Err(unexpected(&other)),
        }
    }

    async fn remove_domain(&self, name: &DomainName) -> Result<bool, StoreError> {
        if !self.has_domain(name).await? {
            return Ok(false);
        }
        // The webhooks go first: after a crash in between, the next owner of the domain must not inherit them.
        self.sweep(SweepFilter::Domain(name.clone())).await?;
        match self.change(Change::DomainRemoved { name: name.clone() }, Bytes::new()).await? {
            ChangeResult::Domain(false) => Ok(false),
            ChangeResult::Domain(true) => {
                // Delete webhooks that were registered meanwhile.
                self.sweep(SweepFilter::Domain(name.clone())).await?;
                Ok(true)
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn answers(&self) -> Result<(), StoreError> {
        self.queue.answers().await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        let state = Arc::clone(&self.state);
        blocking(move || state.stats()).await
    }

    async fn detailed_stats(&self) -> Result<DetailedStats, StoreError> {
        self.count_in_steps().await
    }

    fn backup(&self) -> BackupStream {
        backup::stream(Arc::clone(&self.state))
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.queue.close().await;
        if self.state.writer_ended().is_cancelled() { Err(StoreError::WriterEnded) } else { Ok(()) }
    }
}

impl StoreState {
    fn load(&self, listed: Listed) -> Result<Option<StoredEmail>, StoreError> {
        let place = record_place(&listed);
        let content = self.segments().content(place).map_err(|error| StoreError::from_io(&error))?;
        if let Some(content) = content {
            return Ok(Some(StoredEmail { listed, envelope: content.envelope, raw: content.raw }));
        }
        // The Email was deleted and punched out meanwhile, or else the record is damaged. It was not relocated: that is for
        // messages without Emails.
        match self.read(|view| view.find(listed.id, Timestamp::from_millis(i64::MIN)))? {
            None => Ok(None),
            Some(_) => Err(damaged(place)),
        }
    }
}

fn damaged(place: RecordPlace) -> StoreError {
    StoreError::Damaged { segment: place.segment, offset: u64::from(place.offset) }
}

fn unexpected(result: &ChangeResult) -> StoreError {
    StoreError::Failed(format!("a change was answered with {result:?}"))
}
