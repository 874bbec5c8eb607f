//! Reading the journal again from where the index stands.
//!
//! A group that does not read back is either *torn* (it was never acknowledged: nothing after it was ever known to be
//! durable) or *damage* (something later says that it had been durable). Torn ends are left behind; damage stops.

use std::collections::BTreeMap;

use super::record::{GROUP_HEADER_OCTETS, GroupHeader, SegmentHeader, decode_record};
use super::{Position, RecordPlace, Segments};
use crate::store::change::Change;
use crate::store::disk::Disk;
use crate::store::error::OpenError;

/// One record of a replayed group.
#[derive(Debug)]
pub(crate) struct ReplayedRecord {
    pub(crate) change: Change,
    pub(crate) place: RecordPlace,
}

/// The journal as it was found, before anything is written.
#[derive(Debug)]
pub(crate) struct FoundJournal {
    segments: Segments,
    headers: BTreeMap<u64, SegmentHeader>,
    /// Numbers of files that were made ahead of need and never used.
    blank: Vec<u64>,
}

impl FoundJournal {
    /// Opens the segments of a directory.
    pub(crate) fn open(disk: std::sync::Arc<dyn Disk>) -> Result<Self, OpenError> {
        let (segments, headers, blank) = Segments::open(disk)?;
        Ok(Self { segments, headers, blank })
    }

    /// Removes the files that were made ahead of need, so that the index has their room while it takes the replay. One
    /// that can't be removed is replaced when its number is wanted.
    pub(crate) fn remove_blank(&self) {
        for number in &self.blank {
            if let Err(error) = self.segments.unlink(*number) {
                tracing::warn!(segment = number, %error, "a segment that was never used could not be removed");
            }
        }
    }

    /// Whether no segment was ever in use.
    pub(crate) fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Hands every group from `position` on to `apply`, with the position behind it; where the journal ends.
    pub(crate) fn run<E: From<OpenError>>(
        &self,
        position: Position,
        mut apply: impl FnMut(Vec<ReplayedRecord>, Position) -> Result<(), E>,
    ) -> Result<Position, E> {
        let mut position = position;
        loop {
            let successor = self.successor(position.segment)?;
            let counts_up_to = successor.map(|header| header.predecessor_end);
            position = self.run_segment(position, counts_up_to, &mut apply)?;
            let Some(header) = successor else { return Ok(position) };
            if header.first_group != position.group {
                return Err(damaged(position, "groups are missing before the next segment").into());
            }
            position = Position { segment: header.number, offset: super::GROUPS_START, group: header.first_group };
        }
    }

    /// The header of the segment after `number`; an error if there are later ones but not that.
    fn successor(&self, number: u64) -> Result<Option<&SegmentHeader>, OpenError> {
        let Some((found, header)) = self.headers.range(number + 1..).next() else { return Ok(None) };
        if *found != number + 1 {
            return Err(OpenError::Damaged { segment: number + 1, offset: 0, what: "the segment is missing" });
        }
        Ok(Some(header))
    }

    fn run_segment<E: From<OpenError>>(
        &self,
        start: Position,
        counts_up_to: Option<u64>,
        apply: &mut impl FnMut(Vec<ReplayedRecord>, Position) -> Result<(), E>,
    ) -> Result<Position, E> {
        let (Some(file), Some(header)) = (self.segments.file(start.segment), self.headers.get(&start.segment)) else {
            return Err(damaged(start, "the segment is missing").into());
        };
        let io = |error: std::io::Error| OpenError::of_file(&super::segment_name(start.segment), &error);
        // What the last process wrote and did not live to sync may be read from memory; nobody may see it before it is durable.
        file.sync().map_err(io)?;
        let size = file.size().map_err(io)?;
        let end = counts_up_to.unwrap_or(size);
        if u64::from(start.offset) > end || end > size {
            return Err(damaged(start, "the index is ahead of the journal").into());
        }
        let mut octets = vec![0; usize::try_from(end - u64::from(start.offset)).unwrap_or(usize::MAX)];
        file.read_at(u64::from(start.offset), &mut octets).map_err(io)?;

        let mut position = start;
        let mut rest = &octets[..];
        while !rest.is_empty() {
            let Some((records, length)) = read_group(rest, header.salt, position) else {
                // A segment that has a successor counts to the octet that the successor names.
                if counts_up_to.is_some() || was_durable(rest, header.salt, position) {
                    return Err(damaged(position, "a group that had been durable does not read back").into());
                }
                return Ok(position);
            };
            rest = &rest[length..];
            position.offset += u32::try_from(length).unwrap_or(u32::MAX);
            position.group += 1;
            apply(records, position)?;
        }
        Ok(position)
    }
}

fn damaged(at: Position, what: &'static str) -> OpenError {
    OpenError::Damaged { segment: at.segment, offset: u64::from(at.offset), what }
}

/// The records of the group at the start of `octets`, and its length; `None` if any part does not read back.
fn read_group(octets: &[u8], salt: u64, at: Position) -> Option<(Vec<ReplayedRecord>, usize)> {
    let header = GroupHeader::decode(octets, salt)?;
    let length = GROUP_HEADER_OCTETS + header.length as usize;
    let group = octets.get(..length)?;
    if header.number != at.group || header.synced > at.offset {
        return None;
    }
    let mut records = Vec::with_capacity(header.records.min(4096) as usize);
    let mut start = GROUP_HEADER_OCTETS;
    for _ in 0..header.records {
        let record = decode_record(&group[start..])?;
        records.push(ReplayedRecord {
            change: record.change,
            place: RecordPlace {
                segment: at.segment,
                offset: at.offset + u32::try_from(start).ok()?,
                length: u32::try_from(record.length).ok()?,
                content: u32::try_from(record.content.len()).ok()?,
            },
        });
        start += record.length;
    }
    (start == length).then_some((records, length))
}

/// Whether a group header further on says that the octets at `position` had been durable.
fn was_durable(octets: &[u8], salt: u64, position: Position) -> bool {
    let salt_octets = salt.to_le_bytes();
    octets
        .windows(salt_octets.len())
        .enumerate()
        .filter(|(_, window)| *window == salt_octets)
        .filter_map(|(at, _)| GroupHeader::decode(&octets[at..], salt))
        .any(|header| header.synced > position.offset)
}
