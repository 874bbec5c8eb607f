//! A disk that counts its calls, and the octets of reads.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tempmail::store::disk::{Disk, DiskFile};

use super::recording_disk::RecordingDisk;

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountingDisk {
    disk: RecordingDisk,
    calls: Arc<Mutex<Calls>>,
    octets_read: Arc<AtomicU64>,
}

/// How many calls there were, by the name of the method and of the file. Calls on the directory have the name of no file.
pub(crate) type Calls = BTreeMap<(&'static str, String), u64>;

/// The name of [`DiskFile::read_at`] in [`Calls`].
const READ: &str = "read";

#[derive(Debug)]
struct CountedFile {
    file: Arc<dyn DiskFile>,
    name: String,
    calls: Arc<Mutex<Calls>>,
    octets_read: Arc<AtomicU64>,
}

impl CountingDisk {
    /// How many reads there were.
    pub(crate) fn reads(&self) -> u64 {
        self.calls().iter().filter(|((method, _), _)| *method == READ).map(|(_, calls)| calls).sum()
    }

    /// How many reads of the file `name` there were.
    pub(crate) fn reads_of(&self, name: &str) -> u64 {
        self.calls().get(&(READ, name.to_owned())).copied().unwrap_or(0)
    }

    /// How many octets were read.
    pub(crate) fn octets_read(&self) -> u64 {
        self.octets_read.load(Ordering::Relaxed)
    }

    /// All calls so far.
    pub(crate) fn calls(&self) -> Calls {
        self.calls.lock().expect("counts").clone()
    }

    /// The files on which a method was called.
    pub(crate) fn files_with(&self, method: &str) -> Vec<String> {
        self.calls().into_keys().filter(|call| call.0 == method).map(|(_, name)| name).collect()
    }

    /// A disk with the files as they are for a process that dies now.
    pub(crate) fn copy(&self) -> Self {
        Self { disk: RecordingDisk::with(self.disk.files()), ..Self::default() }
    }

    fn counted(&self, name: &str, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let (calls, octets_read) = (Arc::clone(&self.calls), Arc::clone(&self.octets_read));
        Arc::new(CountedFile { file, name: name.into(), calls, octets_read })
    }

    fn count(&self, method: &'static str) {
        count(&self.calls, method, "");
    }
}

impl CountedFile {
    fn count(&self, method: &'static str) {
        count(&self.calls, method, &self.name);
    }
}

fn count(calls: &Mutex<Calls>, method: &'static str, name: &str) {
    *calls.lock().expect("counts").entry((method, name.to_owned())).or_default() += 1;
}

impl Disk for CountingDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.count("list");
        self.disk.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.count("create");
        self.disk.create(name).map(|file| self.counted(name, file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.count("open");
        self.disk.open(name).map(|file| self.counted(name, file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.count("remove");
        self.disk.remove(name)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.count("sync_dir");
        self.disk.sync_dir()
    }

    fn free_octets(&self) -> io::Result<u64> {
        self.count("free_octets");
        self.disk.free_octets()
    }
}

impl DiskFile for CountedFile {
    fn size(&self) -> io::Result<u64> {
        self.count("size");
        self.file.size()
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        self.count("set_len");
        self.file.set_len(octets)
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        self.count("grow");
        self.file.grow(octets)
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.count("allocate");
        self.file.allocate(octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.count("write");
        self.file.write_at(offset, data)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.count(READ);
        self.octets_read.fetch_add(out.len() as u64, Ordering::Relaxed);
        self.file.read_at(offset, out)
    }

    fn sync(&self) -> io::Result<()> {
        self.count("sync");
        self.file.sync()
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        self.count("punch");
        self.file.punch(offset, octets)
    }
}
