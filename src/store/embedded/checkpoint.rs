//! Checkpoints: the index made durable, and what that lets go of taken off the disk.

use std::time::{Duration, Instant};

use super::punching::Punching;
use super::writer::Writer;
use crate::store::index::{Checkpoint, DELETED_MAX};
use crate::store::journal::RecordPlace;

/// A checkpoint is due at the latest this long after the first change, however slowly changes trickle in.
const CHECKPOINT_AGE: Duration = Duration::from_secs(15);

/// What was applied since the last checkpoint.
#[derive(Debug)]
pub(super) struct Unsaved {
    since: Instant,
    /// Octets of the groups.
    pub(super) octets: u64,
    /// Another checkpoint is due as soon as this is noted: it has more to say.
    is_urgent: bool,
}

impl Unsaved {
    pub(super) fn now() -> Self {
        Self { since: Instant::now(), octets: 0, is_urgent: false }
    }
}

impl Writer {
    pub(super) fn is_checkpoint_due(&self) -> bool {
        let octets = self.shared.options().checkpoint_octets;
        self.unsaved.as_ref().is_some_and(|unsaved| {
            (unsaved.is_urgent || unsaved.octets >= octets || unsaved.since.elapsed() >= CHECKPOINT_AGE)
                && self.backoff.until() <= Instant::now()
        })
    }

    pub(super) fn checkpoint(&mut self) {
        self.note_punched();
        if self.unsaved.is_none() {
            return;
        }
        let Some(index) = self.shared.index() else { return };
        let made = index.checkpoint();
        drop(index);
        match made {
            Ok(Checkpoint { position, alive, deleted }) => {
                self.unsaved = None;
                self.backoff = super::recovery::Backoff::default();
                for number in self.shared.segments().numbers() {
                    if number < position.segment && !alive.contains_key(&number) {
                        self.unlink(number);
                    }
                }
                // While a batch is under way its records are named again; they wait for the next checkpoint.
                if !self.punching.is_running() && !deleted.is_empty() {
                    self.punching = Punching::start(self.shared.segments().clone(), deleted);
                }
                self.moving.go_on(&self.shared, &alive, position.segment);
            }
            // The journal has it all.
            Err(error) => {
                tracing::error!(%error, "a checkpoint of the index failed");
                self.recover_index(&error);
            }
        }
        self.shared.measure_index();
    }

    fn unlink(&self, number: u64) {
        if let Err(error) = self.shared.segments().unlink(number) {
            tracing::warn!(segment = number, %error, "an empty segment could not be removed");
        }
    }

    /// Has the index forget what a batch that has ended took off the disk.
    pub(super) fn note_punched(&mut self) {
        if let Some((batch, punched)) = self.punching.take_ended() {
            self.forget(batch, &punched);
        }
    }

    fn forget(&mut self, batch: usize, punched: &[RecordPlace]) {
        if punched.len() < batch {
            // They are tried again after the next checkpoint.
            let messages = batch - punched.len();
            tracing::warn!(messages, "deleted messages could not be taken off the disk yet");
        }
        let Some(index) = self.shared.index() else { return };
        if let Err(error) = index.punched(punched) {
            tracing::error!(%error, "the index could not note which messages left the disk");
            drop(index);
            return self.recover_index(&error);
        }
        // Without a checkpoint the rows would come back with the next start, and be punched once more.
        let unsaved = self.unsaved.get_or_insert_with(Unsaved::now);
        unsaved.is_urgent |= batch == DELETED_MAX && punched.len() == batch;
    }

    /// Makes everything durable, and goes on with taking off the disk what that lets go of until `deadline`.
    pub(super) fn finish(&mut self, deadline: Instant) {
        loop {
            self.checkpoint();
            let Some((batch, punched)) = self.punching.take_by(deadline) else { return };
            self.forget(batch, &punched);
            if punched.len() < batch || Instant::now() >= deadline {
                return;
            }
        }
    }
}
