//! The files of the segments, which any thread may read.
//!
//! A store may have thousands of segments, so a file is opened when it is read, and few files stay open.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::{Buf, Bytes};

use super::format::{FORMAT, FirstSector, GROUPS_START, SegmentHeader, decode_record};
use super::{segment_name, segment_number};
use crate::model::{EmailId, Envelope, Timestamp};
use crate::store::OpenError;
use crate::store::change::RecordPlace;
use crate::store::disk::{Disk, DiskFile};

/// The last format whose files lay in the data directory itself.
const LAST_EARLIER_FORMAT: u32 = 10;
/// How often a reader that must not wait tries to get the lock.
const LOCK_TRIES: usize = 100;
/// The most files that stay open for the next read.
const OPEN_MAX: usize = 64;

/// The segments by number. Clones share one set.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Each segment with its file, if that is open.
    known: BTreeMap<u32, Option<Weak<dyn DiskFile>>>,
    /// The files that stay open. The last one was used last.
    recent: VecDeque<(u32, Arc<dyn DiskFile>)>,
    /// Removed files that a reader may still have open.
    removed: Vec<Weak<dyn DiskFile>>,
}

/// A message as the journal holds it.
#[derive(Debug)]
pub(crate) struct JournalMessage {
    pub(crate) envelope: Envelope,
    pub(crate) received_at: Timestamp,
    pub(crate) raw: Bytes,
}

impl JournalMessage {
    /// The message in the octets of a record. `None` if they are damaged.
    fn of_record(octets: Vec<u8>) -> Option<Self> {
        let record = decode_record(&octets)?;
        let content_start = octets.len() - record.content.len();
        let (envelope, received_at) = record.change.into_message()?;
        let mut raw = Bytes::from(octets);
        raw.advance(content_start);
        Some(Self { envelope, received_at, raw })
    }

    /// Whether an Email with this id is of the message.
    pub(crate) fn has(&self, id: EmailId) -> bool {
        self.envelope.recipients.iter().any(|to| to.id == id)
    }
}

impl State {
    /// The file of a segment if it is open.
    fn open_file(&mut self, number: u32) -> Option<Arc<dyn DiskFile>> {
        if let Some((_, file)) = self.recent.back().filter(|(last, _)| *last == number) {
            return Some(Arc::clone(file));
        }
        let file = self.known.get(&number)?.as_ref().and_then(Weak::upgrade)?;
        self.keep(number, Arc::clone(&file));
        Some(file)
    }

    /// Keeps a file open for the next read, and closes the least recently used one beyond the limit.
    fn keep(&mut self, number: u32, file: Arc<dyn DiskFile>) {
        self.known.insert(number, Some(Arc::downgrade(&file)));
        self.recent.retain(|(open, _)| *open != number);
        self.recent.push_back((number, file));
        if self.recent.len() > OPEN_MAX {
            self.recent.pop_front();
        }
    }
}

impl Files {
    /// Finds the segments in a directory. Opens none.
    ///
    /// Files of a store of another format are [`OpenError::Format`].
    pub(crate) fn open(disk: &Arc<dyn Disk>) -> Result<Self, OpenError> {
        let failed = |error: io::Error| OpenError::of_file("the data directory", &error);
        if let Some(file) = disk.earlier_store().map_err(failed)? {
            return Err(OpenError::Format { file, found: LAST_EARLIER_FORMAT, known: FORMAT });
        }
        let names = disk.list().map_err(failed)?;
        let known = names.iter().filter_map(|name| Some((segment_number(name)?, None))).collect();
        let state = State { known, ..State::default() };
        Ok(Self { disk: Arc::clone(disk), state: Arc::new(Mutex::new(state)) })
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state().known.is_empty()
    }

    /// The numbers of the segments, in their order.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.state().known.keys().copied().collect()
    }

    /// The octets of all segments.
    pub(crate) fn octets(&self) -> u64 {
        self.numbers().into_iter().map(|number| self.size(number)).sum()
    }

    /// The octets of a segment's file, 0 if there is none.
    pub(super) fn size(&self, number: u32) -> u64 {
        self.file(number).ok().flatten().and_then(|file| file.size().ok()).unwrap_or(0)
    }

    /// Locks the set. A panic of another thread leaves it whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the file of a segment. `None` if there is no such segment.
    pub(super) fn file(&self, number: u32) -> io::Result<Option<Arc<dyn DiskFile>>> {
        {
            let mut state = self.state();
            if let Some(file) = state.open_file(number) {
                return Ok(Some(file));
            }
            if !state.known.contains_key(&number) {
                return Ok(None);
            }
        }
        let file = match self.disk.open(&segment_name(number)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut state = self.state();
        if !state.known.contains_key(&number) {
            // It was removed meanwhile, and its file may be that of another segment by now.
            return Ok(None);
        }
        state.keep(number, Arc::clone(&file));
        Ok(Some(file))
    }

    /// Reads the header of a segment. `None` if it is no valid header of this segment.
    pub(super) fn header(&self, number: u32) -> Result<Option<SegmentHeader>, OpenError> {
        let name = segment_name(number);
        let failed = |error: io::Error| OpenError::of_file(&name, &error);
        let Some(file) = self.file(number).map_err(failed)? else { return Ok(None) };
        let mut sector = [0; GROUPS_START as usize];
        if file.size().map_err(failed)? >= u64::from(GROUPS_START) {
            file.read_at(0, &mut sector).map_err(failed)?;
        }
        match SegmentHeader::decode(&sector) {
            FirstSector::Header(header) if header.number == number => Ok(Some(header)),
            FirstSector::Header(_) | FirstSector::Damaged => Ok(None),
            FirstSector::Format(found) => Err(OpenError::Format { file: name, found, known: FORMAT }),
        }
    }

    /// Fails with [`OpenError::Format`] if a segment has another format. Writes nothing.
    pub(crate) fn check_formats(&self) -> Result<(), OpenError> {
        self.numbers().into_iter().try_for_each(|number| self.header(number).map(drop))
    }

    pub(super) fn add(&self, number: u32, file: Arc<dyn DiskFile>) {
        self.state().keep(number, file);
    }

    /// Removes the file of a segment. Its current readers can finish. After an error the call can be repeated.
    pub(super) fn unlink(&self, number: u32) -> io::Result<()> {
        match self.disk.remove(&segment_name(number)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut state = self.state();
        state.recent.retain(|(open, _)| *open != number);
        let file = state.known.remove(&number).flatten();
        state.removed.extend(file);
        state.removed.retain(|file| file.strong_count() > 0);
        Ok(())
    }

    /// Takes a segment out of the set if nobody has its file open and `rename` succeeds. What is written into a file that
    /// somebody has open could be read or punched out by mistake.
    pub(super) fn take_unused(&self, number: u32, rename: impl FnOnce() -> bool) -> bool {
        let mut state = self.state();
        state.recent.retain(|(open, _)| *open != number);
        let is_open =
            state.known.get(&number).is_some_and(|file| file.as_ref().is_some_and(|file| file.strong_count() > 0));
        !is_open && rename() && state.known.remove(&number).is_some()
    }

    /// The octets of the disk's blocks that removed segments use, since readers still have them open.
    pub(crate) fn held_octets(&self) -> u64 {
        let removed: Vec<_> = self.state().removed.iter().filter_map(Weak::upgrade).collect();
        removed.iter().filter_map(|file| file.used_octets().ok()).sum()
    }

    /// Reads the message at `place` in one read. `Ok(None)` if the record is damaged or the segment is gone.
    ///
    /// The file of a segment that is gone may have been written again, so the caller compares the message with what it
    /// looked for.
    pub(crate) fn read(&self, place: RecordPlace) -> io::Result<Option<JournalMessage>> {
        let Some(file) = self.file(place.segment)? else { return Ok(None) };
        let mut octets = vec![0; place.length as usize];
        match file.read_at(u64::from(place.offset), &mut octets) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        Ok(JournalMessage::of_record(octets))
    }

    /// Reads the message at `place` as [`Files::read`] does, without waiting for the disk. `None` if that can't be done.
    pub(crate) fn read_cached(&self, place: RecordPlace) -> Option<JournalMessage> {
        let mut octets = vec![0; place.length as usize];
        let is_read = self.read_part_cached(place.segment, u64::from(place.offset), &mut octets);
        is_read.then_some(octets).and_then(JournalMessage::of_record)
    }

    /// Fills `out` from `offset` of a segment, likewise. What it gets may be damaged, or of another segment by now.
    pub(crate) fn read_part_cached(&self, segment: u32, offset: u64, out: &mut [u8]) -> bool {
        // Another reader has the lock for no time. Whoever removes a file may have it for longer.
        let state = (0..LOCK_TRIES).find_map(|_| self.state.try_lock().ok());
        let file = state.and_then(|mut state| state.open_file(segment));
        file.is_some_and(|file| file.read_cached(offset, out))
    }

    /// Punches out the content of the record at `place`. Its header and meta stay readable. Nothing is synced: after a
    /// crash the hole may be gone, and is made again.
    pub(crate) fn punch(&self, place: RecordPlace) -> io::Result<()> {
        let Some(file) = self.file(place.segment)? else { return Ok(()) };
        file.punch(u64::from(place.offset + (place.length - place.content)), u64::from(place.content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::Directory;

    fn directory(dir: &tempfile::TempDir) -> Arc<dyn Disk> {
        Arc::new(Directory::lock(dir.path()).expect("lock"))
    }

    #[test]
    fn few_files_stay_open_however_many_there_are() {
        let dir = tempfile::tempdir().expect("directory");
        let disk = directory(&dir);
        for number in 1..=200 {
            drop(disk.create(&segment_name(number)).expect("create"));
        }
        let files = Files::open(&disk).expect("open");
        let first = files.file(1).expect("open").expect("a file");
        for number in 2..=200 {
            files.file(number).expect("open").expect("a file");
            files.file(1).expect("open").expect("a file");
        }
        assert_eq!(files.state().recent.len(), OPEN_MAX);
        let again = files.file(1).expect("open").expect("a file");
        assert!(Arc::ptr_eq(&first, &again), "a file that is read all the time stays open");
    }

    #[test]
    fn a_removed_file_counts_for_as_long_as_somebody_reads_it() {
        let dir = tempfile::tempdir().expect("directory");
        let disk = directory(&dir);
        disk.create(&segment_name(1)).expect("create").allocate(1 << 20).expect("allocate");
        let files = Files::open(&disk).expect("open");
        let reader = files.file(1).expect("open").expect("a file");
        files.unlink(1).expect("unlink");
        assert!(files.file(1).expect("looked").is_none());
        assert!(files.held_octets() >= 1 << 20);
        drop(reader);
        assert_eq!(files.held_octets(), 0);
    }
}
