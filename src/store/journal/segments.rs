//! The set of segments, which any thread may read.
//!
//! A store may have thousands of segments, so a file is opened when it is read, and few files stay open.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;

use super::record::{FirstSector, GROUP_HEADER_OCTETS, RECORD_HEADER_OCTETS, RecordHead, SegmentHeader, decode_record};
use super::{GROUPS_START, RecordPlace, segment_name, segment_number};
use crate::model::{Envelope, Timestamp};
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::OpenError;

/// The most files that stay open for the next read, beside the segment in use.
const OPEN_MAX: usize = 64;

/// The segments by number. Clones share one set.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    files: Arc<Mutex<Files>>,
}

#[derive(Debug, Default)]
struct Files {
    /// Each segment with its file, if that is open.
    known: BTreeMap<u64, Option<Weak<dyn DiskFile>>>,
    /// The files that stay open. The last one was used last.
    recent: VecDeque<(u64, Arc<dyn DiskFile>)>,
    /// Removed files that a reader may still have open.
    removed: Vec<Weak<dyn DiskFile>>,
}

/// The segments that were ever in use, their headers, and the numbers of unused ones.
pub(super) type FoundSegments = (Segments, BTreeMap<u64, SegmentHeader>, Vec<u64>);

/// A message as the journal holds it.
#[derive(Debug)]
pub(crate) struct JournalMessage {
    pub(crate) place: RecordPlace,
    pub(crate) envelope: Envelope,
    pub(crate) received_at: Timestamp,
    pub(crate) raw: Bytes,
}

/// Whether anything was written at the place of a segment's first group.
pub(super) fn is_group_behind(file: &dyn DiskFile, size: u64) -> io::Result<bool> {
    let mut group = [0; GROUP_HEADER_OCTETS];
    if size >= u64::from(GROUPS_START) + GROUP_HEADER_OCTETS as u64 {
        file.read_at(u64::from(GROUPS_START), &mut group)?;
    }
    Ok(group != [0; GROUP_HEADER_OCTETS])
}

impl Files {
    /// Keeps a file open for the next read, and closes the least recently used one beyond the limit.
    fn keep(&mut self, number: u64, file: Arc<dyn DiskFile>) {
        self.known.insert(number, Some(Arc::downgrade(&file)));
        self.recent.retain(|(open, _)| *open != number);
        self.recent.push_back((number, file));
        if self.recent.len() > OPEN_MAX {
            self.recent.pop_front();
        }
    }
}

impl Segments {
    /// The segments of a directory with these numbers. Opens no file.
    pub(super) fn of(disk: Arc<dyn Disk>, numbers: impl IntoIterator<Item = u64>) -> Self {
        let files = Files { known: numbers.into_iter().map(|number| (number, None)).collect(), ..Files::default() };
        Self { disk, files: Arc::new(Mutex::new(files)) }
    }

    /// Finds the segments of a directory and reads their headers.
    pub(super) fn open(disk: Arc<dyn Disk>) -> Result<FoundSegments, OpenError> {
        let failed = OpenError::of_file;
        let names = disk.list().map_err(|error| failed("the data directory", &error))?;
        let mut headers = BTreeMap::new();
        let mut blank = Vec::new();
        for (number, name) in names.iter().filter_map(|name| Some((segment_number(name)?, name))) {
            let damaged = |what| OpenError::Damaged { segment: number, offset: 0, what };
            let file = match disk.open(name) {
                Ok(file) => file,
                // This may be the spare, which is being made again. Replay reports any other missing segment.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(name, &error)),
            };
            match read_header(&*file).map_err(|error| failed(name, &error))? {
                FirstSector::Blank => blank.push(number),
                FirstSector::Format(found) => {
                    return Err(OpenError::Format { file: name.clone(), found, known: super::FORMAT });
                }
                FirstSector::Header(header) if header.number == number => drop(headers.insert(number, header)),
                FirstSector::Lost => return Err(damaged("the segment's header is gone")),
                FirstSector::Header(_) | FirstSector::Damaged => {
                    return Err(damaged("the segment's header is not valid"));
                }
            }
        }
        Ok((Self::of(disk, headers.keys().copied()), headers, blank))
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Locks the set. A panic of another thread leaves it whole.
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the file of a segment. `None` if there is no such segment.
    pub(crate) fn file(&self, number: u64) -> io::Result<Option<Arc<dyn DiskFile>>> {
        {
            let mut files = self.files();
            let Some(known) = files.known.get(&number) else { return Ok(None) };
            if let Some(file) = known.as_ref().and_then(Weak::upgrade) {
                files.keep(number, Arc::clone(&file));
                return Ok(Some(file));
            }
        }
        let file = match self.disk.open(&segment_name(number)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut files = self.files();
        if files.known.contains_key(&number) {
            files.keep(number, Arc::clone(&file));
        } else {
            files.removed.push(Arc::downgrade(&file));
        }
        Ok(Some(file))
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        self.files().known.contains_key(&number)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.files().known.keys().copied().collect()
    }

    pub(super) fn add(&self, number: u64, file: Arc<dyn DiskFile>) {
        self.files().keep(number, file);
    }

    /// Removes the file of a segment. Its current readers can finish. After an error the call can be repeated.
    pub(crate) fn unlink(&self, number: u64) -> io::Result<()> {
        match self.disk.remove(&segment_name(number)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut files = self.files();
        files.recent.retain(|(open, _)| *open != number);
        let file = files.known.remove(&number).flatten();
        files.removed.extend(file);
        files.removed.retain(|file| file.strong_count() > 0);
        Ok(())
    }

    /// The octets of the disk's blocks that removed segments use, since readers still have them open.
    pub(crate) fn held_octets(&self) -> u64 {
        let removed: Vec<_> = self.files().removed.iter().filter_map(Weak::upgrade).collect();
        removed.iter().filter_map(|file| file.used_octets().ok()).sum()
    }

    /// Reads the message at `place` in one read. `Ok(None)` if the record is damaged or the segment is gone.
    pub(crate) fn content(&self, place: RecordPlace) -> io::Result<Option<JournalMessage>> {
        let Some(file) = self.file(place.segment)? else { return Ok(None) };
        let mut octets = vec![0; place.length as usize];
        match file.read_at(u64::from(place.offset), &mut octets) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let Some(record) = decode_record(&octets) else { return Ok(None) };
        let content_start = octets.len() - record.content.len();
        let Some((envelope, received_at)) = record.change.into_message() else { return Ok(None) };
        Ok(Some(JournalMessage { place, envelope, received_at, raw: Bytes::from(octets).slice(content_start..) }))
    }

    /// Reads the extent of the record at an offset from its header. `None` if the segment is gone or ends before.
    pub(crate) fn place_at(&self, segment: u64, offset: u32) -> io::Result<Option<RecordPlace>> {
        let Some(file) = self.file(segment)? else { return Ok(None) };
        let mut header = [0; RECORD_HEADER_OCTETS];
        match file.read_at(u64::from(offset), &mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let head = RecordHead::decode(&header);
        let (length, content) = (u32::try_from(head.length()), u32::try_from(head.content_octets));
        Ok(length.ok().zip(content.ok()).map(|(length, content)| RecordPlace { segment, offset, length, content }))
    }

    /// Punches out the contents of the records at `places`, which are sorted. Returns those for which it worked.
    ///
    /// The holes are durable, except in segment `in_use`. Only the writer may sync that segment, since an error of the sync
    /// concerns every write to it. Header and meta of each record stay readable.
    pub(crate) fn punch(&self, places: &[RecordPlace], in_use: u64) -> Vec<RecordPlace> {
        let mut done = Vec::with_capacity(places.len());
        for places in places.chunk_by(|one, next| one.segment == next.segment) {
            let segment = places[0].segment;
            let Ok(file) = self.file(segment) else { continue };
            let Some(file) = file else {
                done.extend(places);
                continue;
            };
            let before = done.len();
            done.extend(places.iter().filter(|place| {
                let start = u64::from(place.offset) + u64::from(place.length - place.content);
                file.punch(start, u64::from(place.content)).is_ok()
            }));
            if segment != in_use && file.sync().is_err() {
                done.truncate(before);
            }
        }
        done
    }
}

/// Reads the first sector of a segment's file.
pub(super) fn read_header(file: &dyn DiskFile) -> io::Result<FirstSector> {
    let mut sector = [0; GROUPS_START as usize];
    let size = file.size()?;
    if size >= u64::from(GROUPS_START) {
        file.read_at(0, &mut sector)?;
    }
    match SegmentHeader::decode(&sector) {
        // A header is durable before the first group, so a group without a header means damage.
        FirstSector::Blank if is_group_behind(file, size)? => Ok(FirstSector::Lost),
        found => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::Directory;

    #[test]
    fn few_files_stay_open_however_many_there_are() {
        let dir = tempfile::tempdir().expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        for number in 1..=200 {
            drop(disk.create(&segment_name(number)).expect("create"));
        }
        let segments = Segments::of(disk, 1..=200);
        let first = segments.file(1).expect("open").expect("a file");
        for number in 2..=200 {
            segments.file(number).expect("open").expect("a file");
            segments.file(1).expect("open").expect("a file");
        }
        assert_eq!(segments.files().recent.len(), OPEN_MAX);
        let again = segments.file(1).expect("open").expect("a file");
        assert!(Arc::ptr_eq(&first, &again), "a file that is read all the time stays open");
    }

    #[test]
    fn a_removed_file_counts_for_as_long_as_somebody_reads_it() {
        let dir = tempfile::tempdir().expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
        disk.create(&segment_name(1)).expect("create").allocate(1 << 20).expect("allocate");
        let segments = Segments::of(disk, [1]);
        let reader = segments.file(1).expect("open").expect("a file");
        segments.unlink(1).expect("unlink");
        assert!(segments.file(1).expect("looked").is_none());
        assert!(segments.held_octets() >= 1 << 20);
        drop(reader);
        assert_eq!(segments.held_octets(), 0);
    }
}
