//! Checkpoints: making the index durable, and then freeing disk space.

use std::time::{Duration, Instant};

use super::punching::{Punched, Punching};
use super::writer::Writer;
use crate::store::index::{Checkpoint, DELETED_MAX};

/// A checkpoint is due this long after the first change since the last one.
const CHECKPOINT_AGE: Duration = Duration::from_secs(15);

/// The changes since the last checkpoint.
#[derive(Debug)]
pub(super) struct Unsaved {
    since: Instant,
    /// Octets of the groups.
    pub(super) octets: u64,
    /// Whether the next checkpoint is due at once, since more space can be freed.
    pub(super) is_urgent: bool,
}

impl Unsaved {
    pub(super) fn now() -> Self {
        Self { since: Instant::now(), octets: 0, is_urgent: false }
    }
}

impl Writer {
    pub(super) fn is_checkpoint_due(&self) -> bool {
        let octets = self.state.options().checkpoint_octets;
        self.unsaved.as_ref().is_some_and(|unsaved| {
            (unsaved.is_urgent || unsaved.octets >= octets || unsaved.since.elapsed() >= CHECKPOINT_AGE)
                && self.saving.until() <= Instant::now()
        })
    }

    pub(super) fn checkpoint(&mut self) {
        self.record_punched();
        if self.unsaved.is_none() {
            return;
        }
        // An index that failed must be reopened first.
        let Some(index) = self.state.index().filter(|index| !index.has_failed()) else { return };
        let made = index.checkpoint();
        drop(index);
        match made {
            Ok(Checkpoint { position, live_segments, deleted }) => {
                self.unsaved = None;
                self.state.set_unsaved_octets(0);
                self.saving.worked();
                self.opening.worked();
                for number in self.state.segments().numbers() {
                    if number < position.segment && !live_segments.contains_key(&number) {
                        self.unlink(number);
                    }
                }
                // While a batch is running, this checkpoint names its records again. They wait for the next one.
                if !self.punching.is_running() && !deleted.is_empty() {
                    let in_use = self.journal.in_use();
                    self.punching = Punching::start(self.state.segments().clone(), deleted, in_use);
                }
                self.live_segments = Some(live_segments);
            }
            // The journal has all changes, so nothing is lost.
            Err(error) => {
                tracing::error!(%error, "a checkpoint of the index failed");
                self.recover_index(&error);
            }
        }
        self.state.measure_index();
        self.look_for_compaction();
    }

    fn unlink(&self, number: u64) {
        if let Err(error) = self.state.segments().unlink(number) {
            tracing::warn!(segment = number, %error, "an empty segment could not be removed");
        }
    }

    /// Records in the index what a finished batch has punched.
    pub(super) fn record_punched(&mut self) {
        if let Some(punched) = self.punching.take_ended() {
            self.forget(punched);
        }
    }

    /// Removes punched records from the index. Returns whether the whole batch was punched.
    fn forget(&mut self, punched: Punched) -> bool {
        let Punched { records, mut places, in_use } = punched;
        if places.iter().any(|place| place.segment == in_use)
            && let Err(error) = self.journal.sync(in_use)
        {
            tracing::error!(%error, segment = in_use, "a segment could not be made durable; a new one takes its place");
            places.retain(|place| place.segment != in_use);
        }
        let is_all = places.len() == records;
        if !is_all {
            // The next checkpoint tries again.
            let messages = records - places.len();
            tracing::warn!(messages, "deleted messages could not be taken off the disk yet");
        }
        let Some(index) = self.state.index() else { return is_all };
        if let Err(error) = index.punched(&places) {
            tracing::error!(%error, "the index could not record which messages left the disk");
            drop(index);
            self.recover_index(&error);
            return is_all;
        }
        // Without a checkpoint the next start would punch the records again.
        let unsaved = self.unsaved.get_or_insert_with(Unsaved::now);
        unsaved.is_urgent |= records == DELETED_MAX && is_all;
        is_all
    }

    /// Makes everything durable, and punches deleted messages until `deadline`.
    pub(super) fn finish(&mut self, deadline: Instant) {
        loop {
            self.checkpoint();
            let Some(punched) = self.punching.take_by(deadline) else { return };
            if !self.forget(punched) || Instant::now() >= deadline {
                return;
            }
        }
    }
}
