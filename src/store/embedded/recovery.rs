//! An index that failed: it is opened again and the journal replayed onto it, for the group at hand or with growing waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::open::index_missing;
use super::writer::Writer;
use crate::store::change::{Change, Outcome};
use crate::store::index::{Applied, Index, IndexError};
use crate::store::journal::{FoundJournal, Position, RecordPlace};
use crate::store::{OpenError, StoreError};

/// How long the writer waits for readers to let go of an index that is to be reopened.
const READERS_GRACE: Duration = Duration::from_secs(5);
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
        changes: &[&Change],
        places: &[RecordPlace],
        start: Position,
    ) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        let mut cause = match self.apply_once(changes, places) {
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
                Ok(None) => return Ok(changes.iter().map(|change| outcome_by_kind(change)).collect()),
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
        self.make_room_for_index(&error.to_store_error());
        self.open_index_anew();
    }

    /// Opens the index again, after which what failed is not tried without a pause.
    pub(super) fn open_index_anew(&mut self) {
        if let Err(error) = self.journal.settle().and_then(|()| Ok(self.reopen_index(None)?)) {
            tracing::error!(%error, "the index is away");
        }
        // Also when it could be opened.
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
    /// After an error the index is away: one that lacks groups must neither be read nor be written. Another stands in for
    /// it where readers are concerned, which lacks the group `wanted`, since that may still be given up.
    fn reopen_index(&mut self, wanted: Option<u64>) -> Result<Option<Applied>, Behind> {
        let reopened = self.reopen(wanted);
        if let Err(behind) = &reopened {
            let end = wanted.unwrap_or(self.journal.position().group);
            match self.stand_in(end) {
                Ok(index) => self.shared.set_stand_in(Arc::new(index)),
                Err(Behind { cause, .. }) => tracing::error!(error = %cause, "the index can't be read either"),
            }
            self.shared.set_trouble(behind.cause.clone());
        }
        reopened
    }

    fn reopen(&self, wanted: Option<u64>) -> Result<Option<Applied>, Behind> {
        self.shared.clear_trouble();
        self.shared.close_index(READERS_GRACE)?;
        let end = self.journal.position().group;
        let index = Index::open(self.shared.segments().disk(), self.shared.options())?.ok_or_else(index_missing)?;
        let CaughtUp { applied, journal_end } = self.catch_up(&index, end, wanted)?;
        if journal_end.group != end {
            return Err(Behind { reached: index.position().ok(), ..incomplete(journal_end).into() });
        }
        self.shared.set_index(Arc::new(index));
        Ok(applied)
    }

    /// An index for reading alone, complete up to group `end`. What redb writes to it stays in memory: its file may be what
    /// can't be written.
    fn stand_in(&self, end: u64) -> Result<Index, Behind> {
        let disk = self.shared.segments().disk();
        let index = Index::open_untouched(disk, self.shared.options())?.ok_or_else(index_missing)?;
        self.catch_up(&index, end, None)?;
        Ok(index)
    }

    /// Applies the groups before number `end` that an index lacks; what the changes of group `wanted` did, if it was among
    /// them.
    fn catch_up(&self, index: &Index, end: u64, wanted: Option<u64>) -> Result<CaughtUp, Behind> {
        let mut position = index.position()?;
        let found = FoundJournal::open_again(Arc::clone(self.shared.segments().disk()))
            .map_err(|error| Behind { cause: error.to_store_error(), reached: Some(position) })?;
        let mut applied = None;
        let result = found.run(position, |records, next| {
            if position.group < end {
                let of_group = index.apply(records.iter().map(|record| (&record.change, record.place)), next)?;
                if wanted == Some(position.group) {
                    applied = Some(of_group);
                }
                position = next;
            }
            Ok::<(), Behind>(())
        });
        match result {
            Ok(journal_end) if position.group == end => Ok(CaughtUp { applied, journal_end }),
            Ok(_) => Err(Behind { reached: index.position().ok(), ..incomplete(position).into() }),
            Err(behind) => Err(Behind { reached: index.position().ok(), ..behind }),
        }
    }
}

/// What bringing an index up to date came to.
struct CaughtUp {
    applied: Option<Applied>,
    /// Where the journal ends.
    journal_end: Position,
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
