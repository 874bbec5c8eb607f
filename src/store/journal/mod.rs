//! The journal: all facts, as groups of records in preallocated segments, with the octets of mail.
//!
//! ```text
//! format  layout of headers, groups, records and hints     files   the files, and reads from them
//! group   a group that is being encoded                    active  the segment in use
//! spare   makes the next segment ahead of need             scan    the one reader
//! search  finds the next group behind damage              begin    continues after what a scan found
//! ```
//!
//! A segment is never written again after an opening, a failed append or a failed sync. The header of the next segment
//! says where its valid part ends. A file has the name of a segment only once its header is durable.

mod active;
mod begin;
mod files;
mod format;
mod group;
mod scan;
mod search;
mod spare;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use files::{Files, JournalMessage};
pub(crate) use format::GROUPS_START;
pub(in crate::store) use format::{RECORD_HEADER_OCTETS, RecordHead, decode_meta, encode_record};
pub(crate) use group::Group;
pub(crate) use scan::{Content, Found, Mode, scan};
pub(crate) use spare::SpareView;

use active::Active;
use format::{GROUP_HEADER_OCTETS, GroupHeader, HintWriter, SegmentHeader};
use scan::LastSegment;
use spare::{Sealed, Spare};

use super::change::RecordPlace;
use crate::store::disk::BLOCK_OCTETS;
use crate::store::{StoreError, StoreOptions};

/// The end of the last segment that is reserved for facts that free space.
const FREEING_RESERVE_OCTETS: u64 = 1 << 20;
/// The largest record without its message: an envelope of 100 recipients with the longest addresses, each twice.
const RECORD_OVERHEAD_OCTETS: u64 = 96 << 10;
/// Octets of dead segments must be written over within this time, or their file is removed.
const OVERWRITTEN_WITHIN: Duration = Duration::from_mins(1);

/// Where the hints of sealed segments are kept, each under a checksum. A hint that is lost costs a scan of its segment.
pub(crate) trait Hints: Debug + Send + Sync {
    /// The hint of a segment, if there is one.
    fn get(&self, segment: u32) -> Option<Vec<u8>>;
    /// Keeps the hint of a segment.
    fn put(&self, segment: u32, hint: Vec<u8>);
    /// Forgets the hints of segments that are to be removed, durably. `false` if that failed: then they must stay, since a
    /// hint without its segment means that the segment is missing.
    fn remove(&self, segments: &[u32]) -> bool;
    /// The segments that have a hint.
    fn numbers(&self) -> Vec<u32>;
}

/// The file name of a segment.
pub(crate) fn segment_name(number: u32) -> String {
    format!("journal-{number:016}")
}

/// The number of the segment with this file name. `None` for other files.
pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("journal-")?;
    (digits.len() == 16).then(|| digits.parse().ok())?
}

/// The smallest segment that takes a message of the largest size.
pub(crate) fn least_segment_octets(message_octets_max: u64) -> u64 {
    u64::from(GROUPS_START) + GROUP_HEADER_OCTETS as u64 + message_octets_max + RECORD_OVERHEAD_OCTETS
}

/// The most octets of a group before its last record, so that the group fits into every segment.
pub(crate) fn group_room(options: &StoreOptions) -> u64 {
    options.segment_octets.saturating_sub(least_segment_octets(options.message_octets_max))
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
    files: Files,
    hints: Arc<dyn Hints>,
    /// The segment that the last process used last, until there is one in use.
    last: Option<LastSegment>,
    active: Option<Active>,
    next_group: u64,
    spare: Spare,
    segment_octets: u64,
    /// Segments that were removed, as long as a power cut may bring them back.
    removed: Vec<u32>,
    /// Whether a dead segment was renamed, as long as a power cut may undo that.
    has_renamed: bool,
    /// When a dead segment was taken for the next one, as long as it was not used.
    dead_since: Option<Instant>,
    opened: Instant,
}

impl Journal {
    /// The segments that can be read.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    pub(crate) fn spare(&self) -> SpareView {
        self.spare.view()
    }

    /// The last segment and where its last group begins, in which nothing may be punched out: an opening takes a last group
    /// without its contents for one that a crash cut short.
    pub(crate) fn last_group(&self) -> Option<(u32, u32)> {
        let of_active = self.active.as_ref().map(|active| (active.header.number, active.last_group));
        // A hint does not say where the last group begins, and may be lost.
        let of_last = || self.last.as_ref().map(|last| (last.header.number, last.last_group.or(Some(GROUPS_START))));
        of_active.or_else(of_last).and_then(|(number, group)| Some((number, group?)))
    }

    /// Writes a group and makes it durable with one sync. Returns the places of its records.
    ///
    /// `next_sequence` is the next sequence number after the group. After an error the group is not in the journal and
    /// never will be. But after [`StoreError::OutcomeUnknown`] the next start decides.
    pub(crate) fn append(&mut self, group: &mut Group, next_sequence: u64) -> Result<Vec<RecordPlace>, AppendError> {
        let number = self.next_group;
        let active = self.make_room(group, next_sequence)?;
        let at = active.end;
        let length = u32::try_from(group.octets.len() - GROUP_HEADER_OCTETS).unwrap_or(u32::MAX);
        let records = u32::try_from(group.records.len()).unwrap_or(u32::MAX);
        let header = GroupHeader { number, length, records };
        group.octets[..GROUP_HEADER_OCTETS].copy_from_slice(&header.encode(active.header.salt));
        let octets = group.octets.len();
        if !active.is_recycled {
            // The rest of the last block is zeros already. Without it in the write, the file system would read the block
            // first.
            let end = (u64::from(at) + octets as u64).next_multiple_of(BLOCK_OCTETS as u64).min(active.octets);
            group.octets.resize(usize::try_from(end - u64::from(at)).unwrap_or(octets), 0);
        }
        let written = active.file.write_at(u64::from(at), &group.octets).and_then(|()| active.file.sync());
        group.octets.truncate(octets);
        if let Err(error) = written {
            return Err(AppendError::Failed(self.cut_off(StoreError::from_io(&error), next_sequence)));
        }
        let places = active.add(group, at);
        self.next_group += 1;
        Ok(places)
    }

    /// Cuts off a group whose write or sync failed, by a durable header of the next segment.
    ///
    /// Returns `cause`, or [`StoreError::OutcomeUnknown`] if that header cannot be written.
    fn cut_off(&mut self, cause: StoreError, next_sequence: u64) -> StoreError {
        if let Some(active) = &mut self.active {
            active.is_sealed = true;
        }
        match self.roll(next_sequence) {
            Ok(()) => cause,
            Err(error) => {
                tracing::error!(%error, "a failed group could not be cut off; its senders get no answer");
                StoreError::OutcomeUnknown
            }
        }
    }

    /// The segment for a group: the one in use, or a new one if the group does not fit.
    fn make_room(&mut self, group: &Group, next_sequence: u64) -> Result<&mut Active, AppendError> {
        let octets = group.octets();
        if u64::from(GROUPS_START) + octets > self.segment_octets {
            return Err(AppendError::Failed(StoreError::Failed("a group is larger than a segment".into())));
        }
        // A recycled segment may be too small for a large group, and the next one is not.
        for _ in 0..2 {
            if !self.active.as_ref().is_some_and(|active| active.fits(octets)) {
                self.roll(next_sequence).map_err(AppendError::NoRoom)?;
            }
        }
        let failure = self.spare.view().failure().filter(|_| !group.frees_space_only);
        let Some(active) = self.active.as_mut().filter(|active| active.fits(octets)) else {
            return Err(AppendError::NoRoom(StoreError::Full));
        };
        match failure {
            Some(failure) if !active.fits(octets + FREEING_RESERVE_OCTETS.min(self.segment_octets / 4)) => {
                Err(AppendError::NoRoom(failure))
            }
            _ => Ok(active),
        }
    }

    /// Continues in the next segment.
    ///
    /// After an error the segment in use is unchanged. But if the next one's header may be on the disk, the segment in use
    /// is sealed, since that header says where it ends.
    fn roll(&mut self, next_sequence: u64) -> Result<(), StoreError> {
        let (before, predecessor_end) = match (&self.active, &self.last) {
            (Some(active), _) => (active.header.number, active.end),
            (None, Some(last)) => (last.header.number, last.end),
            (None, None) => (0, 0),
        };
        let must_roll = self.active.as_ref().is_none_or(|active| active.is_sealed);
        let ready = self.spare.get(must_roll)?;
        let header = SegmentHeader {
            number: before + 1,
            salt: rand::random(),
            predecessor_end,
            first_group: self.next_group,
            first_sequence: next_sequence,
        };
        let name = segment_name(header.number);
        let disk = self.files.disk();
        let begun = ready
            .file
            .write_at(0, &header.encode())
            .and_then(|()| ready.file.sync())
            .and_then(|()| disk.rename(ready.name, &name))
            .and_then(|()| disk.sync_dir())
            .and_then(|()| disk.open(&name))
            .and_then(|file| Ok((file.size()?, file)));
        self.spare.used();
        let (octets, file) = begun.map_err(|error| {
            // The file may have its name by now, or not.
            let _ = disk.remove(&name);
            let _ = disk.remove(ready.name);
            if let Some(active) = &mut self.active {
                active.is_sealed = true;
            }
            StoreError::from_io(&error)
        })?;
        if ready.is_recycled() {
            self.dead_since = None;
        }
        self.files.add(header.number, Arc::clone(&file));
        let next = Active {
            header,
            is_recycled: ready.is_recycled(),
            file,
            end: GROUPS_START,
            last_group: None,
            octets,
            is_sealed: false,
            begun: Instant::now(),
            hint: HintWriter::new(),
        };
        if let Some(old) = self.active.replace(next) {
            self.seal(old);
        }
        Ok(())
    }

    /// Has a segment truncated to its valid part, and its hint kept.
    fn seal(&self, old: Active) {
        let hint = old.hint.seal(&old.header, old.end, self.next_group);
        self.spare.keep_hint(Sealed { number: old.header.number, end: old.end, hint: Some(hint) });
    }

    /// Continues in a new segment if the one in use has groups and is older than `age`, or the opening is. Octets of dead
    /// segments that were not written over in time go.
    pub(crate) fn roll_if_old(&mut self, age: Duration, next_sequence: u64) {
        if self.dead_since.is_some_and(|since| since.elapsed() >= OVERWRITTEN_WITHIN / 2) {
            self.dead_since = None;
            self.spare.drop_recycled();
        }
        let (begun, has_groups, is_recycled) = match (&self.active, &self.last) {
            (Some(active), _) => (active.begun, active.last_group.is_some(), active.is_recycled),
            // An earlier process wrote it.
            (None, Some(_)) => (self.opened, true, false),
            (None, None) => return,
        };
        let is_old = has_groups && begun.elapsed() >= age;
        let is_stale = is_recycled && begun.elapsed() >= OVERWRITTEN_WITHIN / 2;
        if (is_old || is_stale)
            && let Err(error) = self.roll(next_sequence)
            // That the disk is full is said elsewhere.
            && error != StoreError::Full
        {
            tracing::warn!(%error, "the journal could not go on in a new segment; the next second tries again");
        }
    }

    /// The segments that exist, or may after a power cut, without the last one. The oldest comes first.
    pub(crate) fn sealed(&self) -> Vec<u32> {
        let mut numbers = self.files.numbers();
        // The last segment is never removed.
        numbers.pop();
        numbers.extend(&self.removed);
        numbers.sort_unstable();
        numbers
    }

    /// Removes segments that nothing needs any more. Until that is durable, [`Journal::sealed`] still names them.
    pub(crate) fn retire(&mut self, numbers: &[u32]) {
        // The next segment says where one ends whose length and hint are not durable yet.
        let is_needed = |number: u32| self.spare.is_sealing(number) || self.spare.is_sealing(number.saturating_sub(1));
        let is_next = |number: &u32| !is_needed(*number) && !self.removed.contains(number);
        let numbers: Vec<u32> = numbers.iter().copied().filter(is_next).collect();
        if !numbers.is_empty() && !self.hints.remove(&numbers) {
            return;
        }
        for number in numbers {
            let is_large = self.files.size(number) >= self.segment_octets / 4 * 3;
            let recycles = !self.has_renamed
                && is_large
                && self.is_overwritten_soon()
                && self.files.take_unused(number, || self.spare.rename_dead(&segment_name(number)));
            if recycles {
                self.has_renamed = true;
            } else if let Err(error) = self.files.unlink(number) {
                tracing::warn!(segment = number, %error, "an empty segment could not be removed; the next second tries again");
                continue;
            }
            self.removed.push(number);
        }
        if !self.removed.is_empty() && self.files.disk().sync_dir().is_ok() {
            self.removed.clear();
            if std::mem::take(&mut self.has_renamed) {
                self.dead_since = Some(Instant::now());
                self.spare.take_dead();
            }
        }
    }

    /// Seals the segment in use, so that the next start needs only its hint. Nothing can be appended any more.
    pub(crate) fn close(mut self) {
        if let Some(active) = self.active.take().filter(|active| !active.is_sealed && active.last_group.is_some()) {
            self.seal(active);
        }
    }

    /// Whether two segments are written in less time than dead octets may stay.
    fn is_overwritten_soon(&self) -> bool {
        self.active.as_ref().is_some_and(|active| {
            let written = u128::from(active.end - GROUPS_START);
            let of_two = active.begun.elapsed().as_millis() * u128::from(2 * self.segment_octets);
            written * (OVERWRITTEN_WITHIN / 2).as_millis() > of_two
        })
    }
}
