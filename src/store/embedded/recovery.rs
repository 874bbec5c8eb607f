//! Recovery: an index that failed is reopened, and the journal is replayed onto it.
//!
//! A durable group is never given up. Its senders are answered once the index shows the group. If that takes too long, they
//! get no answer, and the index shows the group when it can be opened. Until then reads fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::open::index_missing;
use super::writer::Writer;
use crate::store::change::{Change, ChangeResult};
use crate::store::drop_warnings;
use crate::store::index::{Applied, Index, IndexError};
use crate::store::journal::{FoundJournal, Position, RecordPlace};
use crate::store::{OpenError, StoreError};

/// The waits before each attempt to reopen the index, until the senders of a group get no answer.
const REOPEN_WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(250), Duration::from_secs(1)];
/// The first wait of an idle writer before a retry.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// The longest wait before an attempt to reopen the index.
pub(super) const OPENING_RETRY_MAX: Duration = Duration::from_secs(2);
/// The longest wait before another checkpoint after a failed one. Each failure costs a replay.
pub(super) const SAVING_RETRY_MAX: Duration = Duration::from_secs(30);

/// An exponential backoff.
#[derive(Debug)]
pub(super) struct Backoff {
    until: Instant,
    wait: Duration,
    longest: Duration,
}

impl Backoff {
    pub(super) fn new(longest: Duration) -> Self {
        Self { until: Instant::now(), wait: RETRY_FIRST, longest }
    }

    /// When the next attempt is due.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Records a failed attempt. Returns the wait before the next one.
    pub(super) fn failed(&mut self) -> Duration {
        let wait = self.wait;
        self.until = Instant::now() + wait;
        self.wait = (wait * 2).min(self.longest);
        wait
    }

    /// Whether the last attempt failed.
    pub(super) fn has_failed(&self) -> bool {
        self.wait > RETRY_FIRST
    }

    /// Records a successful attempt.
    pub(super) fn worked(&mut self) {
        *self = Self::new(self.longest);
    }
}

impl Writer {
    /// Applies a durable group to the index. Returns the result of each change.
    ///
    /// After an error the results are unknown. The group is applied when the index can be reopened.
    pub(super) fn apply(
        &mut self,
        changes: &[&Change],
        places: &[RecordPlace],
        start: Position,
    ) -> Result<Vec<ChangeResult>, StoreError> {
        let mut cause = match self.apply_once(changes, places) {
            Ok(applied) => return Ok(self.counted(applied)),
            Err(error) => error.to_store_error(),
        };
        for wait in REOPEN_WAITS {
            tracing::error!(error = %cause, "the index failed; it is reopened");
            self.make_room_for_index(&cause);
            std::thread::sleep(wait);
            match self.reopen_index(Some(start.group)) {
                Ok(applied) => return Ok(self.counted(applied)),
                Err(error) => cause = error,
            }
        }
        tracing::error!(error = %cause, "the index does not show a durable group yet; its senders get no answer");
        Err(StoreError::OutcomeUnknown)
    }

    fn counted(&mut self, applied: Applied) -> Vec<ChangeResult> {
        self.state.counters().add(&applied.counts);
        drop_warnings::warn(self.drop_warnings.add(&applied.counts.events_dropped, Instant::now()));
        self.unpublished = (applied.events, Some(self.state.hub().moment()));
        applied.results
    }

    /// Reopens the index if it is not open.
    pub(super) fn ensure_index(&mut self) -> Result<(), StoreError> {
        if self.state.has_index() {
            return Ok(());
        }
        self.reopen_index(None).map(|_| ()).inspect_err(|cause| self.make_room_for_index(cause))
    }

    /// Reopens an index whose checkpoint or other write failed. The next checkpoint waits.
    pub(super) fn recover_index(&mut self, error: &IndexError) {
        self.make_room_for_index(&error.to_store_error());
        self.saving.failed();
        self.open_index_anew();
    }

    /// Reopens an index that failed. Each attempt costs a replay, so the backoff grows until a checkpoint succeeds.
    pub(super) fn open_index_anew(&mut self) {
        self.opening.failed();
        if let Err(error) = self.reopen_index(None) {
            tracing::error!(%error, "the index could not be reopened; reads fail until a retry succeeds");
        }
    }

    /// Gives the space of the next segment to the index if the disk is full.
    fn make_room_for_index(&self, cause: &StoreError) {
        if *cause == StoreError::Full {
            self.journal.give_up_spare();
        }
    }

    /// Reopens the index and replays what it lost. Returns the result of group `wanted`, which must be among that.
    ///
    /// After an error the index is not open, since an incomplete index must be neither read nor written.
    fn reopen_index(&mut self, wanted: Option<u64>) -> Result<Applied, StoreError> {
        self.state.detach_index();
        let reopened = self.reopen(wanted);
        if let Err(cause) = &reopened {
            self.state.set_index_failure(cause.clone());
        }
        reopened
    }

    fn reopen(&mut self, wanted: Option<u64>) -> Result<Applied, StoreError> {
        let disk = self.state.segments().disk();
        let opened = Index::open(disk, self.state.options()).and_then(|index| index.ok_or_else(index_missing));
        let index = opened.map_err(|error| error.to_store_error())?;
        match self.catch_up(&index, self.journal.position().group, wanted) {
            Ok(applied) => {
                self.state.set_index(Arc::new(index));
                Ok(applied)
            }
            Err(error) => {
                // An incomplete index must not write when it is dropped.
                index.cut_off();
                Err(error)
            }
        }
    }

    /// Applies the groups before number `end` that the index lacks. Returns the result of group `wanted`.
    ///
    /// Later groups in the journal are not durable and are not applied.
    fn catch_up(&self, index: &Index, end: u64, wanted: Option<u64>) -> Result<Applied, StoreError> {
        let mut position = index.position().map_err(|error| error.to_store_error())?;
        let mut applied = Applied::default();
        let caught_up = FoundJournal::open_again(Arc::clone(self.state.segments().disk())).and_then(|found| {
            found.run(position, |records, next| {
                if position.group < end {
                    let changes = records.iter().map(|record| (&record.change, record.place));
                    let of_group = index.apply(changes, next, false)?;
                    if wanted == Some(position.group) {
                        applied = of_group;
                    }
                    position = next;
                }
                Ok::<(), OpenError>(())
            })
        });
        caught_up.map_err(|error| error.to_store_error())?;
        if position.group == end {
            Ok(applied)
        } else {
            Err(StoreError::Damaged { segment: position.segment, offset: u64::from(position.offset) })
        }
    }
}
