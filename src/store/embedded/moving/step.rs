//! The writer's part of moving messages: a group like any other, of changes that say where each came from.
//!
//! What is needed is asked of the index by the one thread that changes it, right before the group is written. So a copy is
//! written of nothing that somebody deleted before, and whoever deletes it later deletes the copy.

use super::super::writer::Writer;
use super::{Batch, Found};
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::index::Needed;
use crate::store::journal::{Group, group_room};

impl Writer {
    /// Moves those messages of a batch that are needed, unless somebody holds them or the disk is nearly full.
    pub(in super::super) fn move_batch(&mut self, batch: Batch) {
        let shared = std::sync::Arc::clone(&self.shared);
        let moved = match shared.begin_moves() {
            Some(_leave) => self.move_messages(batch.messages),
            None => Ok(false),
        };
        let goes_on = moved.unwrap_or_else(|error| {
            tracing::warn!(%error, "messages could not be moved; it is tried again after the next checkpoint");
            false
        });
        // A mover that was told to stop is gone.
        let _ = batch.answer.send(goes_on);
    }

    /// Whether there is room for more.
    fn move_messages(&mut self, messages: Vec<Found>) -> Result<bool, StoreError> {
        let room = group_room(self.shared.options());
        let mut messages = messages.into_iter().peekable();
        while messages.peek().is_some() {
            if self.shared.accepts().is_err() {
                return Ok(false);
            }
            let mut group = Group::new();
            let mut changes = Vec::new();
            while let Some(message) = messages.next_if(|_| changes.is_empty() || group.octets() as u64 <= room) {
                let Some((change, content)) = self.moved(message)? else { continue };
                group.push(&change, &content)?;
                changes.push(change);
            }
            if !changes.is_empty() {
                let changes: Vec<&Change> = changes.iter().collect();
                self.keep(group, &changes)?;
            }
        }
        Ok(true)
    }

    /// The change that moves a message, with its octets; `None` if nobody needs it any more.
    fn moved(&self, message: Found) -> Result<Option<(Change, bytes::Bytes)>, StoreError> {
        let Found { from, envelope, received_at, content } = message;
        let needed = self.shared.read(|view| view.needed(&envelope.recipients, from))?;
        Ok(needed.map(|Needed { emails: living, expires_at }| {
            (Change::Moved { from, envelope, received_at, expires_at, living }, content)
        }))
    }
}
