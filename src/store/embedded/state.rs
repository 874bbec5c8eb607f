//! The state that the writer and the readers of an embedded store share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::counters::Counters;
use super::open::Opened;
use super::queue::{Signal, WriterCommand};
use crate::events::{Hub, Moment, Subscription, Topic};
use crate::model::{Mailbox, Timestamp};
use crate::store::change::{Change, ChangeResult};
use crate::store::index::{GroupEvents, Index, IndexError, View};
use crate::store::journal::{Segments, SpareView};
use crate::store::names::{HashKey, tag, topic};
use crate::store::{OutboxVersion, StoreError, StoreOptions, StoreStats};

/// How long a reader waits while the index is not open.
const READ_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a waiting thread checks whether the index is open, or free of readers.
const POLL_EVERY: Duration = Duration::from_millis(1);
/// While checkpoints fail, mail is accepted until a start would replay the journal of this many checkpoints.
const UNSAVED_CHECKPOINTS_MAX: u64 = 4;

/// The index while it is open, the segments, and what decides whether mail is accepted.
#[derive(Debug)]
pub(super) struct StoreState {
    /// `None` while the index is reopened or compacted, and after the close.
    index: ArcSwapOption<Index>,
    /// Why the index cannot be reopened.
    index_failure: ArcSwapOption<StoreError>,
    writer: mpsc::Sender<WriterCommand>,
    writer_ended: CancellationToken,
    index_octets: AtomicU64,
    segments: Segments,
    spare: SpareView,
    options: StoreOptions,
    /// Octets of the journal that a start would replay. 0 while checkpoints succeed.
    unsaved_octets: AtomicU64,
    outbox_hint: Arc<Notify>,
    /// Grows whenever earlier reads of the outbox may be outdated.
    outbox_version: AtomicU64,
    counters: Arc<Counters>,
    hash_key: HashKey,
    hub: Arc<Hub>,
}

impl StoreState {
    pub(super) fn new(opened: &Opened, options: StoreOptions, writer: mpsc::Sender<WriterCommand>) -> Self {
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
            hash_key: opened.index.hash_key,
            hub: Arc::default(),
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

    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(super) fn subscribe(&self, mailbox: Option<&Mailbox>, events_max: usize) -> Subscription {
        let topic = mailbox.map_or(Topic::ALL, |mailbox| topic(&self.hash_key, mailbox));
        self.hub.subscribe(topic, events_max)
    }

    /// The tag of positions in the events of a mailbox, or of all.
    pub(super) fn tag(&self, mailbox: Option<&Mailbox>) -> u32 {
        tag(&self.hash_key, mailbox)
    }

    /// Tells subscribers what happened to Emails in a group that every new view shows.
    pub(super) fn publish(&self, events: GroupEvents, visible_at: Option<Moment>) {
        match events {
            Some(events) => events.iter().for_each(|(topic, event)| self.hub.publish(*topic, event)),
            // Nobody watched when the group was applied, or too much happened.
            None if self.hub.is_watched() => visible_at.into_iter().for_each(|moment| self.hub.miss_before(moment)),
            None => {}
        }
    }

    pub(super) fn outbox_hint(&self) -> Arc<Notify> {
        Arc::clone(&self.outbox_hint)
    }

    pub(super) fn outbox_version(&self) -> OutboxVersion {
        OutboxVersion(self.outbox_version.load(Ordering::SeqCst))
    }

    /// Records the results of changes that every new view shows.
    pub(super) fn record_outdated<'c>(&self, mut changes: impl Iterator<Item = (&'c Change, &'c ChangeResult)>) {
        if changes.any(|(change, result)| change.outdates_outbox(result)) {
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

    /// Sets an index that was reopened.
    pub(super) fn set_index(&self, index: Arc<Index>) {
        self.give_index_back(index);
        self.index_failure.store(None);
        self.counters.index_reopened();
        // Nobody has seen the results of the replayed changes, so assume that they outdate the outbox and all else.
        self.hub.miss_before(self.hub.moment());
        self.outbox_version.fetch_add(1, Ordering::SeqCst);
        self.outbox_hint.notify_one();
    }

    /// Takes the index away from new readers and waits for the current ones. The caller must give it back.
    ///
    /// `None` if a reader still uses it at `deadline`.
    pub(super) fn borrow_index(&self, deadline: Instant) -> Option<Index> {
        let alone = wait_for_readers(self.index.swap(None)?, deadline);
        alone.map_err(|state| self.give_index_back(state)).ok()
    }

    pub(super) fn give_index_back(&self, index: Arc<Index>) {
        self.index.store(Some(index));
    }

    /// Sets why the index cannot be opened.
    pub(super) fn set_index_failure(&self, cause: StoreError) {
        self.index_failure.store(Some(Arc::new(cause)));
    }

    fn index_unavailable(&self) -> StoreError {
        let failure = self.index_failure.load();
        failure.as_deref().cloned().unwrap_or_else(|| StoreError::Failed("the index is being reopened".into()))
    }

    /// Cancelled when the writer has panicked.
    pub(super) fn writer_ended(&self) -> &CancellationToken {
        &self.writer_ended
    }

    /// Closes the index without a save, since it is about to be reopened. The journal has everything that it loses.
    pub(super) fn detach_index(&self) {
        if let Some(index) = self.index.swap(None) {
            index.cut_off();
        }
    }

    /// Closes the index for good. Waits for readers until `deadline`, and returns whether the index could be saved.
    pub(super) fn close_index(&self, deadline: Instant) -> bool {
        let Some(index) = self.index.swap(None) else { return true };
        wait_for_readers(index, deadline).inspect_err(|state| state.cut_off()).is_ok()
    }

    /// Runs a read of the index. Waits for up to [`READ_TIMEOUT`] while the index is reopened or compacted.
    pub(super) fn read<T>(&self, read: impl FnOnce(&View) -> Result<T, IndexError>) -> Result<T, StoreError> {
        let deadline = Instant::now() + READ_TIMEOUT;
        let index = loop {
            match self.index() {
                Some(index) => break index,
                None if self.index_failure.load().is_some() || Instant::now() >= deadline => {
                    return Err(match self.index_unavailable() {
                        // "The disk is full" would be wrong for a read.
                        StoreError::Full => StoreError::Failed("the index has no room on the disk".into()),
                        cause => cause,
                    });
                }
                None => std::thread::sleep(POLL_EVERY),
            }
        };
        self.ask(&index, read)
    }

    /// Runs a read on an index. After an error of the disk the writer must reopen that index.
    pub(super) fn ask<T>(
        &self,
        index: &Index,
        read: impl FnOnce(&View) -> Result<T, IndexError>,
    ) -> Result<T, StoreError> {
        let answer = index.view().and_then(|view| read(&view)).inspect_err(|error| {
            if error.is_of_disk() && index.mark_failed() {
                // This fails only if the writer has ended.
                let _ = self.writer.send(WriterCommand::Signal(Signal::CheckIndex));
            }
        });
        answer.map_err(|error| error.to_store_error())
    }

    pub(super) fn spare(&self) -> &SpareView {
        &self.spare
    }

    /// Measures the index. As it grows by doubling, the next segment must leave as much room on the disk.
    pub(super) fn measure_index(&self) -> u64 {
        let known = self.index_octets.load(Ordering::Relaxed);
        let octets = self.index.load().as_ref().map_or(known, |index| index.octets());
        self.index_octets.store(octets, Ordering::Relaxed);
        self.spare.reserve(octets);
        octets
    }

    /// Sets how many octets of the journal a start would replay after failed checkpoints.
    pub(super) fn set_unsaved_octets(&self, octets: u64) {
        self.unsaved_octets.store(octets, Ordering::Relaxed);
    }

    /// Checks whether the journal may grow before the next checkpoint.
    ///
    /// While checkpoints fail, its growth is limited. Changes that free space have twice the limit of mail.
    pub(super) fn is_savable(&self, frees_space: bool) -> Result<(), StoreError> {
        let StoreOptions { checkpoint_octets, segment_octets, .. } = self.options;
        let of_mail = checkpoint_octets.saturating_mul(UNSAVED_CHECKPOINTS_MAX).max(segment_octets);
        let most = if frees_space { of_mail.saturating_mul(2) } else { of_mail };
        if self.unsaved_octets.load(Ordering::Relaxed) < most {
            return Ok(());
        }
        Err(StoreError::Failed("the index could not be saved for too long".into()))
    }

    /// Checks whether a message of the largest size could be stored now.
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

    /// Checks whether the disk has room for a message of the largest size.
    ///
    /// That is the index's next growth, one more segment, and one and a half times the message.
    pub(super) fn has_room_for_mail(&self) -> Result<(), StoreError> {
        let StoreOptions { segment_octets, message_octets_max, .. } = self.options;
        let needed = self.index_octets.load(Ordering::Relaxed) + segment_octets + message_octets_max * 3 / 2;
        match self.segments.disk().free_octets() {
            Ok(free) if free < needed => Err(StoreError::Full),
            Ok(_) => Ok(()),
            Err(error) => Err(StoreError::from_io(&error)),
        }
    }

    /// Checks whether the cap permits one more Email of a mailbox. Fails at once if the index is not open.
    pub(super) fn check_cap(&self, mailbox: &Mailbox, now: Timestamp) -> Result<(), StoreError> {
        let cap = self.options.emails_per_mailbox_max;
        if cap == 0 {
            return Ok(());
        }
        let index = self.index().ok_or_else(|| self.index_unavailable())?;
        if self.ask(&index, |view| view.has_room(mailbox, cap, now))? {
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
        stats.index_octets = Index::octets_on(disk).map_err(failed)?;
        let names = disk.list().map_err(failed)?;
        // A file may have been removed meanwhile.
        stats.disk_octets = names.iter().filter_map(|name| disk.open(name).ok()?.size().ok()).sum();
        Ok(stats)
    }
}

/// Waits until the index has no other user. Returns it as it was if it still has one at `deadline`.
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
