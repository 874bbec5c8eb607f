//! A disk in memory that remembers every operation, and makes of them what a power cut leaves.
//!
//! What was synced is there. Of everything later an arbitrary subset is, in units of one sector, across files and names.

mod failing;
mod power_cut;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use failing::Failing;
use power_cut::{put, set_len, zero};
use tempmail::store::disk::{Disk, DiskFile};

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

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
        /// The operations that had been made when it was asked for.
        covers: usize,
    },
    /// A sync whose pages the kernel takes for written from then on.
    SyncFailed {
        file: FileId,
        covers: usize,
    },
}

#[derive(Debug, Default)]
struct World {
    /// What was durable before the first operation.
    base: BTreeMap<String, Vec<u8>>,
    names: BTreeMap<String, FileId>,
    files: Vec<Vec<u8>>,
    log: Vec<Operation>,
    /// The files in which a write changed something.
    changed: BTreeSet<FileId>,
    forgetful: Option<String>,
    /// What fails, one after the other.
    failing: VecDeque<Failing>,
    /// How long a sync takes.
    sync_takes: Duration,
    /// Syncs of files with a name that begins like this wait.
    blocked: Option<String>,
    /// How many syncs are waiting.
    waiting: usize,
    /// How many processes that used the disk were killed.
    killed: usize,
}

#[derive(Debug, Default)]
struct Shared {
    world: Mutex<World>,
    changed: Condvar,
}

/// The disk. Clones are the same disk, and belong to the same process.
#[derive(Clone, Default)]
pub struct RecordingDisk {
    shared: Arc<Shared>,
    process: usize,
}

impl fmt::Debug for RecordingDisk {
    /// Omits the contents, which have megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingDisk").finish_non_exhaustive()
    }
}

/// Blocks syncs until it is dropped. A failed test drops it as well, because the store would wait for ever.
pub struct Blocked(RecordingDisk);

impl Drop for Blocked {
    fn drop(&mut self) {
        self.0.world().blocked = None;
        self.0.shared.changed.notify_all();
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
        Self { shared: Arc::new(Shared { world: Mutex::new(world), changed: Condvar::new() }), process: 0 }
    }

    /// A disk whose syncs take as long as on a fast device. So work before the end of a sync differs from work after it.
    pub fn slow(sync_takes: Duration) -> Self {
        let disk = Self::default();
        disk.world().sync_takes = sync_takes;
        disk
    }

    /// From now on a sync of files whose name begins with `prefix` does nothing: a lying disk, or a forgotten fdatasync.
    pub fn forget_syncs_of(&self, prefix: &str) {
        self.world().forgetful = Some(prefix.into());
    }

    /// Blocks all syncs of files whose name begins with `prefix`, until the returned guard is dropped.
    pub fn block_syncs_of(&self, prefix: &str) -> Blocked {
        self.world().blocked = Some(prefix.into());
        Blocked(self.clone())
    }

    /// Waits until a sync is blocked. Blocks the thread.
    pub fn wait_for_blocked_sync(&self) {
        let is_none = |world: &mut World| world.waiting == 0;
        let waiting = self.shared.changed.wait_timeout_while(self.world(), PATIENCE, is_none);
        assert!(!waiting.expect("the disk").1.timed_out(), "nothing is synced");
    }

    /// Kills the process that uses the disk: all its later operations fail. Returns the disk of the next process.
    pub fn kill(&self) -> Self {
        let mut world = self.world();
        world.killed += 1;
        Self { shared: Arc::clone(&self.shared), process: world.killed }
    }

    /// How many operations there were.
    pub fn operations(&self) -> usize {
        self.world().log.len()
    }

    /// The numbers of operations after which a sync of any kind had just returned.
    pub fn syncs(&self) -> Vec<usize> {
        self.after(|operation| matches!(operation, Operation::Sync { .. } | Operation::SyncDir))
    }

    /// How often the file `name` was synced.
    pub fn syncs_of(&self, name: &str) -> usize {
        let world = self.world();
        let file = world.names.get(name);
        let is_meant =
            |operation: &&Operation| matches!(operation, Operation::Sync { file: synced, .. } if Some(synced) == file);
        world.log.iter().filter(is_meant).count()
    }

    /// The numbers of operations after which a file had just been removed.
    pub fn removals(&self) -> Vec<usize> {
        self.after(|operation| matches!(operation, Operation::Remove { .. }))
    }

    /// The numbers of operations after which octets of a file had just been punched out.
    pub fn punches(&self) -> Vec<usize> {
        self.after(|operation| matches!(operation, Operation::Zero { offset: 1.., .. }))
    }

    fn after(&self, is_meant: impl Fn(&Operation) -> bool) -> Vec<usize> {
        let world = self.world();
        world.log.iter().enumerate().filter(|(_, operation)| is_meant(operation)).map(|(at, _)| at + 1).collect()
    }

    /// The files that were there before the first operation and in which a write has changed something since.
    pub fn rewritten(&self) -> Vec<String> {
        let world = self.world();
        world.base.keys().zip(0..).filter(|(_, id)| world.changed.contains(id)).map(|(name, _)| name.clone()).collect()
    }

    /// Waits until the file `name` was synced after operation `after`. Blocks the thread.
    pub fn wait_for_sync(&self, name: &str, after: usize) {
        let is_missing = |world: &mut World| {
            let file = world.names.get(name).copied();
            let later = world.log.get(after..).unwrap_or_default();
            !later
                .iter()
                .any(|operation| matches!(operation, Operation::Sync { file: synced, .. } if Some(*synced) == file))
        };
        let (_world, wait) =
            self.shared.changed.wait_timeout_while(self.world(), PATIENCE, is_missing).expect("the disk");
        assert!(!wait.timed_out(), "{name} is not synced");
    }

    /// Of each file the offset of the last write that was synced before operation `cut`.
    pub fn last_synced_writes(&self, cut: usize) -> BTreeMap<String, usize> {
        let world = self.world();
        let durable = world.durable(cut);
        let mut names: BTreeMap<FileId, &str> = BTreeMap::new();
        let mut last = BTreeMap::new();
        for (at, operation) in world.log[..cut].iter().enumerate() {
            match operation {
                Operation::Create { name, file } => drop(names.insert(*file, name)),
                Operation::Write { file, offset, .. } if durable[at] => {
                    last.insert(names[file].to_owned(), *offset);
                }
                _ => {}
            }
        }
        last
    }

    /// The files as they are for a process that dies now: nothing is lost but the process.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let world = self.world();
        world.names.iter().map(|(name, file)| (name.clone(), world.files[*file].clone())).collect()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world.lock().expect("no test panics while it holds the disk")
    }

    /// The disk, if its process was not killed.
    fn live(&self) -> io::Result<MutexGuard<'_, World>> {
        let world = self.world();
        if world.killed == self.process { Ok(world) } else { Err(io::Error::other("the process was killed")) }
    }

    fn wait_while_blocked<'w>(&self, mut world: MutexGuard<'w, World>, name: &str) -> MutexGuard<'w, World> {
        let is_blocked = |world: &World| world.blocked.as_ref().is_some_and(|prefix| name.starts_with(prefix));
        if is_blocked(&world) {
            world.waiting += 1;
            self.shared.changed.notify_all();
            world = self.shared.changed.wait_while(world, |world| is_blocked(world)).expect("the disk");
            world.waiting -= 1;
        }
        world
    }

    fn log(&self, mut world: MutexGuard<'_, World>, operation: Operation) {
        world.log.push(operation);
        drop(world);
        self.shared.changed.notify_all();
    }
}

impl Disk for RecordingDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.live()?.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut world = self.live()?;
        if world.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = world.files.len();
        world.files.push(Vec::new());
        world.names.insert(name.into(), file);
        self.log(world, Operation::Create { name: name.into(), file });
        Ok(Arc::new(RecordedFile { disk: self.clone(), file, name: name.into() }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = *self.live()?.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(RecordedFile { disk: self.clone(), file, name: name.into() }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut world = self.live()?;
        world.names.remove(name).ok_or(io::ErrorKind::NotFound)?;
        self.log(world, Operation::Remove { name: name.into() });
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.log(self.live()?, Operation::SyncDir);
        Ok(())
    }

    fn free_octets(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl DiskFile for RecordedFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.live()?.files[self.file].len() as u64)
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        let octets = usize::try_from(octets).expect("a small file");
        let mut world = self.disk.live()?;
        set_len(&mut world.files[self.file], octets);
        self.disk.log(world, Operation::SetLen { file: self.file, octets });
        Ok(())
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        self.set_len(octets)
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.punch(0, octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).expect("a small file");
        let mut world = self.disk.live()?;
        if world.files[self.file].get(offset..offset + data.len()) != Some(data) {
            world.changed.insert(self.file);
        }
        put(&mut world.files[self.file], offset, data);
        self.disk.log(world, Operation::Write { file: self.file, offset, data: data.to_vec() });
        Ok(())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).expect("a small file");
        let world = self.disk.live()?;
        let octets = world.files[self.file].get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(octets);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let world = self.disk.live()?;
        if world.forgetful.as_ref().is_some_and(|prefix| self.name.starts_with(prefix)) {
            return Ok(());
        }
        let (covers, takes) = (world.log.len(), world.sync_takes);
        let mut world = self.disk.wait_while_blocked(world, &self.name);
        if let Some(kills) = world.next_failure(&self.name) {
            world.killed += usize::from(kills);
            // What was written since it was asked for is lost as well.
            let covers = world.log.len();
            self.disk.log(world, Operation::SyncFailed { file: self.file, covers });
            return Err(io::Error::other("the disk failed"));
        }
        drop(world);
        if !takes.is_zero() {
            // A device takes its time: whatever the store does too early, it does now.
            std::thread::sleep(takes);
        }
        self.disk.log(self.disk.live()?, Operation::Sync { file: self.file, covers });
        Ok(())
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        let (offset, octets) =
            (usize::try_from(offset).expect("a small file"), usize::try_from(octets).expect("a small file"));
        let mut world = self.disk.live()?;
        zero(&mut world.files[self.file], offset, octets);
        self.disk.log(world, Operation::Zero { file: self.file, offset, octets });
        Ok(())
    }
}
