//! The writer thread: takes the queued changes as one group, makes them durable, applies them, and answers.
//!
//! There is no timer: the changes that arrive during one commit are the next group, with those of threads that are ready to
//! run.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::checkpoint::Unsaved;
use super::open::Opened;
use super::punching::Punching;
use super::queue::{Job, Queue, Signal, WriterCommand, answer, answer_all, gather};
use super::recovery::{Backoff, OPENING_RETRY_MAX, SAVING_RETRY_MAX};
use super::state::StoreState;
use crate::events::Moment;
use crate::store::change::{Change, ChangeResult};
use crate::store::drop_warnings::{self, DropWarnings};
use crate::store::index::{Applied, GroupEvents, IndexError, SegmentUsage};
use crate::store::journal::{AppendError, Group, Journal, RecordPlace, group_room};
use crate::store::{OpenError, StoreError};

/// How long a close punches deleted messages and waits for readers. The next start punches the rest.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(1500);
/// The shortest time that a close gives to readers.
const LAST_READERS_GRACE: Duration = Duration::from_millis(200);

/// Starts the writer of an opened store.
pub(super) fn start(
    state: Arc<StoreState>,
    opened: Opened,
    sender: Sender<WriterCommand>,
    commands: Receiver<WriterCommand>,
) -> Result<Queue, OpenError> {
    let Opened { index, journal } = opened;
    let counters = Arc::clone(state.counters());
    // Only the state keeps the index, so that it can be replaced when it is reopened.
    drop(index);
    let mut writer = Writer {
        state: Arc::clone(&state),
        journal,
        // The first checkpoint punches out what the last process deleted and did not punch.
        unsaved: Some(Unsaved::now()),
        punching: Punching::default(),
        live_segments: None,
        opening: Backoff::new(OPENING_RETRY_MAX),
        saving: Backoff::new(SAVING_RETRY_MAX),
        compact_at: None,
        compacted_at: None,
        drop_warnings: DropWarnings::default(),
        unpublished: (None, None),
    };
    let thread = std::thread::Builder::new()
        .name("store-writer".into())
        .spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| writer.run(&commands)));
            if let Err(panic) = &ended {
                tracing::error!(cause = what_panicked(&**panic), "the writer of the store has ended");
                state.writer_ended().cancel();
            }
            // All files are closed before the waiting close returns, since its caller may open the directory at once. If the
            // writer panicked, this also drops the queue, so that its senders learn that their result is unknown.
            drop((writer, commands, state));
            drop(ended);
        })
        .map_err(|error| OpenError::Io { path: "the writer thread".into(), reason: error.to_string() })?;
    Ok(Queue::new(sender, counters, thread))
}

/// The message of a panic.
fn what_panicked(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

/// Handles a signal. Returns the sender to drop at the end if the signal was a close.
fn handle(signal: Signal) -> Option<oneshot::Sender<()>> {
    match signal {
        Signal::Close(done) => Some(done),
        Signal::Answer(answer) => {
            // This fails only if the caller has gone.
            let _ = answer.send(());
            None
        }
        // The writer checks the index whenever it becomes idle.
        Signal::CheckIndex => None,
    }
}

pub(super) struct Writer {
    pub(super) state: Arc<StoreState>,
    pub(super) journal: Journal,
    /// The changes since the last checkpoint, if any.
    pub(super) unsaved: Option<Unsaved>,
    pub(super) punching: Punching,
    /// The live segments of the last checkpoint, until segment compaction has used them.
    pub(super) live_segments: Option<BTreeMap<u64, SegmentUsage>>,
    /// The backoff for opening an index that failed.
    pub(super) opening: Backoff,
    /// The backoff for checkpoints that failed.
    pub(super) saving: Backoff,
    /// When to compact the index, since the disk is nearly full.
    pub(super) compact_at: Option<Instant>,
    /// When the last compaction was tried.
    pub(super) compacted_at: Option<Instant>,
    pub(super) drop_warnings: DropWarnings,
    /// What happened to Emails in the last group, and when it became visible.
    pub(super) unpublished: (GroupEvents, Option<Moment>),
}

impl Writer {
    /// Works until the store closes. Returns the sender to drop when all files are closed.
    fn run(&mut self, commands: &Receiver<WriterCommand>) -> Option<oneshot::Sender<()>> {
        let mut closing = None;
        while closing.is_none() {
            let first = match self.idle_until() {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => commands.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match first {
                Ok(WriterCommand::Change(job)) => {
                    let mut jobs = vec![job];
                    let behind = gather(commands, &mut jobs);
                    self.commit(jobs);
                    closing = behind.and_then(handle);
                }
                Ok(WriterCommand::Signal(signal)) => closing = handle(signal),
                Err(RecvTimeoutError::Timeout) => self.idle_work(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if closing.is_none() && self.is_checkpoint_due() {
                self.checkpoint();
                self.relocate();
            }
        }
        // Changes may have entered the queue after the close.
        for command in commands.try_iter() {
            if let WriterCommand::Change(job) = command {
                answer(job, Err(StoreError::Stopping));
            }
        }
        drop_warnings::warn(std::mem::take(&mut self.drop_warnings).into_unreported());
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        self.finish(deadline);
        self.state.set_index_failure(StoreError::Stopping);
        // The last checkpoint has made everything durable, so the index may be closed without a save.
        if !self.state.close_index(deadline.max(Instant::now() + LAST_READERS_GRACE)) {
            tracing::warn!("a reader still used the index, which was closed without another save; nothing is lost");
        }
        closing
    }

    /// When there is work even if no command arrives.
    fn idle_until(&self) -> Option<Instant> {
        if self.state.index().is_none_or(|index| index.has_failed()) {
            return Some(self.opening.until());
        }
        let quiet = self.state.options().checkpoint_quiet;
        let checkpoint_at = self.unsaved.as_ref().map(|_| (Instant::now() + quiet).max(self.saving.until()));
        let punched_at = self.punching.is_running().then(|| Instant::now() + Punching::POLL_EVERY);
        [checkpoint_at, punched_at, self.compact_at].into_iter().flatten().min()
    }

    /// Does the work that is due while no command arrives.
    fn idle_work(&mut self) {
        if self.state.index().is_some_and(|index| index.has_failed()) {
            tracing::error!("the index could not be read; it is reopened");
            return self.open_index_anew();
        }
        if let Err(error) = self.ensure_index() {
            let wait = self.opening.failed();
            tracing::error!(%error, again_in_ms = wait.as_millis(), "the index could not be reopened; a retry follows");
            return;
        }
        let is_quiet = !self.punching.is_running();
        self.record_punched();
        if self.compact_at.is_some_and(|at| at <= Instant::now()) {
            self.compact_index();
        }
        if is_quiet {
            self.checkpoint();
            self.relocate();
        }
    }

    /// Commits the changes of `jobs` and answers each. A segment's size may require several groups.
    fn commit(&mut self, jobs: Vec<Job>) {
        let room = group_room(self.state.options());
        let mut jobs = jobs.into_iter().peekable();
        while jobs.peek().is_some() {
            let mut group = Group::new();
            let mut taken = Vec::new();
            while let Some(job) = jobs.next_if(|_| taken.is_empty() || group.octets() as u64 <= room) {
                match group.push(&job.change, &job.content) {
                    Ok(()) => taken.push(job),
                    Err(error) => answer(job, Err(error)),
                }
            }
            self.commit_group(group, taken);
        }
    }

    fn commit_group(&mut self, group: Group, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let taken_at = Instant::now();
        let changes: Vec<&Change> = jobs.iter().map(|job| &job.change).collect();
        match self.write_group(group, &changes) {
            Ok(results) => {
                self.state.counters().committed(taken_at.elapsed());
                // This comes before the answers: a caller that has deleted a webhook relies on it.
                self.state.record_outdated(jobs.iter().map(|job| &job.change).zip(&results));
                if results.iter().any(|it| matches!(it, ChangeResult::Received { has_events: true, .. })) {
                    self.state.outbox_hint().notify_one();
                }
                for (job, result) in jobs.into_iter().zip(results) {
                    answer(job, Ok(result));
                }
                let (events, visible_at) = std::mem::take(&mut self.unpublished);
                self.state.publish(events, visible_at);
            }
            Err(AppendError::NoRoom(cause)) => self.commit_freeing(jobs, &cause),
            Err(AppendError::Failed(error)) => answer_all(jobs, &error),
        }
    }

    /// Makes a group of `changes` durable and visible. Returns their results.
    pub(super) fn write_group(
        &mut self,
        mut group: Group,
        changes: &[&Change],
    ) -> Result<Vec<ChangeResult>, AppendError> {
        self.ensure_index().map_err(AppendError::Failed)?;
        self.state.is_savable(group.frees_space_only()).map_err(AppendError::NoRoom)?;
        self.journal.make_room(&group)?;
        self.find_room_in_index(&group, changes).map_err(AppendError::NoRoom)?;
        let (start, places) = self.journal.append(&mut group)?;
        let unsaved = self.unsaved.get_or_insert_with(Unsaved::now);
        unsaved.octets += group.octets() as u64;
        if self.saving.has_failed() {
            self.state.set_unsaved_octets(unsaved.octets);
        }
        drop(group);
        let results = self.apply(changes, &places, start).map_err(AppendError::Failed)?;
        Ok(results)
    }

    /// Commits only the changes that free space, since there is no room for the others.
    fn commit_freeing(&mut self, jobs: Vec<Job>, cause: &StoreError) {
        let (freeing, others): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.change.frees_space());
        if others.is_empty() {
            return answer_all(freeing, cause);
        }
        answer_all(others, cause);
        if !freeing.is_empty() {
            self.commit(freeing);
        }
    }

    pub(super) fn apply_once(&self, changes: &[&Change], places: &[RecordPlace]) -> Result<Applied, IndexError> {
        let index = self.state.index().ok_or(IndexError::Corrupt("the index is not open"))?;
        let is_watched = self.state.hub().is_watched();
        index.apply(changes.iter().copied().zip(places.iter().copied()), self.journal.position(), is_watched)
    }
}
