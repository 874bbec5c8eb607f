//! An index that failed: it is opened again and the journal replayed onto it, for the group at hand or with growing waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::drops;
use super::open::index_missing;
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
        changes: &[&Change],
        places: &[RecordPlace],
        start: Position,
    ) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        let mut cause = match self.apply_once(changes, places) {
            Ok(applied) => return Ok(self.counted(applied)),
            Err(error) => error.to_store_error(),
        };
        for wait in REOPEN_WAITS {
            tracing::error!(error = %cause, "the index failed and is opened again");
            self.make_room_for_index(&cause);
            std::thread::sleep(wait);
            match self.reopen_index(Some(start.group)) {
                Ok(applied) => return Ok(self.counted(applied)),
                Err(error) => cause = error,
            }
        }
        // The file of the index lacks it: only a checkpoint could have brought it there.
        Err(self.journal.abandon(start, cause))
    }

    fn counted(&mut self, applied: Applied) -> Vec<Result<Outcome, StoreError>> {
        self.shared.counters().add(&applied.tally);
        drops::warn(self.drops.note(&applied.tally.events_dropped, Instant::now()));
        applied.outcomes.into_iter().map(Ok).collect()
    }

    /// Opens the index if it is away.
    pub(super) fn ensure_index(&mut self) -> Result<(), StoreError> {
        if self.shared.index().is_some() {
            return Ok(());
        }
        self.reopen_index(None).map(|_| ()).inspect_err(|cause| self.make_room_for_index(cause))
    }

    /// Opens an index that failed again, now or after a while.
    pub(super) fn recover_index(&mut self, error: &IndexError) {
        self.make_room_for_index(&error.to_store_error());
        self.open_index_anew();
    }

    /// Opens the index again, after which what failed is not tried without a pause.
    pub(super) fn open_index_anew(&mut self) {
        if let Err(error) = self.reopen_index(None) {
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

    /// Opens the index again and replays what it lost; what the changes of group `wanted` did, which is among that.
    ///
    /// After an error the index is away: one that lacks groups must neither be read nor be written. Another stands in for
    /// it where readers are concerned, also while the next try is under way. It lacks the group `wanted`, since that may
    /// still be given up.
    fn reopen_index(&mut self, wanted: Option<u64>) -> Result<Applied, StoreError> {
        self.shared.let_go_of_index();
        let reopened = self.journal.settle().and_then(|()| self.reopen(wanted));
        if let Err(cause) = &reopened {
            let end = wanted.unwrap_or(self.journal.position().group);
            if !self.shared.has_stand_in(end) {
                match self.stand_in(end) {
                    Ok(index) => self.shared.set_stand_in(Arc::new(index)),
                    Err(error) => tracing::error!(%error, "the index can't be read either"),
                }
            }
            self.shared.set_trouble(cause.clone());
        }
        reopened
    }

    fn reopen(&self, wanted: Option<u64>) -> Result<Applied, StoreError> {
        self.shared.clear_trouble();
        let end = self.journal.position().group;
        let disk = self.shared.segments().disk();
        let opened = Index::open(disk, self.shared.options()).and_then(|index| index.ok_or_else(index_missing));
        let index = opened.map_err(|error| error.to_store_error())?;
        // Nothing is saved before it is in its place: the group may be given up, and what stands in for it shows its file.
        match self.catch_up(&index, end, wanted) {
            Ok((applied, journal_end)) if journal_end.group == end => {
                self.shared.set_index(Arc::new(index));
                Ok(applied)
            }
            caught_up => {
                index.cut_off();
                Err(caught_up.map_or_else(|error| error, |(_, journal_end)| incomplete(journal_end)))
            }
        }
    }

    /// An index for reading alone, complete up to group `end`. What redb writes to it stays in memory: its file may be what
    /// can't be written.
    fn stand_in(&self, end: u64) -> Result<Index, StoreError> {
        let disk = self.shared.segments().disk();
        let opened =
            Index::open_untouched(disk, self.shared.options()).and_then(|index| index.ok_or_else(index_missing));
        let index = opened.map_err(|error| error.to_store_error())?;
        self.catch_up(&index, end, None)?;
        Ok(index)
    }

    /// Applies the groups before number `end` that an index lacks: what the changes of group `wanted` did, and where the
    /// journal ends.
    fn catch_up(&self, index: &Index, end: u64, wanted: Option<u64>) -> Result<(Applied, Position), StoreError> {
        let mut position = index.position().map_err(|error| error.to_store_error())?;
        let mut applied = Applied::default();
        let caught_up = FoundJournal::open_again(Arc::clone(self.shared.segments().disk())).and_then(|found| {
            found.run(position, |records, next| {
                if position.group < end {
                    let of_group = index.apply(records.iter().map(|record| (&record.change, record.place)), next)?;
                    if wanted == Some(position.group) {
                        applied = of_group;
                    }
                    position = next;
                }
                Ok::<(), OpenError>(())
            })
        });
        let journal_end = caught_up.map_err(|error| error.to_store_error())?;
        if position.group == end { Ok((applied, journal_end)) } else { Err(incomplete(position)) }
    }
}

fn incomplete(position: Position) -> StoreError {
    StoreError::Damaged { segment: position.segment, offset: u64::from(position.offset) }
}
