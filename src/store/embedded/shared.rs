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

/// How long a reader waits for an index that is being reopened, as long as that has not failed: longer than the writer rests
/// before it tries.
const REOPENING_PATIENCE: Duration = Duration::from_secs(3);
/// How often a reader asks whose index fails under it: a page that can't be read is not asked for without end.
const READ_TRIES: usize = 3;
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

    /// Puts the index in its place, which nothing was written to but what its journal lacked.
    pub(super) fn set_index(&self, index: Arc<Index>) {
        self.index.store(Some(index));
        self.trouble.store(None);
        self.counters.index_reopened();
        // What its replay changed was counted by nobody.
        self.outbox_version.fetch_add(1, Ordering::SeqCst);
        self.remove_stand_in();
    }

    /// Has reads answered by an index that nobody writes, as long as there is no other.
    pub(super) fn set_stand_in(&self, index: Arc<Index>) {
        let before = self.stand_in.swap(Some(index));
        self.outbox_version.fetch_add(1, Ordering::SeqCst);
        if let Some(before) = before {
            before.cut_off();
        }
    }

    /// Whether what answers reads while there is no index is complete up to group `end`, and can be read.
    pub(super) fn has_stand_in(&self, end: u64) -> bool {
        let stand_in = self.stand_in.load();
        stand_in.as_ref().is_some_and(|it| !it.has_failed() && it.position().is_ok_and(|at| at.group == end))
    }

    /// What it shows of its file is about to be written over.
    fn remove_stand_in(&self) {
        if let Some(index) = self.stand_in.swap(None) {
            index.cut_off();
        }
    }

    /// Notes why the index can't be opened.
    pub(super) fn set_trouble(&self, cause: StoreError) {
        self.trouble.store(Some(Arc::new(cause)));
    }

    fn index_away(&self) -> StoreError {
        let trouble = self.trouble.load();
        trouble.as_deref().cloned().unwrap_or_else(|| StoreError::Failed("the index is being opened again".into()))
    }

    /// The index for a reader, who may block: until `deadline` for one that can be read, if it `must_be_sound`, or for any.
    fn index_by(&self, deadline: Instant, must_be_sound: bool) -> Result<Arc<Index>, StoreError> {
        loop {
            let known = [self.index(), self.stand_in.load_full()].into_iter().flatten();
            match known.into_iter().find(|index| !must_be_sound || !index.has_failed()) {
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

    /// Takes the index away from whoever reads it, since it is about to be opened again. What was not saved of it is lost to
    /// its file: the journal has it.
    pub(super) fn let_go_of_index(&self) {
        if let Some(index) = self.index.swap(None) {
            index.cut_off();
        }
    }

    /// Closes the index for good. Readers are waited for until `deadline`, so that it can be saved; whether it was.
    pub(super) fn close_index(&self, deadline: Instant) -> bool {
        self.remove_stand_in();
        let Some(mut index) = self.index.swap(None) else { return true };
        loop {
            match Arc::try_unwrap(index) {
                Ok(_) => return true,
                Err(shared) if Instant::now() < deadline => {
                    index = shared;
                    std::thread::sleep(LOOK_EVERY);
                }
                Err(shared) => {
                    shared.cut_off();
                    return false;
                }
            }
        }
    }

    /// Notes that the index is about to be opened again: readers wait for it.
    pub(super) fn clear_trouble(&self) {
        self.trouble.store(None);
    }

    /// Has a question answered, which may be asked again where the index fails meanwhile: then by the one that comes next.
    pub(super) fn read<T>(&self, mut read: impl FnMut(&View) -> Result<T, IndexError>) -> Result<T, StoreError> {
        let deadline = Instant::now() + REOPENING_PATIENCE;
        let mut tries = 1;
        loop {
            let index = self.index_by(deadline, tries > 1)?;
            match self.ask(&index, &mut read) {
                Err(error) if error.is_of_disk() && tries < READ_TRIES => tries += 1,
                answer => return answer.map_err(|error| error.to_store_error()),
            }
        }
    }

    /// Has an index asked. After an error of the disk it reads nothing more, and the writer has to know.
    fn ask<T>(&self, index: &Index, read: impl FnOnce(&View) -> Result<T, IndexError>) -> Result<T, IndexError> {
        index.view().and_then(|view| read(&view)).inspect_err(|error| {
            if error.is_of_disk() && index.note_failure() {
                // A writer that has ended opens nothing again.
                let _ = self.writer.send(Message::LookAtIndex);
            }
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
        match self.ask(&index, |view| view.takes(mailboxes, &self.options.caps, now)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::MailboxFull),
            Err(error) => Err(error.to_store_error()),
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
