//! The writer thread: takes what is queued as one group, makes it durable, applies it, answers.
//!
//! The commit in flight is the batching window: whatever was queued while it ran is the next group. No timer.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::open::Opened;
use super::queue::{Job, Message, Queue};
use super::shared::Shared;
use crate::store::change::{Change, Outcome};
use crate::store::index::{Index, IndexError};
use crate::store::journal::{Group, Journal, Position, RecordPlace, Replayed, least_segment_octets};
use crate::store::{OpenError, StoreError, StoreOptions};

/// A group takes no further change once it has this many octets.
const GROUP_OCTETS_MAX: usize = 4 << 20;
/// The most changes of a group.
const GROUP_CHANGES_MAX: usize = 1024;
/// A checkpoint is due at the latest this long after the first change, however slowly changes trickle in.
const CHECKPOINT_AGE: Duration = Duration::from_secs(15);
/// How often an index that failed is reopened before its group is given up, and the wait before each try.
const REOPEN_WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(250), Duration::from_secs(1)];

/// How often an index that is away is opened again while no change asks for it.
const REOPEN_EVERY: Duration = Duration::from_millis(500);

/// Starts the writer of an opened store.
pub(super) fn start(shared: Arc<Shared>, opened: Opened) -> Result<Queue, OpenError> {
    let (sender, messages) = mpsc::channel();
    let Opened { index, journal } = opened;
    // The shared state holds the one handle; the writer borrows it per group, so that the index can be reopened.
    drop(index);
    // What the last process deleted and did not live to punch out goes with the first checkpoint.
    let unsaved = Some(Unsaved { since: Instant::now(), octets: 0 });
    let mut writer = Writer { shared, journal, unsaved };
    let thread = std::thread::Builder::new()
        .name("store-writer".into())
        .spawn(move || {
            let closing = writer.run(&messages);
            // Whoever waits for the close may open the directory again at once.
            drop(writer);
            drop(closing);
        })
        .map_err(|error| OpenError::Io { path: "the writer thread".into(), reason: error.to_string() })?;
    Ok(Queue::new(sender, thread))
}

struct Writer {
    shared: Arc<Shared>,
    journal: Journal,
    /// What was applied since the last checkpoint.
    unsaved: Option<Unsaved>,
}

struct Unsaved {
    since: Instant,
    octets: u64,
}

impl Writer {
    /// Works until the store closes; whom to tell when everything is let go of.
    fn run(&mut self, messages: &Receiver<Message>) -> Option<oneshot::Sender<()>> {
        let mut closing = None;
        while closing.is_none() {
            let first = match &self.unsaved {
                // Nobody sends a change to a store that says it can't be read.
                _ if self.shared.index().is_none() => messages.recv_timeout(REOPEN_EVERY),
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => messages.recv_timeout(self.shared.options().checkpoint_quiet),
            };
            match first {
                Ok(Message::Change(job)) => {
                    let mut jobs = vec![job];
                    closing = gather(messages, &mut jobs);
                    self.commit(jobs);
                    if self.is_checkpoint_due() {
                        self.checkpoint();
                    }
                }
                Ok(Message::Answer(answer)) => {
                    // Nobody waits any more if this fails.
                    let _ = answer.send(());
                    if self.is_checkpoint_due() {
                        self.checkpoint();
                    }
                }
                Ok(Message::Close(done)) => closing = Some(done),
                Err(RecvTimeoutError::Timeout) => self.rest(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // What slipped into the queue behind the close.
        for message in messages.try_iter() {
            if let Message::Change(job) = message {
                answer(job, Err(StoreError::Stopping));
            }
        }
        self.checkpoint();
        if let Err(error) = self.shared.close_index() {
            tracing::warn!(%error, "the index was left open");
        }
        closing
    }

    /// What there is to do while nothing comes in.
    fn rest(&mut self) {
        match self.ensure_index() {
            Ok(()) => self.checkpoint(),
            Err(error) => tracing::error!(%error, "the index is still away"),
        }
    }

    /// Commits the changes of `jobs` and answers each: in one group, or in as many as a segment's size makes it.
    fn commit(&mut self, jobs: Vec<Job>) {
        let StoreOptions { segment_octets, message_octets_max, .. } = *self.shared.options();
        let room = segment_octets.saturating_sub(least_segment_octets(message_octets_max));
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

    fn commit_group(&mut self, mut group: Group, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        if let Err(error) = self.ensure_index() {
            return answer_all(jobs, &error);
        }
        let (start, places) = match self.journal.append(&mut group) {
            Ok(appended) => appended,
            Err(StoreError::Full) => return self.commit_freeing(jobs),
            Err(error) => return answer_all(jobs, &error),
        };
        let octets = group.octets() as u64;
        drop(group);
        match self.apply(&jobs, &places, start) {
            Ok(outcomes) => {
                let unsaved = self.unsaved.get_or_insert(Unsaved { since: Instant::now(), octets: 0 });
                unsaved.octets += octets;
                if outcomes.contains(&Ok(Outcome::Received { has_events: true })) {
                    self.shared.outbox_hint().notify_one();
                }
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    answer(job, outcome);
                }
            }
            Err(error) => answer_all(jobs, &error),
        }
    }

    /// On a full disk the changes that free space go on alone.
    fn commit_freeing(&mut self, jobs: Vec<Job>) {
        let (freeing, others): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.change.frees_space());
        if others.is_empty() {
            return answer_all(freeing, &StoreError::Full);
        }
        answer_all(others, &StoreError::Full);
        if !freeing.is_empty() {
            self.commit(freeing);
        }
    }

    /// Brings a durable group into the index; what each change did.
    fn apply(
        &mut self,
        jobs: &[Job],
        places: &[RecordPlace],
        start: Position,
    ) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        let end = self.journal.position();
        let mut cause = match self.apply_once(jobs, places, end) {
            Ok(outcomes) => return Ok(outcomes.into_iter().map(Ok).collect()),
            Err(error) => error.to_store_error(),
        };
        let mut reached = self.shared.index().and_then(|index| index.position().ok());
        for wait in REOPEN_WAITS {
            tracing::error!(error = %cause, "the index failed and is opened again");
            std::thread::sleep(wait);
            match self.reopen_index(Some(start.group)) {
                Ok(Some(outcomes)) => return Ok(outcomes.into_iter().map(Ok).collect()),
                // The index had the group already; what its changes did was told to nobody.
                Ok(None) => return Ok(jobs.iter().map(|job| outcome_by_kind(&job.change)).collect()),
                Err(behind) => {
                    cause = behind.cause;
                    // An index that did not open is where it was.
                    reached = behind.reached.or(reached);
                }
            }
        }
        // The group is cut off the journal only if it is certain that the index lacks it.
        if reached.is_some_and(|reached| reached.group <= start.group) {
            return Err(self.journal.abandon(start, cause));
        }
        tracing::error!("the index can't be opened; the senders of a durable group get no answer");
        Err(StoreError::OutcomeUnknown)
    }

    fn apply_once(&self, jobs: &[Job], places: &[RecordPlace], end: Position) -> Result<Vec<Outcome>, IndexError> {
        let index = self.shared.index().ok_or(IndexError::Corrupt("the index is not open"))?;
        index.apply(jobs.iter().map(|job| &job.change).zip(places.iter().copied()), end)
    }

    /// Opens the index if it is away.
    fn ensure_index(&mut self) -> Result<(), StoreError> {
        if self.shared.index().is_some() {
            return Ok(());
        }
        self.journal.settle()?;
        self.reopen_index(None).map(|_| ()).map_err(|behind| behind.cause)
    }

    /// Opens the index again and replays what it lost; what the changes of group `wanted` did, if it was among them.
    ///
    /// After an error the index is away: one that lacks groups must neither be read nor be written.
    fn reopen_index(&mut self, wanted: Option<u64>) -> Result<Option<Vec<Outcome>>, Behind> {
        self.shared.close_index()?;
        let disk = self.shared.segments().disk();
        let index = Index::open(disk, self.shared.options())
            .and_then(|index| index.ok_or(OpenError::Index("index.redb is missing".into())))?;
        let replayed = Replayed::open(Arc::clone(disk))?;
        let mut position = index.position()?;
        let mut outcomes = None;
        let result = replayed.run(position, |records, end| {
            let of_group = index.apply(records.iter().map(|record| (&record.change, record.place)), end)?;
            if wanted == Some(position.group) {
                outcomes = Some(of_group);
            }
            position = end;
            Ok::<(), Behind>(())
        });
        let is_complete = position.group == self.journal.position().group;
        match result {
            Ok(_) if is_complete => {
                self.shared.set_index(Arc::new(index));
                Ok(outcomes)
            }
            Ok(_) => Err(Behind { reached: index.position().ok(), ..incomplete(position).into() }),
            Err(behind) => Err(Behind { reached: index.position().ok(), ..behind }),
        }
    }

    fn is_checkpoint_due(&self) -> bool {
        let octets = self.shared.options().checkpoint_octets;
        self.unsaved
            .as_ref()
            .is_some_and(|unsaved| unsaved.octets >= octets || unsaved.since.elapsed() >= CHECKPOINT_AGE)
    }

    fn checkpoint(&mut self) {
        if self.unsaved.is_none() {
            return;
        }
        let Some(index) = self.shared.index() else { return };
        match index.checkpoint() {
            Ok(checkpoint) => {
                self.unsaved = None;
                self.punch(&index, &checkpoint.deleted);
                for number in self.shared.segments().numbers() {
                    if number < checkpoint.position.segment && !checkpoint.alive.contains(&number) {
                        self.unlink(number);
                    }
                }
            }
            // The journal has it all; the next change finds the index failed and opens it again.
            Err(error) => tracing::error!(%error, "a checkpoint of the index failed"),
        }
        drop(index);
        self.shared.measure_index();
    }

    fn unlink(&self, number: u64) {
        if let Err(error) = self.shared.segments().unlink(number) {
            tracing::warn!(segment = number, %error, "an empty segment could not be removed");
        }
    }

    /// Takes what somebody deleted off the disk. What can't be punched now is tried after the next checkpoint.
    fn punch(&mut self, index: &Index, places: &[RecordPlace]) {
        if places.is_empty() {
            return;
        }
        let punched = self.shared.segments().punch(places);
        if punched.len() < places.len() {
            let messages = places.len() - punched.len();
            tracing::warn!(messages, "deleted messages could not be taken off the disk yet");
        }
        if let Err(error) = index.punched(&punched) {
            tracing::error!(%error, "the index could not note which messages left the disk");
        }
        // Without this the rows would come back with the next start, and be punched once more.
        self.unsaved = Some(Unsaved { since: Instant::now(), octets: 0 });
    }
}

/// Takes what is queued by now, up to the bounds of a group. A close ends it.
fn gather(messages: &Receiver<Message>, jobs: &mut Vec<Job>) -> Option<oneshot::Sender<()>> {
    let mut octets: usize = jobs.iter().map(|job| job.content.len()).sum();
    while jobs.len() < GROUP_CHANGES_MAX && octets < GROUP_OCTETS_MAX {
        match messages.try_recv() {
            Ok(Message::Change(job)) => {
                octets += job.content.len();
                jobs.push(job);
            }
            Ok(Message::Answer(answer)) => {
                let _ = answer.send(());
            }
            Ok(Message::Close(done)) => return Some(done),
            Err(mpsc::TryRecvError::Empty | mpsc::TryRecvError::Disconnected) => return None,
        }
    }
    None
}

/// The one place where the sender of a change learns what became of it.
fn answer(job: Job, outcome: Result<Outcome, StoreError>) {
    // Whoever asked may be gone; the change stands all the same.
    let _ = job.answer.send(outcome);
}

fn answer_all(jobs: Vec<Job>, error: &StoreError) {
    for job in jobs {
        answer(job, Err(error.clone()));
    }
}

/// What can be said of a change that is in the index although nobody saw it go in.
fn outcome_by_kind(change: &Change) -> Result<Outcome, StoreError> {
    match change {
        Change::Received { .. } => Ok(Outcome::Received { has_events: true }),
        _ => Err(StoreError::OutcomeUnknown),
    }
}

/// Why the index could not be brought up to date.
#[derive(Debug)]
struct Behind {
    cause: StoreError,
    /// Up to where it is complete, if it was open at all.
    reached: Option<Position>,
}

fn incomplete(position: Position) -> StoreError {
    StoreError::Damaged { segment: position.segment, offset: u64::from(position.offset) }
}

impl From<StoreError> for Behind {
    fn from(cause: StoreError) -> Self {
        Self { cause, reached: None }
    }
}

impl From<OpenError> for Behind {
    fn from(error: OpenError) -> Self {
        StoreError::Failed(error.to_string()).into()
    }
}

impl From<IndexError> for Behind {
    fn from(error: IndexError) -> Self {
        error.to_store_error().into()
    }
}
