//! A disk that counts how often its files are read.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use tempmail::store::disk::{Disk, DiskFile};

use super::recording_disk::RecordingDisk;

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountingDisk {
    disk: RecordingDisk,
    reads: Reads,
}

/// The numbers of reads by the names of files.
type Reads = Arc<Mutex<BTreeMap<String, u64>>>;

#[derive(Debug)]
struct CountedFile {
    file: Arc<dyn DiskFile>,
    name: String,
    reads: Reads,
}

impl CountingDisk {
    /// How many reads there were.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.lock().expect("counts").values().sum()
    }

    /// How many reads of the file `name` there were.
    pub(crate) fn reads_of(&self, name: &str) -> u64 {
        self.reads.lock().expect("counts").get(name).copied().unwrap_or(0)
    }

    /// A disk with the files as they are for a process that dies now.
    pub(crate) fn copy(&self) -> Self {
        Self { disk: RecordingDisk::with(self.disk.files()), reads: Reads::default() }
    }

    fn counted(&self, name: &str, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(CountedFile { file, name: name.into(), reads: Arc::clone(&self.reads) })
    }
}

impl Disk for CountingDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create(name).map(|file| self.counted(name, file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(name).map(|file| self.counted(name, file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.disk.sync_dir()
    }

    fn free_octets(&self) -> io::Result<u64> {
        self.disk.free_octets()
    }
}

impl DiskFile for CountedFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        self.file.set_len(octets)
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        self.file.grow(octets)
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.file.allocate(octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        *self.reads.lock().expect("counts").entry(self.name.clone()).or_default() += 1;
        self.file.read_at(offset, out)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        self.file.punch(offset, octets)
    }
}
