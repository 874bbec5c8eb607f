//! The segment in use.

use std::sync::Arc;
use std::time::Instant;

use super::format::{HintWriter, SegmentHeader};
use super::group::{Encoded, Group};
use crate::store::change::RecordPlace;
use crate::store::disk::DiskFile;

/// The segment in use.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) header: SegmentHeader,
    pub(super) file: Arc<dyn DiskFile>,
    /// The offset of the next group. Everything before it is durable.
    pub(super) end: u32,
    /// The offset of the last group, if there is one.
    pub(super) last_group: Option<u32>,
    /// The allocated size.
    pub(super) octets: u64,
    /// Its state is in doubt, so it is never written again.
    pub(super) is_sealed: bool,
    /// Whether there may be octets of a dead segment behind the end.
    pub(super) is_recycled: bool,
    pub(super) begun: Instant,
    pub(super) hint: HintWriter,
}

impl Active {
    pub(super) fn fits(&self, octets: u64) -> bool {
        !self.is_sealed && u64::from(self.end) + octets <= self.octets
    }

    /// Counts a durable group that begins at `at`. Returns the places of its records.
    pub(super) fn add(&mut self, group: &Group, at: u32) -> Vec<RecordPlace> {
        // A group lies in one segment, and a segment is below 4 GiB.
        let narrow = |octets: usize| u32::try_from(octets).unwrap_or(u32::MAX);
        let mut places = Vec::with_capacity(group.records.len());
        for Encoded { start, length, content } in &group.records {
            let offset = at + narrow(*start);
            self.hint.push(offset, &group.octets[*start..start + length - content]);
            let (length, content) = (narrow(*length), narrow(*content));
            places.push(RecordPlace { segment: self.header.number, offset, length, content });
        }
        (self.last_group, self.end) = (Some(at), at + narrow(group.octets.len()));
        places
    }
}
