//! An index that failed: it is opened again and the journal replayed onto it, for the group at hand or with growing waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::queue::Job;
use super::writer::Writer;
use crate::store::change::{Change, Outcome};
use crate::store::index::{Applied, Index, IndexError};
use crate::store::journal::{FoundJournal, Position, RecordPlace};
use crate::store::{OpenError, StoreError};

/// How often an index that failed is reopened before its group is given up, and the wait before each try.
const REOPEN_WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(250), Duration::from_secs(1)];
/// The first wait before something that failed is tried again while no change asks for it.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// The longest: an index that could be opened again is away no longer than this and the opening take.
const RETRY_MAX: Duration = Duration::from_secs(2);

/// Growing waits between tries.
#[derive(Debug)]
pub(super) struct Backoff {
    until: Instant,
    wait: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { until: Instant::now(), wait: RETRY_FIRST }
    }
}

impl Backoff {
    /// When the next try is due.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// A try failed: how long to wait now.
    pub(super) fn failed(&mut self) -> Duration {
        let wait = self.wait;
        self.until = Instant::now() + wait;
        self.wait = (wait * 2).min(RETRY_MAX);
        wait
    }
}

impl Writer {
    /// Brings a durable group into the index; what each change did.
    pub(super) fn apply(
        &mut self,
        jobs: &[Job],
        places: &[RecordPlace],
        start: Position,
    ) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        let mut cause = match self.apply_once(jobs, places) {
            Ok(applied) => return Ok(self.counted(applied)),
            Err(error) => error.to_store_error(),
        };
        let mut reached = self.shared.index().and_then(|index| index.position().ok());
        for wait in REOPEN_WAITS {
            tracing::error!(error = %cause, "the index failed and is opened again");
            self.make_room_for_index(&cause);
            std::thread::sleep(wait);
            match self.reopen_index(Some(start.group)) {
                Ok(Some(applied)) => return Ok(self.counted(applied)),
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

    fn counted(&self, applied: Applied) -> Vec<Result<Outcome, StoreError>> {
        self.shared.counters().add(&applied.tally);
        applied.outcomes.into_iter().map(Ok).collect()
    }

    /// Opens the index if it is away.
    pub(super) fn ensure_index(&mut self) -> Result<(), StoreError> {
        if self.shared.index().is_some() {
            return Ok(());
        }
        self.journal.settle()?;
        self.reopen_index(None).map(|_| ()).map_err(|behind| {
            self.make_room_for_index(&behind.cause);
            behind.cause
        })
    }

    /// Opens an index that failed again, now or after a while.
    pub(super) fn recover_index(&mut self, error: &IndexError) {
        let cause = error.to_store_error();
        self.make_room_for_index(&cause);
        if let Err(error) = self.journal.settle().and_then(|()| Ok(self.reopen_index(None)?)) {
            tracing::error!(%error, "the index is away");
        }
        // Also when it could be opened: what failed is not to be tried without a pause.
        self.backoff.failed();
    }

    /// Whoever filled the disk, the index takes up what the journal holds before more mail is taken.
    fn make_room_for_index(&self, cause: &StoreError) {
        if *cause == StoreError::Full {
            self.journal.give_up_spare();
        }
    }

    /// Opens the index again and replays what it lost; what the changes of group `wanted` did, if it was among them.
    ///
    /// After an error the index is away: one that lacks groups must neither be read nor be written.
    fn reopen_index(&mut self, wanted: Option<u64>) -> Result<Option<Applied>, Behind> {
        let reopened = self.reopen(wanted);
        if let Err(behind) = &reopened {
            self.shared.set_trouble(behind.cause.clone());
        }
        reopened
    }

    fn reopen(&self, wanted: Option<u64>) -> Result<Option<Applied>, Behind> {
        self.shared.close_index()?;
        let disk = self.shared.segments().disk();
        let index = Index::open(disk, self.shared.options())
            .and_then(|index| index.ok_or(OpenError::Index("index.redb is missing".into())))?;
        let mut position = index.position()?;
        let found = FoundJournal::open(Arc::clone(disk))
            .map_err(|error| Behind { cause: error.to_store_error(), reached: Some(position) })?;
        let mut applied = None;
        let result = found.run(position, |records, end| {
            let of_group = index.apply(records.iter().map(|record| (&record.change, record.place)), end)?;
            if wanted == Some(position.group) {
                applied = Some(of_group);
            }
            position = end;
            Ok::<(), Behind>(())
        });
        let is_complete = position.group == self.journal.position().group;
        match result {
            Ok(_) if is_complete => {
                self.shared.set_index(Arc::new(index));
                Ok(applied)
            }
            Ok(_) => Err(Behind { reached: index.position().ok(), ..incomplete(position).into() }),
            Err(behind) => Err(Behind { reached: index.position().ok(), ..behind }),
        }
    }
}

/// What can be said of a change that is in the index although nobody saw it go in.
fn outcome_by_kind(change: &Change) -> Result<Outcome, StoreError> {
    match change {
        // Under caps it may have been refused.
        Change::Received { caps, .. } if !caps.are_set() => {
            Ok(Outcome::Received { has_events: true, has_dropped: true })
        }
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
        error.to_store_error().into()
    }
}

impl From<IndexError> for Behind {
    fn from(error: IndexError) -> Self {
        error.to_store_error().into()
    }
}

impl From<Behind> for StoreError {
    fn from(behind: Behind) -> Self {
        behind.cause
    }
}
