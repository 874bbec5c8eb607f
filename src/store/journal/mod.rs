//! The journal: the truth of the store, as groups of records in preallocated segments.
//!
//! Owns the layout on disk and the rule of when a segment may be written: once anything about it is in doubt (an open, a
//! failed append, a failed sync) it is never written again, and the header of the next one says up to where it counts.

mod record;
mod replay;
mod search;
mod segments;
mod spare;
mod walk;

use std::io;
use std::sync::Arc;

pub(crate) use record::{FORMAT, GROUPS_START};
pub(in crate::store) use record::{RECORD_HEADER_OCTETS, RecordHead, decode_meta, encode_record};
use serde::{Deserialize, Serialize};

use record::{GROUP_HEADER_OCTETS, GroupHeader, SegmentHeader};
pub(crate) use replay::FoundJournal;
pub(crate) use segments::{Content, Segments};
use spare::Spare;
pub(crate) use spare::SpareView;
pub(crate) use walk::{Content as WalkedContent, SegmentFiles, Step, Walk, WalkedRecord};

use super::StoreOptions;
use super::change::Change;
use super::disk::DiskFile;
use super::error::{OpenError, StoreError};

/// Room at the end of the last segment that only changes which free space may use.
const FREEING_RESERVE_OCTETS: u64 = 1 << 20;
/// What a record takes at most beside the message: an envelope of 100 recipients, each address twice and at its longest.
const RECORD_OVERHEAD_OCTETS: u64 = 96 << 10;

/// What the first segment of a process has room for beside its last record: it is made while a start waits for it.
const FIRST_ROOM_OCTETS: u64 = 16 << 20;

/// A place between two groups. Ordered as the journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) segment: u64,
    pub(crate) offset: u32,
    /// Number of the group that begins here.
    pub(crate) group: u64,
}

impl Position {
    /// Where the first group of a new store begins.
    pub(crate) const START: Self = Self { segment: 1, offset: GROUPS_START, group: 1 };
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct RecordPlace {
    pub(crate) segment: u64,
    pub(crate) offset: u32,
    /// Octets of the whole record.
    pub(crate) length: u32,
    /// Octets of its content, at its end.
    pub(crate) content: u32,
}

/// The file name of a segment.
pub(crate) fn segment_name(number: u64) -> String {
    format!("journal-{number:016}")
}

/// The number of the segment that a file holds; `None` for another file.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("journal-")?;
    (digits.len() == 16).then(|| digits.parse().ok())?
}

/// The smallest segment that takes a message of the largest size.
pub(crate) fn least_segment_octets(message_octets_max: u64) -> u64 {
    u64::from(GROUPS_START) + GROUP_HEADER_OCTETS as u64 + message_octets_max + RECORD_OVERHEAD_OCTETS
}

/// Octets of the segment that a process begins with, and begins with again when one could not be made. Every group fits.
fn first_segment_octets(options: &StoreOptions) -> u64 {
    options.segment_octets.min(least_segment_octets(options.message_octets_max) + FIRST_ROOM_OCTETS)
}

/// Octets that a group may have before its last record, so that it fits into every segment.
pub(crate) fn group_room(options: &StoreOptions) -> u64 {
    first_segment_octets(options).saturating_sub(least_segment_octets(options.message_octets_max))
}

/// Octets of a group that is being put together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    octets: Vec<u8>,
    records: Vec<(usize, usize, usize)>,
    frees_space_only: bool,
}

impl Group {
    pub(crate) fn new() -> Self {
        Self { octets: vec![0; GROUP_HEADER_OCTETS], records: Vec::new(), frees_space_only: true }
    }

    /// Adds a record. On an error the group is as it was.
    pub(crate) fn push(&mut self, change: &Change, content: &[u8]) -> Result<(), StoreError> {
        let start = self.octets.len();
        if let Err(error) = encode_record(change, content, &mut self.octets) {
            self.octets.truncate(start);
            return Err(StoreError::Failed(format!("a change could not be written down: {error}")));
        }
        self.records.push((start, self.octets.len() - start, content.len()));
        self.frees_space_only &= change.frees_space();
        Ok(())
    }

    pub(crate) fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Whether all of it makes room.
    pub(crate) fn frees_space_only(&self) -> bool {
        self.frees_space_only
    }

    fn places(&self, segment: u64, at: u32) -> Vec<RecordPlace> {
        // A group lies in one segment, and a segment is below 4 GiB.
        let narrow = |octets: usize| u32::try_from(octets).unwrap_or(u32::MAX);
        self.records
            .iter()
            .map(|(start, length, content)| RecordPlace {
                segment,
                offset: at + narrow(*start),
                length: narrow(*length),
                content: narrow(*content),
            })
            .collect()
    }
}

/// The end of the journal that is written.
#[derive(Debug)]
struct Active {
    number: u64,
    file: Arc<dyn DiskFile>,
    salt: u64,
    /// Where the next group goes: everything before it is durable.
    end: u32,
    /// What was allocated.
    octets: u64,
    /// In doubt: never to be written again.
    is_sealed: bool,
}

/// Why a group is not in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AppendError {
    /// There is no room for it. Nothing was written, and a smaller group, or one that only frees space, may still fit.
    NoRoom(StoreError),
    /// Writing it failed.
    Failed(StoreError),
}

impl From<AppendError> for StoreError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::NoRoom(cause) | AppendError::Failed(cause) => cause,
        }
    }
}

/// The journal, held by the one thread that writes it.
#[derive(Debug)]
pub(crate) struct Journal {
    segments: Segments,
    active: Active,
    next_group: u64,
    spare: Spare,
    /// No segment is smaller, but for one on a full disk.
    first_octets: u64,
}

impl Journal {
    /// Goes on behind `end`, in a segment of its own. `end` is where replay stopped, or [`Position::START`].
    pub(crate) fn begin(
        segments: Segments,
        end: Position,
        is_new: bool,
        options: &StoreOptions,
    ) -> Result<Self, OpenError> {
        let number = if is_new { end.segment } else { end.segment + 1 };
        let disk = Arc::clone(segments.disk());
        let failed = |error: io::Error| OpenError::of_file(&segment_name(number), &error);
        let mut predecessor_end = 0;
        if !is_new {
            let opened = segments.file(end.segment);
            let file = opened.map_err(|error| OpenError::of_file(&segment_name(end.segment), &error))?;
            let file = file.ok_or(OpenError::Damaged {
                segment: end.segment,
                offset: u64::from(end.offset),
                what: "the segment is missing",
            })?;
            // Replay has just found that it ends there. On a full disk this makes the room for its successor.
            seal(end.segment, &*file, end.offset);
            predecessor_end = u64::from(end.offset);
        }
        let first_octets = first_segment_octets(options);
        let octets = first_octets..=options.segment_octets;
        let spare = Spare::start(Arc::clone(&disk), octets, number).map_err(failed)?;
        let taken = spare.take(number, true).map_err(failed)?;
        let active = activate(taken, number, predecessor_end, end.group).map_err(failed)?;
        segments.add(number, Arc::clone(&active.file));
        Ok(Self { segments, active, next_group: end.group, spare, first_octets })
    }

    /// Where the next group goes.
    pub(crate) fn position(&self) -> Position {
        Position { segment: self.active.number, offset: self.active.end, group: self.next_group }
    }

    /// The segments that can be read.
    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    pub(crate) fn spare(&self) -> SpareView {
        self.spare.view()
    }

    /// Whether the segment in use has room for a group without a new one.
    fn fits(&self, octets: u64) -> bool {
        u64::from(self.active.end) + octets <= self.active.octets
    }

    /// Writes a group and makes it durable: where it begins, which may be in a new segment, and where its records are.
    ///
    /// After an error the group is not in the journal and never will be, except when that holds
    /// [`StoreError::OutcomeUnknown`], when the next start decides.
    pub(crate) fn append(&mut self, group: &mut Group) -> Result<(Position, Vec<RecordPlace>), AppendError> {
        self.make_room(group)?;
        let start = self.position();
        let at = start.offset;
        let length = u32::try_from(group.octets.len() - GROUP_HEADER_OCTETS).unwrap_or(u32::MAX);
        let records = u32::try_from(group.records.len()).unwrap_or(u32::MAX);
        let header = GroupHeader { number: self.next_group, synced: at, length, records };
        group.octets[..GROUP_HEADER_OCTETS].copy_from_slice(&header.encode(self.active.salt));
        let file = &self.active.file;
        let written = file.write_at(u64::from(at), &group.octets).and_then(|()| file.sync());
        if let Err(error) = written {
            return Err(AppendError::Failed(self.cut_off(at, StoreError::from_io(&error))));
        }
        self.active.end = at + length + u32::try_from(GROUP_HEADER_OCTETS).unwrap_or(u32::MAX);
        self.next_group += 1;
        Ok((start, group.places(start.segment, at)))
    }

    /// Cuts off the group at `offset`, whose write or sync failed: the next segment's header, durable, says that it does not
    /// count. The answer is `cause`, or [`StoreError::OutcomeUnknown`] if not even that can be written.
    fn cut_off(&mut self, offset: u32, cause: StoreError) -> StoreError {
        self.active.end = offset;
        self.active.is_sealed = true;
        match self.roll() {
            Ok(()) => cause,
            Err(error) => {
                tracing::error!(%error, "a group that failed could not be cut off; its senders get no answer");
                StoreError::OutcomeUnknown
            }
        }
    }

    /// Goes on in a new segment if the one in use has no room for a group, as [`Journal::append`] does.
    pub(crate) fn make_room(&mut self, group: &Group) -> Result<(), AppendError> {
        let octets = group.octets.len() as u64;
        if u64::from(GROUPS_START) + octets > self.first_octets {
            return Err(AppendError::Failed(StoreError::Failed("a group is larger than a segment".into())));
        }
        let no_room = |error: io::Error| AppendError::NoRoom(StoreError::from_io(&error));
        if self.active.is_sealed {
            self.roll().map_err(no_room)?;
        }
        if !self.fits(octets) {
            return self.roll().map_err(no_room);
        }
        match self.spare.view().failure() {
            Some(failure)
                if !group.frees_space_only
                    && !self.fits(octets + FREEING_RESERVE_OCTETS.min(self.first_octets / 4)) =>
            {
                Err(AppendError::NoRoom(failure.to_store_error()))
            }
            _ => Ok(()),
        }
    }

    /// The number of the segment in use.
    pub(crate) fn in_use(&self) -> u64 {
        self.active.number
    }

    /// Makes durable what others did to a segment that was in use then, such as punching. An error is one about all that was
    /// written to it: every group in it is durable, and nothing more goes into it.
    pub(crate) fn sync(&mut self, segment: u64) -> io::Result<()> {
        if segment == self.active.number {
            return self.active.file.sync().inspect_err(|_| self.active.is_sealed = true);
        }
        self.segments.file(segment)?.map_or(Ok(()), |file| file.sync())
    }

    /// Lets the index have the room of the next segment.
    pub(crate) fn give_up_spare(&self) {
        self.spare.give_up();
    }

    /// Goes on in the next segment. On an error the segment in use is as it was, unless the next one's header may be on the
    /// disk: that says where this one ends, so nothing more may go into it.
    fn roll(&mut self) -> io::Result<()> {
        let number = self.active.number + 1;
        let file = self.spare.take(number, self.active.is_sealed)?;
        let next = match activate(file, number, u64::from(self.active.end), self.next_group) {
            Ok(next) => next,
            Err(error) => {
                self.active.is_sealed = true;
                self.spare.again(number);
                return Err(error);
            }
        };
        self.segments.add(number, Arc::clone(&next.file));
        let old = std::mem::replace(&mut self.active, next);
        seal(old.number, &*old.file, old.end);
        Ok(())
    }
}

/// Makes a file segment `number`, the one in use: its header is durable before any group goes in.
fn activate(file: Arc<dyn DiskFile>, number: u64, predecessor_end: u64, first_group: u64) -> io::Result<Active> {
    let salt = rand::random();
    let header = SegmentHeader { number, salt, predecessor_end, first_group };
    let octets = file.size()?;
    file.write_at(0, &header.encode())?;
    file.sync()?;
    Ok(Active { number, file, salt, end: GROUPS_START, octets, is_sealed: false })
}

/// Cuts a segment to what counts. That is known without it, from the successor's header or from replay, so nothing hangs on
/// it.
fn seal(number: u64, file: &dyn DiskFile, end: u32) {
    if let Err(error) = file.set_len(u64::from(end)) {
        tracing::warn!(segment = number, %error, "a full segment could not be cut to its end");
    }
}
