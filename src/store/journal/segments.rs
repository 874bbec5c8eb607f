//! The segments that exist, open for reading from any thread.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use super::record::{FirstSector, GROUP_HEADER_OCTETS, SegmentHeader, decode_record};
use super::{GROUPS_START, RecordPlace, segment_name, segment_number};
use crate::model::Envelope;
use crate::store::disk::{Disk, DiskFile};
use crate::store::error::OpenError;

/// The open segments by number. Cheap to clone; all clones are one set.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    files: Arc<RwLock<BTreeMap<u64, Arc<dyn DiskFile>>>>,
}

/// The segments that were ever in use, their headers, and the numbers of those that never were.
pub(super) type FoundSegments = (Segments, BTreeMap<u64, SegmentHeader>, Vec<u64>);

/// A message as the journal holds it.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) envelope: Envelope,
    pub(crate) raw: Bytes,
}

/// Whether anything was written where the first group of a segment begins.
pub(super) fn is_group_behind(file: &dyn DiskFile, size: u64) -> io::Result<bool> {
    let mut group = [0; GROUP_HEADER_OCTETS];
    if size >= u64::from(GROUPS_START) + GROUP_HEADER_OCTETS as u64 {
        file.read_at(u64::from(GROUPS_START), &mut group)?;
    }
    Ok(group != [0; GROUP_HEADER_OCTETS])
}

impl Segments {
    /// Opens every segment of the directory that was ever in use. With each comes its header; then
    /// the numbers of those that were never in use.
    pub(super) fn open(disk: Arc<dyn Disk>) -> Result<FoundSegments, OpenError> {
        let failed = OpenError::of_file;
        let names = disk.list().map_err(|error| failed("the data directory", &error))?;
        let mut files = BTreeMap::new();
        let mut headers = BTreeMap::new();
        let mut blank = Vec::new();
        for (number, name) in names.iter().filter_map(|name| Some((segment_number(name)?, name))) {
            let file = match disk.open(name) {
                Ok(file) => file,
                // The spare, which is being made anew at this moment. Any other that lacks is missed later.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(name, &error)),
            };
            let mut sector = [0; GROUPS_START as usize];
            let size = file.size().map_err(|error| failed(name, &error))?;
            if size >= u64::from(GROUPS_START) {
                file.read_at(0, &mut sector).map_err(|error| failed(name, &error))?;
            }
            match SegmentHeader::decode(&sector) {
                // A header is durable before a group follows it.
                FirstSector::Blank if is_group_behind(&*file, size).map_err(|error| failed(name, &error))? => {
                    return Err(OpenError::Damaged {
                        segment: number,
                        offset: 0,
                        what: "the segment's header is gone",
                    });
                }
                FirstSector::Blank => blank.push(number),
                FirstSector::Format(found) => {
                    return Err(OpenError::Format { file: name.clone(), found, known: super::FORMAT });
                }
                FirstSector::Header(header) if header.number == number => {
                    files.insert(number, file);
                    headers.insert(number, header);
                }
                FirstSector::Header(_) | FirstSector::Damaged => {
                    return Err(OpenError::Damaged {
                        segment: number,
                        offset: 0,
                        what: "the segment's header is not valid",
                    });
                }
            }
        }
        Ok((Self { disk, files: Arc::new(RwLock::new(files)) }, headers, blank))
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub(crate) fn file(&self, number: u64) -> Option<Arc<dyn DiskFile>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.files.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    pub(super) fn add(&self, number: u64, file: Arc<dyn DiskFile>) {
        self.files.write().unwrap_or_else(PoisonError::into_inner).insert(number, file);
    }

    /// Removes the file of a segment. Whoever reads it at the moment can finish. After an error it can be tried again.
    pub(crate) fn unlink(&self, number: u64) -> io::Result<()> {
        match self.disk.remove(&segment_name(number)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.files.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
        Ok(())
    }

    /// Reads the message at `place`: one read. `Ok(None)` if what is there is not the record that was written, or the
    /// segment is gone.
    pub(crate) fn content(&self, place: RecordPlace) -> io::Result<Option<Content>> {
        let Some(file) = self.file(place.segment) else { return Ok(None) };
        let mut octets = vec![0; place.length as usize];
        match file.read_at(u64::from(place.offset), &mut octets) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let Some(record) = decode_record(&octets) else { return Ok(None) };
        let content_start = octets.len() - record.content.len();
        let Some((envelope, _)) = record.change.into_message() else { return Ok(None) };
        Ok(Some(Content { envelope, raw: Bytes::from(octets).slice(content_start..) }))
    }

    /// Gives the disk back the contents of the records at `places`, which are sorted, and makes that durable: those for
    /// which it is done. Header and meta of each stay, so that they can be read on.
    pub(crate) fn punch(&self, places: &[RecordPlace]) -> Vec<RecordPlace> {
        let mut done = Vec::with_capacity(places.len());
        for places in places.chunk_by(|one, next| one.segment == next.segment) {
            let Some(file) = self.file(places[0].segment) else {
                done.extend(places);
                continue;
            };
            let before = done.len();
            done.extend(places.iter().filter(|place| {
                let start = u64::from(place.offset) + u64::from(place.length - place.content);
                file.punch(start, u64::from(place.content)).is_ok()
            }));
            if file.sync().is_err() {
                done.truncate(before);
            }
        }
        done
    }
}
