//! A storage for redb over a file that is only read: writes stay in memory.
//!
//! redb writes to a file when it opens it. A check of an index that may be damaged, or have another format, must not.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::disk::DiskFile;

const PAGE_OCTETS: u64 = 4096;

/// A file with the writes over it.
#[derive(Debug)]
pub(super) struct Overlay {
    file: Arc<dyn DiskFile>,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    octets: u64,
    /// The part of the file that is visible: the shortest length that was set.
    shown: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    pub(super) fn new(file: Arc<dyn DiskFile>) -> io::Result<Self> {
        let octets = file.size()?;
        Ok(Self { file, written: Mutex::new(Written { octets, shown: octets, pages: BTreeMap::new() }) })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a range of the file, with zeros after its visible part.
    fn read_file(&self, shown: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = usize::try_from(shown.saturating_sub(offset)).map_or(out.len(), |there| there.min(out.len()));
        out[there..].fill(0);
        if there > 0 { self.file.read_at(offset, &mut out[..there]) } else { Ok(()) }
    }
}

/// Splits a range by page: the number of the page, the offset in it, and the part of the range.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let narrow = |octets: u64| usize::try_from(octets).unwrap_or(usize::MAX);
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = narrow(at % PAGE_OCTETS);
        let taken = (narrow(PAGE_OCTETS) - within).min(length - done);
        let part = (at / PAGE_OCTETS, within, done..done + taken);
        done += taken;
        (taken > 0).then_some(part)
    })
}

impl redb::StorageBackend for Overlay {
    fn len(&self) -> Result<u64, io::Error> {
        Ok(self.written().octets)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        let written = self.written();
        if offset + out.len() as u64 > written.octets {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read_file(written.shown, offset, out)?;
        for (page, within, range) in parts(offset, out.len()) {
            if let Some(octets) = written.pages.get(&page) {
                let length = range.len();
                out[range].copy_from_slice(&octets[within..within + length]);
            }
        }
        Ok(())
    }

    fn set_len(&self, octets: u64) -> Result<(), io::Error> {
        let mut written = self.written();
        if octets < written.octets {
            written.pages.split_off(&octets.div_ceil(PAGE_OCTETS));
            let (page, within) = (octets / PAGE_OCTETS, usize::try_from(octets % PAGE_OCTETS).unwrap_or(0));
            if let Some(last) = written.pages.get_mut(&page) {
                last[within..].fill(0);
            }
        }
        written.shown = written.shown.min(octets);
        written.octets = octets;
        Ok(())
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        let mut written = self.written();
        let shown = written.shown;
        for (page, within, range) in parts(offset, data.len()) {
            let octets = match written.pages.entry(page) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(place) => {
                    let mut octets = vec![0; usize::try_from(PAGE_OCTETS).unwrap_or(0)];
                    self.read_file(shown, page * PAGE_OCTETS, &mut octets)?;
                    place.insert(octets)
                }
            };
            octets[within..within + range.len()].copy_from_slice(&data[range]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use redb::StorageBackend;

    use super::*;
    use crate::store::disk::{Directory, Disk};

    #[test]
    fn what_is_written_is_read_and_the_file_stays_as_it_is() {
        let dir = tempfile::tempdir().expect("directory");
        let disk = Directory::lock(dir.path()).expect("lock");
        let file = disk.create("f").expect("create");
        file.write_at(0, &[1; 10_000]).expect("write");
        let overlay = Overlay::new(Arc::clone(&file)).expect("overlay");
        overlay.write(4_000, &[2; 5_000]).expect("write");
        overlay.set_len(20_000).expect("longer");
        let mut all = vec![9; 20_000];
        overlay.read(0, &mut all).expect("read");
        let expected = [&[1; 4_000][..], &[2; 5_000], &[1; 1_000], &[0; 10_000]].concat();
        assert!(all == expected);
        overlay.set_len(8_500).expect("shorter");
        overlay.set_len(12_000).expect("longer again");
        let mut end = vec![9; 4_000];
        overlay.read(8_000, &mut end).expect("read");
        assert!(end == [&[2; 500][..], &[0; 3_500]].concat());
        assert!(overlay.read(11_999, &mut [0; 2]).is_err());
        let mut kept = vec![0; 10_000];
        file.read_at(0, &mut kept).expect("read");
        assert!(kept == [1; 10_000]);
    }
}
