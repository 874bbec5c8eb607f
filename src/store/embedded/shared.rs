//! What the writer and the readers of an embedded store share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, mpsc};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::counters::Counters;
use super::open::Opened;
use super::queue::Message;
use crate::model::{Mailbox, Timestamp};
use crate::store::change::{Change, Outcome};
use crate::store::index::{Index, IndexError, View};
use crate::store::journal::{Segments, SpareView};
use crate::store::{OutboxVersion, StoreError, StoreOptions, StoreStats};

/// How long a reader waits for an index that is being reopened, as long as that has not failed.
const REOPENING_PATIENCE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The index while it is open, the segments, and what decides whether more mail is taken.
#[derive(Debug)]
pub(super) struct Shared {
    /// Empty while the index is being reopened and after the close.
    index: ArcSwapOption<Index>,
    /// For readers alone, while the index can't be opened.
    stand_in: ArcSwapOption<Index>,
    /// Why the index is away.
    trouble: ArcSwapOption<StoreError>,
    writer: mpsc::Sender<Message>,
    writer_ended: CancellationToken,
    index_octets: AtomicU64,
    segments: Segments,
    spare: SpareView,
    options: StoreOptions,
    /// Taken for writing while messages are moved, for reading by who relies on where they are.
    moves: RwLock<()>,
    outbox_hint: Arc<Notify>,
    /// Rises whenever what was read of the outbox before may not hold any more.
    outbox_version: AtomicU64,
    counters: Arc<Counters>,
}

impl Shared {
    pub(super) fn new(opened: &Opened, options: StoreOptions, writer: mpsc::Sender<Message>) -> Self {
        let shared = Self {
            index: ArcSwapOption::from(Some(Arc::clone(&opened.index))),
            stand_in: ArcSwapOption::empty(),
            trouble: ArcSwapOption::empty(),
            writer,
            writer_ended: CancellationToken::new(),
            index_octets: AtomicU64::new(0),
            segments: opened.journal.segments().clone(),
            spare: opened.journal.spare(),
            options,
            moves: RwLock::default(),
            outbox_hint: Arc::default(),
            outbox_version: AtomicU64::new(0),
            counters: Arc::default(),
        };
        shared.measure_index();
        shared
    }

    pub(super) fn options(&self) -> &StoreOptions {
        &self.options
    }

    pub(super) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    pub(super) fn outbox_hint(&self) -> Arc<Notify> {
        Arc::clone(&self.outbox_hint)
    }

    pub(super) fn outbox_version(&self) -> OutboxVersion {
        OutboxVersion(self.outbox_version.load(Ordering::SeqCst))
    }

    /// Takes note of changes that every view from here on shows, and what became of them.
    pub(super) fn note_outdated<'c>(
        &self,
        mut changes: impl Iterator<Item = (&'c Change, &'c Result<Outcome, StoreError>)>,
    ) {
        let is_outdated = |(change, outcome): (&Change, &Result<Outcome, StoreError>)| {
            outcome.as_ref().map_or(true, |outcome| change.outdates_outbox(outcome))
        };
        if changes.any(is_outdated) {
            self.outbox_version.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(super) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Has every message stay where it is until what is returned is dropped. Waits for those that are being moved.
    pub(super) fn hold_moves(&self) -> RwLockReadGuard<'_, ()> {
        self.moves.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leave to move messages until what is returned is dropped; `None` while somebody holds them.
    pub(super) fn begin_moves(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        match self.moves.try_write() {
            Ok(leave) => Some(leave),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Tells the writer something; whether there is one.
    pub(super) fn tell_writer(&self, message: Message) -> bool {
        self.writer.send(message).is_ok()
    }

    pub(super) fn index(&self) -> Option<Arc<Index>> {
        self.index.load_full()
    }

    pub(super) fn set_index(&self, index: Arc<Index>) {
        self.index.store(Some(index));
        self.trouble.store(None);
        self.counters.index_reopened();
        // What its replay changed was counted by nobody.
        self.outbox_version.fetch_add(1, Ordering::SeqCst);
    }

    /// Has reads answered by an index that is complete and that nobody writes, as long as there is no other.
    pub(super) fn set_stand_in(&self, index: Arc<Index>) {
        self.stand_in.store(Some(index));
        self.outbox_version.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes why the index can't be opened.
    pub(super) fn set_trouble(&self, cause: StoreError) {
        self.trouble.store(Some(Arc::new(cause)));
    }

    fn index_away(&self) -> StoreError {
        let trouble = self.trouble.load();
        trouble.as_deref().cloned().unwrap_or_else(|| StoreError::Failed("the index is being opened again".into()))
    }

    /// The index for a reader, who may block.
    fn index_in_a_moment(&self) -> Result<Arc<Index>, StoreError> {
        let deadline = Instant::now() + REOPENING_PATIENCE;
        loop {
            match self.index().or_else(|| self.stand_in.load_full()) {
                Some(index) => return Ok(index),
                None if self.trouble.load().is_some() || Instant::now() >= deadline => return Err(self.index_away()),
                None => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Cancelled when the writer has ended by a defect.
    pub(super) fn writer_ended(&self) -> &CancellationToken {
        &self.writer_ended
    }

    /// Closes the index, or what stands in for it. Readers that are at it are waited for, up to `grace`, since whoever
    /// opens the file again writes to it.
    pub(super) fn close_index(&self, grace: Duration) -> Result<(), StoreError> {
        let deadline = Instant::now() + grace;
        close(&self.index, deadline)?;
        close(&self.stand_in, deadline)
    }

    /// Notes that the index is about to be opened again: readers wait for it.
    pub(super) fn clear_trouble(&self) {
        self.trouble.store(None);
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&View) -> Result<T, IndexError>) -> Result<T, StoreError> {
        self.ask(&*self.index_in_a_moment()?, read)
    }

    /// Has an index asked. After an error of the disk it reads nothing more, and the writer has to know.
    fn ask<T>(&self, index: &Index, read: impl FnOnce(&View) -> Result<T, IndexError>) -> Result<T, StoreError> {
        index.view().and_then(|view| read(&view)).map_err(|error| {
            if index.note_failure(&error) {
                // A writer that has ended opens nothing again.
                let _ = self.writer.send(Message::LookAtIndex);
            }
            error.to_store_error()
        })
    }

    pub(super) fn spare(&self) -> &SpareView {
        &self.spare
    }

    /// Notes how many octets the index has: it grows by doubling, and the room for that must be there.
    pub(super) fn measure_index(&self) -> u64 {
        let known = self.index_octets.load(Ordering::Relaxed);
        let octets = Index::octets(self.segments.disk()).unwrap_or(known);
        self.index_octets.store(octets, Ordering::Relaxed);
        self.spare.reserve(octets);
        octets
    }

    /// Whether a message of the largest size would find room: the index's next growth, one more segment, and one and a
    /// half times the message.
    pub(super) fn accepts(&self) -> Result<(), StoreError> {
        if self.writer_ended.is_cancelled() {
            return Err(StoreError::WriterEnded);
        }
        if let Some(failure) = self.spare.failure() {
            return Err(failure.to_store_error());
        }
        if self.index.load().is_none() {
            return Err(self.index_away());
        }
        let StoreOptions { segment_octets, message_octets_max, .. } = self.options;
        let needed = self.index_octets.load(Ordering::Relaxed) + segment_octets + message_octets_max * 3 / 2;
        match self.segments.disk().free_octets() {
            Ok(free) if free < needed => Err(StoreError::Full),
            Ok(_) => Ok(()),
            Err(error) => Err(StoreError::from_io(&error)),
        }
    }

    /// Whether the caps leave room for one more Email. Waits for no index that is being opened again.
    pub(super) fn takes(&self, mailboxes: &[Mailbox], now: Timestamp) -> Result<(), StoreError> {
        if !self.options.caps.are_set() {
            return Ok(());
        }
        let index = self.index().ok_or_else(|| self.index_away())?;
        if self.ask(&index, |view| view.takes(mailboxes, &self.options.caps, now))? {
            Ok(())
        } else {
            Err(StoreError::MailboxFull)
        }
    }

    pub(super) fn stats(&self) -> Result<StoreStats, StoreError> {
        let mut stats = self.read(View::stats)?;
        stats.segments = self.segments.numbers().len() as u64;
        let disk = self.segments.disk();
        let failed = |error| StoreError::from_io(&error);
        stats.index_octets = Index::octets(disk).map_err(failed)?;
        let names = disk.list().map_err(failed)?;
        // A file that is removed meanwhile counts no more.
        stats.disk_octets = names.iter().filter_map(|name| disk.open(name).ok()?.size().ok()).sum();
        Ok(stats)
    }
}

fn close(slot: &ArcSwapOption<Index>, deadline: Instant) -> Result<(), StoreError> {
    let Some(mut index) = slot.swap(None) else { return Ok(()) };
    loop {
        match Arc::try_unwrap(index) {
            Ok(index) => {
                drop(index);
                return Ok(());
            }
            Err(shared) if Instant::now() < deadline => {
                index = shared;
                std::thread::sleep(LOOK_EVERY);
            }
            Err(shared) => {
                slot.store(Some(shared));
                return Err(StoreError::Failed("a reader holds the index".into()));
            }
        }
    }
}
