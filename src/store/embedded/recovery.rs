//! An index that failed is opened again and the journal replayed onto it, for the group at hand or with growing waits.
//!
//! A group that is durable is never given up. Its senders are answered once the index shows it; if that takes too long they
//! get no answer, and the group is there when the index is. Until then reads fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::drop_warnings;
use super::open::index_missing;
use super::writer::Writer;
use crate::store::change::{Change, Outcome};
use crate::store::index::{Applied, Index, IndexError};
use crate::store::journal::{FoundJournal, Position, RecordPlace};
use crate::store::{OpenError, StoreError};

/// How often an index that failed is opened again before senders are left without an answer, and the wait before each try.
const REOPEN_WAITS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(250), Duration::from_secs(1)];
/// The first wait before something that failed is tried again while no change asks for it.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// The longest wait before an index that is away is opened again.
pub(super) const OPENING_RETRY_MAX: Duration = Duration::from_secs(2);
/// The longest wait before a checkpoint that failed is tried again: each failure costs a replay.
pub(super) const SAVING_RETRY_MAX: Duration = Duration::from_secs(30);

/// Growing waits between tries.
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

    /// When the next try is due.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// A try failed: how long to wait now.
    pub(super) fn failed(&mut self) -> Duration {
        let wait = self.wait;
        self.until = Instant::now() + wait;
        self.wait = (wait * 2).min(self.longest);
        wait
    }

    /// Whether the last try failed.
    pub(super) fn has_failed(&self) -> bool {
        self.wait > RETRY_FIRST
    }

    /// A try worked.
    pub(super) fn worked(&mut self) {
        *self = Self::new(self.longest);
    }
}

impl Writer {
    /// Brings a durable group into the index; what each change did. After an error that is not known: the group comes into
    /// the index when that can be opened again.
    pub(super) fn apply(
        &mut self,
        changes: &[&Change],
        places: &[RecordPlace],
        start: Position,
    ) -> Result<Vec<Outcome>, StoreError> {
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
        tracing::error!(error = %cause, "the index does not show a durable group yet; its senders get no answer");
        Err(StoreError::OutcomeUnknown)
    }

    fn counted(&mut self, applied: Applied) -> Vec<Outcome> {
        self.state.counters().add(&applied.counts);
        drop_warnings::warn(self.drop_warnings.add(&applied.counts.events_dropped, Instant::now()));
        applied.outcomes
    }

    /// Opens the index if it is away.
    pub(super) fn ensure_index(&mut self) -> Result<(), StoreError> {
        if self.state.has_index() {
            return Ok(());
        }
        self.reopen_index(None).map(|_| ()).inspect_err(|cause| self.make_room_for_index(cause))
    }

    /// Opens an index again that could not be saved, or else after a while. It is not saved again at once.
    pub(super) fn recover_index(&mut self, error: &IndexError) {
        self.make_room_for_index(&error.to_store_error());
        self.saving.failed();
        self.open_index_anew();
    }

    /// Opens an index that failed again, or else after a while. Each time costs a replay, so that the next one is put off
    /// further, until a checkpoint works.
    pub(super) fn open_index_anew(&mut self) {
        self.opening.failed();
        if let Err(error) = self.reopen_index(None) {
            tracing::error!(%error, "the index is away");
        }
    }

    /// Whoever filled the disk, the index takes up what the journal holds before more mail is taken.
    fn make_room_for_index(&self, cause: &StoreError) {
        if *cause == StoreError::Full {
            self.journal.give_up_spare();
        }
    }

    /// Opens the index again and replays what it lost; what the changes of group `wanted` did, which is among that.
    ///
    /// After an error the index is away: one that lacks groups must neither be read nor be written.
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
                // Nobody may find it half way.
                index.cut_off();
                Err(error)
            }
        }
    }

    /// Applies the groups before number `end` that an index lacks; what the changes of group `wanted` did. What reads back
    /// behind them was not made durable, and does not count.
    fn catch_up(&self, index: &Index, end: u64, wanted: Option<u64>) -> Result<Applied, StoreError> {
        let mut position = index.position().map_err(|error| error.to_store_error())?;
        let mut applied = Applied::default();
        let caught_up = FoundJournal::open_again(Arc::clone(self.state.segments().disk())).and_then(|found| {
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
        caught_up.map_err(|error| error.to_store_error())?;
        if position.group == end {
            Ok(applied)
        } else {
            Err(StoreError::Damaged { segment: position.segment, offset: u64::from(position.offset) })
        }
    }
}
