//! A disk in memory that remembers every operation, and makes of them what a power cut leaves.
//!
//! What was synced is there. Of everything later an arbitrary subset is, in units of one sector, across files and names.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use rand::RngExt;
use tempmail::store::disk::{Disk, DiskFile};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// The random numbers of an image, from a seed that a failure prints.
pub fn rng(seed: u64) -> rand::rngs::StdRng {
    rand::SeedableRng::seed_from_u64(seed)
}

type FileId = usize;

#[derive(Clone, Debug)]
enum Operation {
    Create {
        name: String,
        file: FileId,
    },
    Remove {
        name: String,
    },
    SyncDir,
    Write {
        file: FileId,
        offset: usize,
        data: Vec<u8>,
    },
    /// Zeros where something was, or nothing yet.
    Zero {
        file: FileId,
        offset: usize,
        octets: usize,
    },
    SetLen {
        file: FileId,
        octets: usize,
    },
    Sync {
        file: FileId,
    },
}

#[derive(Debug, Default)]
struct World {
    /// What was durable before the first operation.
    base: BTreeMap<String, Vec<u8>>,
    names: BTreeMap<String, FileId>,
    files: Vec<Vec<u8>>,
    log: Vec<Operation>,
    forgetful: Option<String>,
}

/// The disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct RecordingDisk(Arc<Mutex<World>>);

impl fmt::Debug for RecordingDisk {
    /// Without its megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingDisk").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct RecordedFile {
    disk: RecordingDisk,
    file: FileId,
    name: String,
}

impl RecordingDisk {
    /// A disk that holds `files`, all durable.
    pub fn with(files: BTreeMap<String, Vec<u8>>) -> Self {
        let mut world = World::default();
        for (name, octets) in &files {
            world.names.insert(name.clone(), world.files.len());
            world.files.push(octets.clone());
        }
        world.base = files;
        Self(Arc::new(Mutex::new(world)))
    }

    /// From now on a sync of files whose name begins with `prefix` does nothing: a lying disk, or a forgotten fdatasync.
    pub fn forget_syncs_of(&self, prefix: &str) {
        self.world().forgetful = Some(prefix.into());
    }

    /// How many operations there were.
    pub fn operations(&self) -> usize {
        self.world().log.len()
    }

    /// The operations after which a sync of any kind had just returned.
    pub fn syncs(&self) -> Vec<usize> {
        let is_sync = |operation: &Operation| matches!(operation, Operation::Sync { .. } | Operation::SyncDir);
        let world = self.world();
        world.log.iter().enumerate().filter(|(_, operation)| is_sync(operation)).map(|(at, _)| at + 1).collect()
    }

    /// The files as they are for a process that dies now: nothing is lost but the process.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let world = self.world();
        world.names.iter().map(|(name, file)| (name.clone(), world.files[*file].clone())).collect()
    }

    /// The files as a power cut after the first `cut` operations might leave them.
    pub fn crash(&self, cut: usize, random: &mut impl RngExt) -> BTreeMap<String, Vec<u8>> {
        let world = self.world();
        let log = &world.log[..cut];
        let dir_synced =
            log.iter().rposition(|operation| matches!(operation, Operation::SyncDir)).map_or(0, |at| at + 1);
        let mut file_synced = vec![0; world.files.len()];
        for (at, operation) in log.iter().enumerate() {
            if let Operation::Sync { file } = operation {
                file_synced[*file] = at + 1;
            }
        }
        let mut names: BTreeMap<String, FileId> = world.base.keys().cloned().zip(0..).collect();
        let mut files: Vec<Vec<u8>> = world.base.values().cloned().collect();
        files.resize(world.files.len(), Vec::new());
        // How much of what is not durable survives differs from image to image.
        let luck = [0.0, 0.2, 0.5, 0.8, 1.0][random.random_range(0..5)];
        let mut survives = |is_durable: bool| is_durable || random.random_bool(luck);
        for (at, operation) in log.iter().enumerate() {
            match operation {
                Operation::Create { name, file } => {
                    if survives(at < dir_synced) {
                        names.insert(name.clone(), *file);
                    }
                }
                Operation::Remove { name } => {
                    if survives(at < dir_synced) {
                        names.remove(name);
                    }
                }
                Operation::Write { file, offset, data } => {
                    for (start, end) in sectors(*offset, data.len()) {
                        if survives(at < file_synced[*file]) {
                            put(&mut files[*file], start, &data[start - offset..end - offset]);
                        }
                    }
                }
                Operation::Zero { file, offset, octets } => {
                    if survives(at < file_synced[*file]) {
                        put(&mut files[*file], *offset, &vec![0; *octets]);
                    }
                }
                Operation::SetLen { file, octets } => {
                    if survives(at < file_synced[*file]) {
                        files[*file].resize(*octets, 0);
                    }
                }
                Operation::Sync { .. } | Operation::SyncDir => {}
            }
        }
        names.into_iter().map(|(name, file)| (name, std::mem::take(&mut files[file]))).collect()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().expect("no test panics while it holds the disk")
    }
}

/// The pieces of a write that a disk keeps or loses as one.
fn sectors(offset: usize, octets: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = offset + octets;
    let mut at = offset;
    std::iter::from_fn(move || {
        let start = at;
        at = end.min((start / SECTOR + 1) * SECTOR);
        (start < end).then_some((start, at))
    })
}

fn put(file: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if file.len() < offset + data.len() {
        file.resize(offset + data.len(), 0);
    }
    file[offset..offset + data.len()].copy_from_slice(data);
}

impl Disk for RecordingDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.world().names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut world = self.world();
        if world.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = world.files.len();
        world.files.push(Vec::new());
        world.names.insert(name.into(), file);
        world.log.push(Operation::Create { name: name.into(), file });
        Ok(Arc::new(RecordedFile { disk: self.clone(), file, name: name.into() }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = *self.world().names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(RecordedFile { disk: self.clone(), file, name: name.into() }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut world = self.world();
        world.names.remove(name).ok_or(io::ErrorKind::NotFound)?;
        world.log.push(Operation::Remove { name: name.into() });
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.world().log.push(Operation::SyncDir);
        Ok(())
    }

    fn free_octets(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl DiskFile for RecordedFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.world().files[self.file].len() as u64)
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        let octets = usize::try_from(octets).expect("a small file");
        let mut world = self.disk.world();
        world.files[self.file].resize(octets, 0);
        world.log.push(Operation::SetLen { file: self.file, octets });
        Ok(())
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.punch(0, octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).expect("a small file");
        let mut world = self.disk.world();
        put(&mut world.files[self.file], offset, data);
        world.log.push(Operation::Write { file: self.file, offset, data: data.to_vec() });
        Ok(())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).expect("a small file");
        let world = self.disk.world();
        let octets = world.files[self.file].get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(octets);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut world = self.disk.world();
        if !world.forgetful.as_ref().is_some_and(|prefix| self.name.starts_with(prefix)) {
            world.log.push(Operation::Sync { file: self.file });
        }
        Ok(())
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        let (offset, octets) =
            (usize::try_from(offset).expect("a small file"), usize::try_from(octets).expect("a small file"));
        let mut world = self.disk.world();
        put(&mut world.files[self.file], offset, &vec![0; octets]);
        world.log.push(Operation::Zero { file: self.file, offset, octets });
        Ok(())
    }
}
