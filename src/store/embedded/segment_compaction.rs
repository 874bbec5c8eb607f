//! An undelivered event keeps its message, and not the segment around it.
//!
//! All mail lives equally long, so that a segment is removed when its last Email has gone. What outlives the Emails is
//! messages of pending events. They are copied out of segments that hold nothing else and are mostly free: one batch after
//! each checkpoint, by changes like any other. The next checkpoint removes the segment.

use std::collections::BTreeMap;

use super::writer::Writer;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::index::SegmentUsage;
use crate::store::journal::{Content, Group, group_room};

/// Messages of a batch, and octets of them; one more may lie beyond. A few milliseconds of the writer's time.
const BATCH_MESSAGES: usize = 512;
const BATCH_OCTETS: usize = 1 << 20;

/// What is copied together.
#[derive(Default)]
struct Batch {
    messages: Vec<Content>,
    octets: usize,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.messages.len() >= BATCH_MESSAGES || self.octets >= BATCH_OCTETS
    }
}

impl Writer {
    /// Copies a batch of messages by what the last checkpoint due. A command that opened the store in passing copies
    /// nothing.
    pub(super) fn relocate(&mut self) {
        let Some(live_segments) = self.live_segments.take() else { return };
        if self.state.options().retention.is_none() {
            return;
        }
        let copied = self.gather(&live_segments).and_then(|batch| {
            let is_full = batch.is_full();
            self.copy(batch.messages)?;
            if is_full && let Some(unsaved) = &mut self.unsaved {
                unsaved.is_urgent = true;
            }
            Ok(())
        });
        if let Err(error) = copied {
            tracing::warn!(%error, "messages of pending events could not be copied; it is tried after the next checkpoint");
        }
    }

    /// The next messages to copy, of the oldest segments first.
    fn gather(&self, live_segments: &BTreeMap<u64, SegmentUsage>) -> Result<Batch, StoreError> {
        let mut batch = Batch::default();
        for (segment, usage) in live_segments.range(..self.journal.in_use()) {
            if batch.is_full() {
                break;
            }
            if usage.emails > 0 || !self.is_mostly_free(*segment, usage)? {
                continue;
            }
            let before = (batch.messages.len(), batch.octets);
            if !self.gather_segment(*segment, &mut batch)? {
                // The segment stays for what can't be copied, so that copying the rest gains nothing.
                batch.messages.truncate(before.0);
                batch.octets = before.1;
            }
        }
        Ok(batch)
    }

    /// Whether the disk's blocks of a segment are more than twice what is needed of it.
    fn is_mostly_free(&self, segment: u64, usage: &SegmentUsage) -> Result<bool, StoreError> {
        let failed = |error: std::io::Error| StoreError::from_io(&error);
        let Some(file) = self.state.segments().file(segment).map_err(failed)? else { return Ok(false) };
        Ok(file.used_octets().map_err(failed)? > usage.octets.saturating_mul(2))
    }

    /// Adds what a segment has, as far as the batch takes it; `false` if a message does not read back, or is larger than the
    /// segments of today take.
    fn gather_segment(&self, segment: u64, batch: &mut Batch) -> Result<bool, StoreError> {
        let largest = self.state.options().message_octets_max;
        let failed = |error: std::io::Error| StoreError::from_io(&error);
        for offset in self.state.read(|view| view.refcounted_records(segment))? {
            if batch.is_full() {
                break;
            }
            let place = self.state.segments().place_at(segment, offset).map_err(failed)?;
            let Some(place) = place.filter(|place| u64::from(place.content) <= largest) else { return Ok(false) };
            let Some(message) = self.state.segments().content(place).map_err(failed)? else { return Ok(false) };
            let recipients = &message.envelope.recipients;
            if !self.state.read(|view| view.is_for_events_alone(recipients, place))? {
                return Ok(false);
            }
            batch.octets += message.raw.len();
            batch.messages.push(message);
        }
        Ok(true)
    }

    fn copy(&mut self, messages: Vec<Content>) -> Result<(), StoreError> {
        let room = group_room(self.state.options());
        let mut messages = messages.into_iter().peekable();
        while messages.peek().is_some() {
            let mut group = Group::new();
            let mut changes = Vec::new();
            while let Some(message) = messages.next_if(|_| changes.is_empty() || group.octets() as u64 <= room) {
                let Content { place, envelope, received_at, raw } = message;
                let change = Change::Relocated { from: place, envelope, received_at };
                group.push(&change, &raw)?;
                changes.push(change);
            }
            self.write_group(group, &changes.iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
