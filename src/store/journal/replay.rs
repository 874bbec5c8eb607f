//! Replay: reading the journal from the position of the index.
//!
//! An unreadable group is either *torn* or *damaged*. It is damaged if a later header says that it was durable. Then replay
//! stops with an error. Otherwise it is torn: nobody got an answer for it, and the journal ends there.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::record::{GROUP_HEADER_OCTETS, GroupHeader, SegmentHeader, decode_record};
use super::search::{find_header, header_at};
use super::{Position, RecordPlace, Segments};
use crate::store::change::Change;
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::OpenError;

/// One record of a replayed group.
#[derive(Debug)]
pub(crate) struct ReplayedRecord {
    pub(crate) change: Change,
    pub(crate) place: RecordPlace,
}

/// The journal as found on the disk.
#[derive(Debug)]
pub(crate) struct FoundJournal {
    segments: Segments,
    headers: BTreeMap<u64, SegmentHeader>,
    /// The numbers of segments that were made in advance and never used.
    blank: Vec<u64>,
    /// Whether another process wrote the journal, so that it is not known what was synced.
    is_of_another: bool,
}

impl FoundJournal {
    /// Opens the journal that another process wrote.
    pub(crate) fn open(disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        let (segments, headers, blank) = Segments::open(disk)?;
        Ok(Self { segments, headers, blank, is_of_another: true })
    }

    /// Opens the journal that this process writes. All its groups are synced.
    pub(crate) fn open_again(disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        Ok(Self { is_of_another: false, ..Self::open(disk)? })
    }

    /// Removes unused segments, so that the index has their space during the replay.
    ///
    /// A file that cannot be removed is replaced when its number is next.
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

    /// Calls `apply` for every group from `position` on, with the position after it. Returns the end of the journal.
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

    /// The header of the segment after `number`. Fails if that segment is missing but later ones exist.
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
        let io = |error: io::Error| OpenError::of_file(&super::segment_name(start.segment), &error);
        let file = self.segments.file(start.segment).map_err(io)?;
        let (Some(file), Some(header)) = (file, self.headers.get(&start.segment)) else {
            return Err(damaged(start, "the segment is missing").into());
        };
        if self.is_of_another {
            // The page cache may show what the last process did not sync. After a failed sync its pages count as clean, so
            // another sync would not write them. Therefore the header and the last group are written again.
            file.write_at(0, &header.encode()).and_then(|()| file.sync()).map_err(io)?;
        }
        let size = file.size().map_err(io)?;
        let end = counts_up_to.unwrap_or(size);
        if u64::from(start.offset) > end || end > size {
            return Err(damaged(start, "the index is ahead of the journal").into());
        }
        let mut position = start;
        while u64::from(position.offset) < end {
            let group = group_octets(&*file, header.salt, position, end).map_err(io)?;
            let Some(records) = group.as_deref().and_then(|octets| read_group(octets, header.salt, position)) else {
                let rest = u64::from(position.offset)..end;
                // A segment with a successor is valid up to the octet that the successor names.
                if counts_up_to.is_some() || was_durable(&*file, header.salt, rest).map_err(io)? {
                    return Err(damaged(position, "a durable group cannot be read").into());
                }
                return Ok(position);
            };
            let octets = group.unwrap_or_default();
            let next = u64::from(position.offset) + octets.len() as u64;
            // No later header says that this group was synced.
            let is_in_doubt = self.is_of_another && counts_up_to.is_none();
            if is_in_doubt && header_at(&*file, header.salt, next, end).map_err(io)?.is_none() {
                file.write_at(u64::from(position.offset), &octets).and_then(|()| file.sync()).map_err(io)?;
            }
            position.offset = u32::try_from(next).unwrap_or(u32::MAX);
            position.group += 1;
            apply(records, position)?;
        }
        Ok(position)
    }
}

fn damaged(at: Position, what: &'static str) -> OpenError {
    OpenError::Damaged { segment: at.segment, offset: u64::from(at.offset), what }
}

/// Reads the octets of the group at a position. `None` if there is no header or the group is not complete.
fn group_octets(file: &dyn DiskFile, salt: u64, at: Position, end: u64) -> io::Result<Option<Vec<u8>>> {
    let start = u64::from(at.offset);
    let Some(header) = header_at(file, salt, start, end)? else { return Ok(None) };
    let length = GROUP_HEADER_OCTETS + header.length as usize;
    if start + length as u64 > end {
        return Ok(None);
    }
    let mut octets = vec![0; length];
    file.read_at(start, &mut octets)?;
    Ok(Some(octets))
}

/// Decodes the records of a group. `None` if any part is damaged.
fn read_group(group: &[u8], salt: u64, at: Position) -> Option<Vec<ReplayedRecord>> {
    let header = GroupHeader::decode(group, salt)?;
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
    (start == group.len()).then_some(records)
}

/// Whether a group header in the `rest` of a segment says that the octets at its start were durable.
fn was_durable(file: &dyn DiskFile, salt: u64, rest: Range<u64>) -> io::Result<bool> {
    let start = rest.start;
    Ok(find_header(file, salt, rest, |_, header| u64::from(header.synced) > start)?.is_some())
}
