//! The journal: the source of truth, as groups of records in preallocated segments.
//!
//! ```text
//! record    layout of headers, groups and records    segments  the files, and reads from them
//! spare     makes the next segment ahead of need     search    finds the next group behind damage
//! replay    what an opening applies again after a crash
//! walk      reads a segment step by step, damage included
//! ```
//!
//! A segment is never written again after an opening, a failed append or a failed sync. The header of the next segment
//! says where its valid part ends.

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
pub(crate) use segments::{JournalMessage, Segments};
use spare::Spare;
pub(crate) use spare::SpareView;
pub(crate) use walk::{SegmentFiles, Walk, WalkItem, WalkedContent, WalkedRecord};

use super::StoreOptions;
use super::change::Change;
use super::disk::{BLOCK_OCTETS, DiskFile};
use super::error::{OpenError, StoreError};

/// The end of the last segment that is reserved for changes that free space.
const FREEING_RESERVE_OCTETS: u64 = 1 << 20;
/// The largest record without its message: an envelope of 100 recipients with the longest addresses, each twice.
const RECORD_OVERHEAD_OCTETS: u64 = 96 << 10;

/// The size of a process's first segment, beside its last record. It is small because the start waits for it.
const FIRST_ROOM_OCTETS: u64 = 4 << 20;

/// A position between two groups. Positions are ordered as in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) segment: u64,
    pub(crate) offset: u32,
    /// The number of the group that begins here.
    pub(crate) group: u64,
}

impl Position {
    /// Where the first group of a new store begins.
    pub(crate) const START: Self = Self { segment: 1, offset: GROUPS_START, group: 1 };
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct RecordPlace {
    pub(crate) segment: u64,
    pub(crate) offset: u32,
    /// Octets of the whole record.
    pub(crate) length: u32,
    /// Octets of its content, which is at its end.
    pub(crate) content: u32,
}

/// The file name of a segment.
pub(crate) fn segment_name(number: u64) -> String {
    format!("journal-{number:016}")
}

/// The number of the segment with this file name. `None` for other files.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("journal-")?;
    (digits.len() == 16).then(|| digits.parse().ok())?
}

/// The smallest segment that takes a message of the largest size.
pub(crate) fn least_segment_octets(message_octets_max: u64) -> u64 {
    u64::from(GROUPS_START) + GROUP_HEADER_OCTETS as u64 + message_octets_max + RECORD_OVERHEAD_OCTETS
}

/// The size of a process's first segment, and of the first one after a failure. Every group fits into it.
fn first_segment_octets(options: &StoreOptions) -> u64 {
    options.segment_octets.min(least_segment_octets(options.message_octets_max) + FIRST_ROOM_OCTETS)
}

/// The most octets of a group before its last record, so that the group fits into every segment.
pub(crate) fn group_room(options: &StoreOptions) -> u64 {
    first_segment_octets(options).saturating_sub(least_segment_octets(options.message_octets_max))
}

/// A group that is being encoded.
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

    /// Adds a record. After an error the group is unchanged.
    pub(crate) fn push(&mut self, change: &Change, content: &[u8]) -> Result<(), StoreError> {
        let start = self.octets.len();
        if let Err(error) = encode_record(change, content, &mut self.octets) {
            self.octets.truncate(start);
            return Err(StoreError::Failed(format!("a change could not be encoded: {error}")));
        }
        self.records.push((start, self.octets.len() - start, content.len()));
        self.frees_space_only &= change.frees_space();
        Ok(())
    }

    pub(crate) fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Whether all changes free space.
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

/// The segment in use.
#[derive(Debug)]
struct Active {
    number: u64,
    file: Arc<dyn DiskFile>,
    salt: u64,
    /// The offset of the next group. Everything before it is durable.
    end: u32,
    /// The allocated size.
    octets: u64,
    /// Its state is in doubt, so it is never written again.
    is_sealed: bool,
}

/// Why a group is not in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AppendError {
    /// There is no room. Nothing was written. A smaller group, or one that only frees space, may fit.
    NoRoom(StoreError),
    /// The write failed.
    Failed(StoreError),
}

impl From<AppendError> for StoreError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::NoRoom(cause) | AppendError::Failed(cause) => cause,
        }
    }
}

/// The journal. Only the writer thread has it.
#[derive(Debug)]
pub(crate) struct Journal {
    segments: Segments,
    active: Active,
    next_group: u64,
    spare: Spare,
    /// The smallest size of a segment, except on a full disk.
    first_octets: u64,
}

impl Journal {
    /// Continues the journal after `end` in a new segment. `end` is where replay stopped, or [`Position::START`].
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
            // Replay has just found this end. On a full disk the truncation makes room for the next segment.
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

    /// The position of the next group.
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

    /// Whether a group fits into the segment in use.
    fn fits(&self, octets: u64) -> bool {
        u64::from(self.active.end) + octets <= self.active.octets
    }

    /// Writes a group and makes it durable. Returns its position, which may be in a new segment, and those of its records.
    ///
    /// After an error the group is not in the journal and never will be. But after [`StoreError::OutcomeUnknown`] the next
    /// start decides.
    pub(crate) fn append(&mut self, group: &mut Group) -> Result<(Position, Vec<RecordPlace>), AppendError> {
        self.make_room(group)?;
        let start = self.position();
        let at = start.offset;
        let length = u32::try_from(group.octets.len() - GROUP_HEADER_OCTETS).unwrap_or(u32::MAX);
        let records = u32::try_from(group.records.len()).unwrap_or(u32::MAX);
        let header = GroupHeader { number: self.next_group, synced: at, length, records };
        group.octets[..GROUP_HEADER_OCTETS].copy_from_slice(&header.encode(self.active.salt));
        let file = &self.active.file;
        let octets = group.octets.len();
        // The rest of the last block is zeros already. Without it in the write, the file system would read the block first.
        let end = (u64::from(at) + octets as u64).next_multiple_of(BLOCK_OCTETS as u64).min(self.active.octets);
        group.octets.resize(usize::try_from(end - u64::from(at)).unwrap_or(octets), 0);
        let written = file.write_at(u64::from(at), &group.octets).and_then(|()| file.sync());
        group.octets.truncate(octets);
        if let Err(error) = written {
            return Err(AppendError::Failed(self.cut_off(at, StoreError::from_io(&error))));
        }
        self.active.end = at + length + u32::try_from(GROUP_HEADER_OCTETS).unwrap_or(u32::MAX);
        self.next_group += 1;
        Ok((start, group.places(start.segment, at)))
    }

    /// Cuts off the group at `offset`, whose write or sync failed, by a durable header of the next segment.
    ///
    /// Returns `cause`, or [`StoreError::OutcomeUnknown`] if that header cannot be written.
    fn cut_off(&mut self, offset: u32, cause: StoreError) -> StoreError {
        self.active.end = offset;
        self.active.is_sealed = true;
        match self.roll() {
            Ok(()) => cause,
            Err(error) => {
                tracing::error!(%error, "a failed group could not be cut off; its senders get no answer");
                StoreError::OutcomeUnknown
            }
        }
    }

    /// Continues in a new segment if a group does not fit into the one in use.
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

    /// Makes the changes of others to a segment durable, such as punched holes.
    ///
    /// If the sync of the segment in use fails, no further group goes into that segment. Its groups are durable already.
    pub(crate) fn sync(&mut self, segment: u64) -> io::Result<()> {
        if segment == self.active.number {
            return self.active.file.sync().inspect_err(|_| self.active.is_sealed = true);
        }
        self.segments.file(segment)?.map_or(Ok(()), |file| file.sync())
    }

    /// Gives the space of the next segment to the index.
    pub(crate) fn give_up_spare(&self) {
        self.spare.give_up();
    }

    /// Continues in the next segment.
    ///
    /// After an error the segment in use is unchanged. But if the next one's header may be on the disk, the segment in use
    /// is sealed, since that header says where it ends.
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

/// Makes a file the segment in use. Its header is durable before the first group.
fn activate(file: Arc<dyn DiskFile>, number: u64, predecessor_end: u64, first_group: u64) -> io::Result<Active> {
    let salt = rand::random();
    let header = SegmentHeader { number, salt, predecessor_end, first_group };
    let octets = file.size()?;
    file.write_at(0, &header.encode())?;
    file.sync()?;
    Ok(Active { number, file, salt, end: GROUPS_START, octets, is_sealed: false })
}

/// Truncates a segment to its valid part. A failure is harmless: the next header or replay knows the end as well.
fn seal(number: u64, file: &dyn DiskFile, end: u32) {
    if let Err(error) = file.set_len(u64::from(end)) {
        tracing::warn!(segment = number, %error, "a full segment could not be truncated; it stays usable");
    }
}
