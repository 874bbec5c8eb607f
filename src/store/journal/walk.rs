//! A walk over the journal on the disk: every record, whole or not, and the gaps between them.
//!
//! Replay stops at the first damaged group, but a walk continues. For a walk, contents that were punched out are no damage,
//! and after a damaged place it searches for the next group.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::record::{FORMAT, FirstSector, GROUP_HEADER_OCTETS, GroupHeader, SegmentHeader, decode_meta};
use super::search::{find_header, header_at};
use super::segments::read_header;
use super::{GROUPS_START, RecordPlace, Segments, segment_name, segment_number};
use crate::store::change::Change;
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::OpenError;

/// The segments that were ever in use, with their headers.
///
/// A file is opened when its turn comes, so that a segment that is removed meanwhile leaves the disk.
#[derive(Debug)]
pub(crate) struct SegmentFiles {
    segments: Segments,
    headers: BTreeMap<u64, SegmentHeader>,
    /// The segments whose header is not valid.
    pub(crate) damaged: Vec<u64>,
}

impl SegmentFiles {
    /// Reads the headers in a directory. Another format is an error, but damage is not.
    pub(crate) fn in_directory(disk: &Arc<dyn Disk>) -> Result<Self, OpenError> {
        let names = disk.list().map_err(|error| failed("the data directory", &error))?;
        let numbers = names.iter().filter_map(|name| segment_number(name));
        Self::of(&Segments::of(Arc::clone(disk), numbers))
    }

    /// Reads the headers of a store in use. A segment that is removed meanwhile is left out, since it has no live message.
    pub(crate) fn of(segments: &Segments) -> Result<Self, OpenError> {
        let mut found = Self { segments: segments.clone(), headers: BTreeMap::new(), damaged: Vec::new() };
        for number in segments.numbers() {
            let name = segment_name(number);
            let Some(file) = segments.file(number).map_err(|error| failed(&name, &error))? else { continue };
            match read_header(&*file).map_err(|error| failed(&name, &error))? {
                FirstSector::Blank => {}
                FirstSector::Format(found) => return Err(OpenError::Format { file: name, found, known: FORMAT }),
                FirstSector::Header(header) if header.number == number => drop(found.headers.insert(number, header)),
                FirstSector::Header(_) | FirstSector::Lost | FirstSector::Damaged => found.damaged.push(number),
            }
        }
        Ok(found)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.headers.keys().copied().collect()
    }

    /// Whether no segment was ever in use.
    pub(crate) fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.damaged.is_empty()
    }

    /// Whether there was a segment with this number, readable or not.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.headers.contains_key(&number) || self.damaged.contains(&number)
    }

    /// The octets of a segment's file, 0 once it is removed.
    pub(crate) fn size(&self, number: u64) -> u64 {
        self.segments.file(number).ok().flatten().and_then(|file| file.size().ok()).unwrap_or(0)
    }

    /// The octets of all files.
    pub(crate) fn octets(&self) -> u64 {
        self.headers.keys().map(|number| self.size(*number)).sum()
    }

    /// Begins a walk over a segment. `None` if the segment is gone or its header is not valid.
    pub(crate) fn walk(&self, number: u64) -> io::Result<Option<Walk>> {
        let Some(header) = self.headers.get(&number) else { return Ok(None) };
        let Some(file) = self.segments.file(number)? else { return Ok(None) };
        Ok(Some(Walk {
            segment: number,
            file,
            salt: header.salt,
            at: u64::from(GROUPS_START),
            group: header.first_group,
            counts_up_to: self.headers.get(&(number + 1)).map(|next| next.predecessor_end),
        }))
    }
}

fn failed(name: &str, error: &io::Error) -> OpenError {
    OpenError::Io { path: name.into(), reason: error.to_string() }
}

/// A walk over one segment.
#[derive(Debug)]
pub(crate) struct Walk {
    segment: u64,
    file: Arc<dyn DiskFile>,
    salt: u64,
    at: u64,
    group: u64,
    /// Where the segment ends, if its successor says so. Otherwise it ends after its last readable group.
    counts_up_to: Option<u64>,
}

/// What a walk reads at once.
#[derive(Debug)]
pub(crate) enum WalkItem {
    /// A group.
    Group {
        /// Its number.
        number: u64,
        /// Where it begins.
        offset: u64,
        /// Its records, up to the first one with a damaged header.
        records: Vec<WalkedRecord>,
        /// The offset of the first record with a damaged header. The rest of the group cannot be read.
        broken_at: Option<u64>,
    },
    /// Octets that are not a group, although a group was there.
    Gap {
        /// Where they begin.
        from: u64,
        /// Where they end.
        to: u64,
    },
}

/// A record as it is on the disk now.
#[derive(Debug)]
pub(crate) struct WalkedRecord {
    pub(crate) change: Change,
    pub(crate) place: RecordPlace,
    pub(crate) content: WalkedContent,
}

/// The content of a record as it is on the disk now.
#[derive(Debug)]
pub(crate) enum WalkedContent {
    /// The content as written.
    Whole(Bytes),
    /// Zeros, since the content was punched out.
    Punched,
    /// Other octets.
    Damaged,
}

impl Walk {
    /// The current offset.
    pub(crate) fn offset(&self) -> u64 {
        self.at
    }

    /// Reads the next item. `None` at the end.
    pub(crate) fn next_item(&mut self) -> io::Result<Option<WalkItem>> {
        let end = self.end()?;
        if let Some(header) = self.group_at(self.at, end)? {
            return self.group(header).map(Some);
        }
        let next = self.search(self.at + 1, end)?;
        let to = match (next, self.counts_up_to) {
            (Some(next), _) => next,
            (None, Some(counted)) if self.at < counted => counted,
            (None, _) => return Ok(None),
        };
        let from = std::mem::replace(&mut self.at, to);
        Ok(Some(WalkItem::Gap { from, to }))
    }

    fn end(&self) -> io::Result<u64> {
        let size = self.file.size()?;
        Ok(self.counts_up_to.unwrap_or(size).min(size))
    }

    /// Whether the walk has reached the end of the segment.
    pub(crate) fn is_at_end(&self) -> io::Result<bool> {
        Ok(self.at >= self.end()?)
    }

    /// Whether the group before was the last, so that a crash may have cut it short before anybody got an answer.
    pub(crate) fn may_be_torn(&self) -> io::Result<bool> {
        Ok(self.counts_up_to.is_none() && self.search(self.at, self.file.size()?)?.is_none())
    }

    /// Reads the header of a possible next group at `at`.
    fn group_at(&self, at: u64, end: u64) -> io::Result<Option<GroupHeader>> {
        let header = header_at(&*self.file, self.salt, at, end)?;
        Ok(header.filter(|header| self.may_follow(at, header, end)))
    }

    fn may_follow(&self, at: u64, header: &GroupHeader, end: u64) -> bool {
        let ends_at = at + GROUP_HEADER_OCTETS as u64 + u64::from(header.length);
        header.number >= self.group && u64::from(header.synced) <= at && ends_at <= end
    }

    fn group(&mut self, header: GroupHeader) -> io::Result<WalkItem> {
        let offset = self.at;
        let start = offset + GROUP_HEADER_OCTETS as u64;
        let mut octets = vec![0; header.length as usize];
        self.file.read_at(start, &mut octets)?;
        let octets = Bytes::from(octets);
        let mut records = Vec::with_capacity(header.records.min(4096) as usize);
        let mut at = 0;
        let mut broken_at = None;
        for _ in 0..header.records {
            let Some(record) = record_at(&octets, at, self.segment, start) else {
                broken_at = Some(start + at as u64);
                break;
            };
            at += record.place.length as usize;
            records.push(record);
        }
        self.at = start + u64::from(header.length);
        self.group = header.number + 1;
        Ok(WalkItem::Group { number: header.number, offset, records, broken_at })
    }

    /// Finds the first possible next group from `from` on.
    fn search(&self, from: u64, end: u64) -> io::Result<Option<u64>> {
        find_header(&*self.file, self.salt, from..end, |at, header| self.may_follow(at, header, end))
    }
}

/// Reads the record at `at` in the octets of a group that begin at `start` of the segment.
fn record_at(octets: &Bytes, at: usize, segment: u64, start: u64) -> Option<WalkedRecord> {
    let (head, change) = decode_meta(octets.get(at..)?)?;
    let range = at + head.content_start()..at.checked_add(head.length())?;
    let content = octets.get(range.clone())?;
    let content = if head.is_of(content) {
        WalkedContent::Whole(octets.slice(range))
    } else if content.iter().all(|octet| *octet == 0) {
        WalkedContent::Punched
    } else {
        WalkedContent::Damaged
    };
    let place = RecordPlace {
        segment,
        offset: u32::try_from(start + at as u64).ok()?,
        length: u32::try_from(head.length()).ok()?,
        content: u32::try_from(head.content_octets).ok()?,
    };
    Some(WalkedRecord { change, place, content })
}
