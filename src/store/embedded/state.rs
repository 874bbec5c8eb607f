//! What the writer and the readers of an embedded store share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::counters::Counters;
use super::open::Opened;
use super::queue::{Message, Signal};
use crate::model::{Mailbox, Timestamp};
use crate::store::change::{Change, Outcome};
use crate::store::index::{Index, IndexError, View};
use crate::store::journal::{Segments, SpareView};
use crate::store::{OutboxVersion, StoreError, StoreOptions, StoreStats};

/// How long a reader waits for an index that is away.
const READ_PATIENCE: Duration = Duration::from_secs(3);
/// How often it is looked whether the index, or a reader that holds it, has come back.
const POLL_EVERY: Duration = Duration::from_millis(1);
/// While checkpoints fail, mail is taken until so many checkpoints' worth of journal would have to be replayed.
const UNSAVED_CHECKPOINTS_MAX: u64 = 4;

/// The index while it is open, the segments, and what decides whether more mail is taken.
#[derive(Debug)]
pub(super) struct StoreState {
    /// Empty while the index is being reopened or compacted, and after the close.
    index: ArcSwapOption<Index>,
    /// Why the index is away.
    index_failure: ArcSwapOption<StoreError>,
    writer: mpsc::Sender<Message>,
    writer_ended: CancellationToken,
    index_octets: AtomicU64,
    segments: Segments,
    spare: SpareView,
    options: StoreOptions,
    /// Octets of the journal that a start would replay since a checkpoint failed, 0 while none does.
    unsaved_octets: AtomicU64,
    outbox_hint: Arc<Notify>,
    /// Rises whenever what was read of the outbox before may not hold any more.
    outbox_version: AtomicU64,
    counters: Arc<Counters>,
}

impl StoreState {
    pub(super) fn new(opened: &Opened, options: StoreOptions, writer: mpsc::Sender<Message>) -> Self {
        let state = Self {
            index: ArcSwapOption::from(Some(Arc::clone(&opened.index))),
            index_failure: ArcSwapOption::empty(),
            writer,
            writer_ended: CancellationToken::new(),
            index_octets: AtomicU64::new(0),
            segments: opened.journal.segments().clone(),
            spare: opened.journal.spare(),
            options,
            unsaved_octets: AtomicU64::new(0),
            outbox_hint: Arc::default(),
            outbox_version: AtomicU64::new(0),
            counters: Arc::default(),
        };
        state.measure_index();
        state
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
    pub(super) fn record_outdated<'c>(&self, mut changes: impl Iterator<Item = (&'c Change, &'c Outcome)>) {
        if changes.any(|(change, outcome)| change.outdates_outbox(outcome)) {
            self.outbox_version.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(super) fn segments(&self) -> &Segments {
        &self.segments
    }

    pub(super) fn index(&self) -> Option<Arc<Index>> {
        self.index.load_full()
    }

    pub(super) fn has_index(&self) -> bool {
        self.index.load().is_some()
    }

    /// Puts an index that was opened again in its place.
    pub(super) fn set_index(&self, index: Arc<Index>) {
        self.give_index_back(index);
        self.index_failure.store(None);
        self.counters.index_reopened();
        // What its replay changed was counted by nobody.
        self.outbox_version.fetch_add(1, Ordering::SeqCst);
        self.outbox_hint.notify_one();
    }

    /// Takes the index out of the readers' hands, which it must come back to; `None` if they hold it until `deadline`.
    pub(super) fn borrow_index(&self, deadline: Instant) -> Option<Index> {
        let alone = wait_for_readers(self.index.swap(None)?, deadline);
        alone.map_err(|state| self.give_index_back(state)).ok()
    }

    pub(super) fn give_index_back(&self, index: Arc<Index>) {
        self.index.store(Some(index));
    }

    /// Sets why the index can't be opened.
    pub(super) fn set_index_failure(&self, cause: StoreError) {
        self.index_failure.store(Some(Arc::new(cause)));
    }

    fn index_unavailable(&self) -> StoreError {
        let failure = self.index_failure.load();
        failure.as_deref().cloned().unwrap_or_else(|| StoreError::Failed("the index is being opened again".into()))
    }

    /// Cancelled when the writer has ended by a defect.
    pub(super) fn writer_ended(&self) -> &CancellationToken {
        &self.writer_ended
    }

    /// Takes the index away from whoever reads it, since it is about to be opened again. What was not saved of it is lost to
    /// its file: the journal has it.
    pub(super) fn detach_index(&self) {
        if let Some(index) = self.index.swap(None) {
            index.cut_off();
        }
    }

    /// Closes the index for good. Readers are waited for until `deadline`, so that it can be saved; whether it was.
    pub(super) fn close_index(&self, deadline: Instant) -> bool {
        let Some(index) = self.index.swap(None) else { return true };
        wait_for_readers(index, deadline).inspect_err(|state| state.cut_off()).is_ok()
    }

    /// Has a question answered by a thread that may block: while the index is opened again or compacted, it waits for a
    /// moment, and then whoever asks has to ask later.
    pub(super) fn read<T>(&self, read: impl FnOnce(&View) -> Result<T, IndexError>) -> Result<T, StoreError> {
        let deadline = Instant::now() + READ_PATIENCE;
        let index = loop {
            match self.index() {
                Some(index) => break index,
                None if self.index_failure.load().is_some() || Instant::now() >= deadline => {
                    return Err(match self.index_unavailable() {
                        // A reader needs none.
                        StoreError::Full => StoreError::Failed("the index has no room on the disk".into()),
                        cause => cause,
                    });
                }
                None => std::thread::sleep(POLL_EVERY),
            }
        };
        self.ask(&index, read)
    }

    /// Has an index asked. After an error of the disk it reads nothing more, and the writer has to know.
    fn ask<T>(&self, index: &Index, read: impl FnOnce(&View) -> Result<T, IndexError>) -> Result<T, StoreError> {
        let answer = index.view().and_then(|view| read(&view)).inspect_err(|error| {
            if error.is_of_disk() && index.mark_failed() {
                // A writer that has ended opens nothing again.
                let _ = self.writer.send(Message::Signal(Signal::LookAtIndex));
            }
        });
        answer.map_err(|error| error.to_store_error())
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

    /// Sets how many octets of the journal a start would replay, where that is since a checkpoint failed.
    pub(super) fn set_unsaved_octets(&self, octets: u64) {
        self.unsaved_octets.store(octets, Ordering::Relaxed);
    }

    /// Whether the journal may grow before the next checkpoint. It may not without end while checkpoints fail; what frees
    /// space may for twice as long as mail.
    pub(super) fn is_savable(&self, frees_space: bool) -> Result<(), StoreError> {
        let StoreOptions { checkpoint_octets, segment_octets, .. } = self.options;
        let of_mail = checkpoint_octets.saturating_mul(UNSAVED_CHECKPOINTS_MAX).max(segment_octets);
        let most = if frees_space { of_mail.saturating_mul(2) } else { of_mail };
        if self.unsaved_octets.load(Ordering::Relaxed) < most {
            return Ok(());
        }
        Err(StoreError::Failed("the index could not be saved for too long".into()))
    }

    /// Whether a message of the largest size could be kept now.
    pub(super) fn accepts(&self) -> Result<(), StoreError> {
        if self.writer_ended.is_cancelled() {
            return Err(StoreError::WriterEnded);
        }
        if let Some(failure) = self.spare.failure() {
            return Err(failure.to_store_error());
        }
        self.has_room_for_mail()?;
        if !self.has_index() {
            return Err(self.index_unavailable());
        }
        self.is_savable(false)
    }

    /// Whether the disk has room for a message of the largest size: the index's next growth, one more segment, and one and a
    /// half times the message.
    pub(super) fn has_room_for_mail(&self) -> Result<(), StoreError> {
        let StoreOptions { segment_octets, message_octets_max, .. } = self.options;
        let needed = self.index_octets.load(Ordering::Relaxed) + segment_octets + message_octets_max * 3 / 2;
        match self.segments.disk().free_octets() {
            Ok(free) if free < needed => Err(StoreError::Full),
            Ok(_) => Ok(()),
            Err(error) => Err(StoreError::from_io(&error)),
        }
    }

    /// Whether the caps leave room for one more Email. Waits for no index that is away.
    pub(super) fn check_caps(&self, mailboxes: &[Mailbox], now: Timestamp) -> Result<(), StoreError> {
        if !self.options.caps.are_set() {
            return Ok(());
        }
        let index = self.index().ok_or_else(|| self.index_unavailable())?;
        if self.ask(&index, |view| view.has_room(mailboxes, &self.options.caps, now))? {
            return Ok(());
        }
        Err(StoreError::MailboxFull)
    }

    pub(super) fn stats(&self) -> Result<StoreStats, StoreError> {
        let mut stats = self.read(View::stats)?;
        stats.segments = self.segments.numbers().len() as u64;
        stats.held_octets = self.segments.held_octets();
        let disk = self.segments.disk();
        let failed = |error| StoreError::from_io(&error);
        stats.index_octets = Index::octets(disk).map_err(failed)?;
        let names = disk.list().map_err(failed)?;
        // A file that is removed meanwhile counts no more.
        stats.disk_octets = names.iter().filter_map(|name| disk.open(name).ok()?.size().ok()).sum();
        Ok(stats)
    }
}

/// The index without a reader, or still state at `deadline`.
fn wait_for_readers(mut index: Arc<Index>, deadline: Instant) -> Result<Index, Arc<Index>> {
    loop {
        match Arc::try_unwrap(index) {
            Ok(alone) => return Ok(alone),
            Err(state) if Instant::now() < deadline => {
                index = state;
                std::thread::sleep(POLL_EVERY);
            }
            Err(state) => return Err(state),
        }
    }
}
