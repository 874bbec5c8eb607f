//! Segment compaction: a pending event keeps its message on the disk, but not the whole segment.
//!
//! All mail has the same retention, so a segment is removed when its last Email has gone. Only messages of pending events
//! live longer. They are copied to the end of the journal if their segment has no Email and is mostly free. Each checkpoint
//! is followed by one batch of copies, which are ordinary changes. The next checkpoint removes the segment.

use std::collections::BTreeMap;

use super::writer::Writer;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::index::SegmentUsage;
use crate::store::journal::{Group, JournalMessage, group_room};

/// The size of a batch in messages, and in octets with one message beyond. It takes the writer a few milliseconds.
const BATCH_MESSAGES: usize = 512;
const BATCH_OCTETS: usize = 1 << 20;

/// Messages that are copied together.
#[derive(Default)]
struct Batch {
    messages: Vec<JournalMessage>,
    octets: usize,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.messages.len() >= BATCH_MESSAGES || self.octets >= BATCH_OCTETS
    }
}

impl Writer {
    /// Copies a batch of messages out of the live segments of the last checkpoint.
    ///
    /// A command that opened the store briefly copies nothing.
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
            tracing::warn!(%error, "messages of pending events could not be copied; the next checkpoint tries again");
        }
    }

    /// Reads the next messages to copy, from the oldest segments first.
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
                // One message cannot be copied, so the segment stays and copying the others would free nothing.
                batch.messages.truncate(before.0);
                batch.octets = before.1;
            }
        }
        Ok(batch)
    }

    /// Whether a segment uses more than twice the blocks that its live messages need.
    fn is_mostly_free(&self, segment: u64, usage: &SegmentUsage) -> Result<bool, StoreError> {
        let failed = |error: std::io::Error| StoreError::from_io(&error);
        let Some(file) = self.state.segments().file(segment).map_err(failed)? else { return Ok(false) };
        Ok(file.used_octets().map_err(failed)? > usage.octets.saturating_mul(2))
    }

    /// Adds the messages of a segment to the batch until that is full.
    ///
    /// `false` if a message is damaged, larger than today's limit, or referred to by more than events.
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

    fn copy(&mut self, messages: Vec<JournalMessage>) -> Result<(), StoreError> {
        let room = group_room(self.state.options());
        let mut messages = messages.into_iter().peekable();
        while messages.peek().is_some() {
            let mut group = Group::new();
            let mut changes = Vec::new();
            while let Some(message) = messages.next_if(|_| changes.is_empty() || group.octets() as u64 <= room) {
                let JournalMessage { place, envelope, received_at, raw } = message;
                let change = Change::Relocated { from: place, envelope, received_at };
                group.push(&change, &raw)?;
                changes.push(change);
            }
            self.write_group(group, &changes.iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
