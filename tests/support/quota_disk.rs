//! A disk in memory with room for so many blocks, as a file system has: a block is taken when something is written to it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempmail::store::disk::{Disk, DiskFile};

use super::recording_disk::RecordingDisk;

const BLOCK_OCTETS: u64 = 4096;

/// The disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub(crate) struct QuotaDisk {
    disk: RecordingDisk,
    blocks: Arc<Mutex<Blocks>>,
}

#[derive(Debug)]
struct Blocks {
    taken: BTreeMap<String, BTreeSet<u64>>,
    /// The largest length that each file ever grew to.
    largest: BTreeMap<String, u64>,
    room: usize,
    is_hidden: bool,
}

#[derive(Debug)]
struct QuotaFile {
    file: Arc<dyn DiskFile>,
    disk: QuotaDisk,
    name: String,
}

impl Blocks {
    fn used(&self) -> usize {
        self.taken.values().map(BTreeSet::len).sum()
    }
}

impl QuotaDisk {
    pub(crate) fn with_room_for(octets: u64) -> Self {
        let blocks = Blocks {
            taken: BTreeMap::new(),
            largest: BTreeMap::new(),
            room: usize::try_from(octets / BLOCK_OCTETS).expect("small"),
            is_hidden: false,
        };
        Self { disk: RecordingDisk::default(), blocks: Arc::new(Mutex::new(blocks)) }
    }

    /// Hides how much room is left, as with a quota of the user on a file system with room.
    pub(crate) fn hide(&self) {
        self.blocks().is_hidden = true;
    }

    /// Another program takes all free blocks.
    pub(crate) fn fill(&self) {
        let mut blocks = self.blocks();
        blocks.room = blocks.used();
    }

    /// Makes a sync fail, as [`RecordingDisk::fail_sync_of`] does.
    pub(crate) fn fail_sync_of(&self, prefix: &str, after: usize) {
        self.disk.fail_sync_of(prefix, after);
    }

    /// Whether all syncs that were to fail did.
    pub(crate) fn have_syncs_failed(&self) -> bool {
        self.disk.have_syncs_failed()
    }

    /// Another program frees so many octets.
    pub(crate) fn give_room(&self, octets: u64) {
        self.blocks().room += usize::try_from(octets / BLOCK_OCTETS).expect("small");
    }

    /// The length of a file.
    pub(crate) fn octets_of(&self, name: &str) -> u64 {
        self.disk.files()[name].len() as u64
    }

    /// The largest length that a file ever grew to.
    pub(crate) fn largest_octets_of(&self, name: &str) -> u64 {
        self.blocks().largest.get(name).copied().unwrap_or(0)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, name: &str, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(QuotaFile { file, disk: self.clone(), name: name.into() })
    }
}

impl QuotaFile {
    fn take(&self, offset: u64, octets: u64) -> io::Result<()> {
        let mut blocks = self.disk.blocks();
        let free = blocks.room.saturating_sub(blocks.used());
        let taken = blocks.taken.entry(self.name.clone()).or_default();
        let wanted = offset / BLOCK_OCTETS..(offset + octets).div_ceil(BLOCK_OCTETS);
        let new: Vec<u64> = wanted.filter(|block| !taken.contains(block)).collect();
        if new.len() > free {
            return Err(io::ErrorKind::StorageFull.into());
        }
        taken.extend(new);
        Ok(())
    }

    fn give_back(&self, whole_blocks: std::ops::Range<u64>) {
        if let Some(taken) = self.disk.blocks().taken.get_mut(&self.name) {
            taken.retain(|block| !whole_blocks.contains(block));
        }
    }
}

impl Disk for QuotaDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(name, self.disk.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(name, self.disk.open(name)?))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)?;
        self.blocks().taken.remove(name);
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.disk.sync_dir()
    }

    fn free_octets(&self) -> io::Result<u64> {
        let blocks = self.blocks();
        if blocks.is_hidden {
            return Ok(u64::MAX);
        }
        Ok(blocks.room.saturating_sub(blocks.used()) as u64 * BLOCK_OCTETS)
    }
}

impl DiskFile for QuotaFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        self.give_back(octets.div_ceil(BLOCK_OCTETS)..u64::MAX);
        self.file.set_len(octets)
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        self.take(0, octets)?;
        let mut blocks = self.disk.blocks();
        let largest = blocks.largest.entry(self.name.clone()).or_default();
        *largest = octets.max(*largest);
        drop(blocks);
        self.file.grow(octets)
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.take(0, octets)?;
        self.file.allocate(octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.take(offset, data.len() as u64)?;
        self.file.write_at(offset, data)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, out)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        self.give_back(offset.div_ceil(BLOCK_OCTETS)..(offset + octets) / BLOCK_OCTETS);
        self.file.punch(offset, octets)
    }
}
