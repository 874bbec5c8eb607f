//! A disk in memory, with everything that goes wrong with disks.
//!
//! It remembers every call, fails and holds the calls that a test chooses, has only so much room, and makes of all it was
//! asked to do what a killed process or a power cut leaves.

mod call;
mod file;
mod power_cut;
mod room;
pub mod rules;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memchr::memmem;
use tempmail::store::disk::{Disk, DiskFile};

pub use call::{Call, Kind};
use file::{File, OpenFile};
use rules::Rules;

/// Random numbers from a seed that a failure prints.
pub fn rng(seed: u64) -> rand::rngs::SmallRng {
    rand::SeedableRng::seed_from_u64(seed)
}

type FileId = usize;

/// The disk. Clones are the same disk, and belong to the same process.
#[derive(Clone, Default)]
pub struct TestDisk {
    shared: Arc<Shared>,
    process: usize,
}

#[derive(Default)]
struct Shared {
    world: Mutex<World>,
    rules: Rules,
}

#[derive(Default)]
struct World {
    /// What was durable before the first operation. These files have the first ids, in this order.
    base: BTreeMap<String, Vec<u8>>,
    names: BTreeMap<String, FileId>,
    files: Vec<File>,
    calls: Vec<Call>,
    log: Vec<Operation>,
    /// The blocks that can be in use, unless there is always room.
    room: Option<usize>,
    is_room_hidden: bool,
    are_writes_cut_short: bool,
    /// Files are in the page cache from this offset on.
    cached_from: Option<u64>,
    sync_takes: Duration,
    /// Syncs of files whose name begins like this do nothing.
    forgetful: Option<String>,
    /// How many processes that used the disk were killed.
    killed: usize,
}

/// A call that changed something, or made it durable.
struct Operation {
    call: Call,
    file: FileId,
    /// What was written.
    data: Vec<u8>,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    /// A sync that has returned, and how many operations there were when it was asked for.
    Synced(usize),
    /// A sync that failed. The kernel takes for written what it could not write.
    SyncFailed,
}

impl TestDisk {
    /// A disk that holds `files`, all durable.
    pub fn with(files: BTreeMap<String, Vec<u8>>) -> Self {
        let disk = Self::default();
        let mut world = disk.world();
        world.names = files.keys().cloned().zip(0..).collect();
        world.files = files.values().map(|octets| File { octets: octets.clone(), ..File::default() }).collect();
        world.base = files;
        drop(world);
        disk
    }

    /// The files as they are for a process that dies now: nothing is lost but the process.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let world = self.world();
        world.names.iter().map(|(name, file)| (name.clone(), world.files[*file].octets.clone())).collect()
    }

    /// Another disk with the files as they are.
    pub fn copy(&self) -> Self {
        Self::with(self.files())
    }

    /// How long a file is.
    pub fn size_of(&self, name: &str) -> u64 {
        let world = self.world();
        world.files[world.names[name]].octets.len() as u64
    }

    /// Whether any file has these octets somewhere.
    pub fn contains(&self, wanted: impl AsRef<[u8]>) -> bool {
        let world = self.world();
        world.names.values().any(|file| memmem::find(&world.files[*file].octets, wanted.as_ref()).is_some())
    }

    /// Kills the process that uses the disk: all its later calls fail. Returns the disk of the next process.
    pub fn kill(&self) -> Self {
        let mut world = self.world();
        world.killed += 1;
        Self { shared: Arc::clone(&self.shared), process: world.killed }
    }

    /// From now on a sync takes as long as on a fast device. So work before the end of a sync differs from work after it.
    pub fn slow_syncs(&self, sync_takes: Duration) {
        self.world().sync_takes = sync_takes;
    }

    /// From now on a sync of files whose name begins with `prefix` does nothing: a lying disk, or a forgotten fdatasync.
    pub fn forget_syncs_of(&self, prefix: &str) {
        self.world().forgetful = Some(prefix.into());
    }

    /// From now on all files are in the page cache from this offset on. What is read there is no call.
    pub fn cache_from(&self, offset: u64) {
        self.world().cached_from = Some(offset);
    }

    /// From now on a write that fails leaves its first half behind.
    pub fn cut_writes_short(&self) {
        self.world().are_writes_cut_short = true;
    }

    /// All calls so far, failed ones among them.
    pub fn calls(&self) -> Vec<Call> {
        self.world().calls.clone()
    }

    /// How many such calls there were.
    pub fn count(&self, which: impl Fn(&Call) -> bool) -> usize {
        self.world().calls.iter().filter(|call| which(call)).count()
    }

    /// How many operations have changed something or made it durable. A power cut is after one of them.
    pub fn operations(&self) -> usize {
        self.world().log.len()
    }

    /// The numbers of operations after which such a call had just succeeded.
    pub fn moments(&self, which: impl Fn(&Call) -> bool) -> Vec<usize> {
        let world = self.world();
        let is_meant = |operation: &Operation| operation.outcome != Outcome::SyncFailed && which(&operation.call);
        world.log.iter().zip(1..).filter(|(operation, _)| is_meant(operation)).map(|(_, at)| at).collect()
    }

    /// The moments after a sync of any kind.
    pub fn syncs(&self) -> Vec<usize> {
        self.moments(|call| matches!(call.kind, Kind::Sync | Kind::SyncDir))
    }

    /// Whether a file whose name begins with `prefix` was synced after operation `after`.
    pub fn has_synced(&self, prefix: &str, after: usize) -> bool {
        self.moments(|call| call.is(Kind::Sync, prefix)).last().is_some_and(|at| *at > after)
    }

    /// The files that were there before the first operation and in which a write has changed something since.
    pub fn rewritten(&self) -> Vec<String> {
        let world = self.world();
        let files = world.base.keys().zip(&world.files).filter(|(_, file)| file.is_rewritten);
        files.map(|(name, _)| name.clone()).collect()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The disk, if its process was not killed.
    fn live(&self) -> io::Result<MutexGuard<'_, World>> {
        let world = self.world();
        if world.killed == self.process { Ok(world) } else { Err(io::Error::other("the process was killed")) }
    }

    /// Begins a call. It may be held here, and fails if a rule says so.
    fn begin(&self, call: &Call) -> io::Result<MutexGuard<'_, World>> {
        self.live()?.calls.push(call.clone());
        self.shared.rules.pass(call)?;
        self.live()
    }

    fn opened(&self, name: &str, file: FileId) -> Arc<dyn DiskFile> {
        Arc::new(OpenFile { disk: self.clone(), file, name: name.into() })
    }
}

impl World {
    fn note(&mut self, call: Call, file: FileId) {
        self.log.push(Operation { call, file, data: Vec::new(), outcome: Outcome::Done });
    }
}

impl fmt::Debug for TestDisk {
    /// Omits the contents, which have megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestDisk").finish_non_exhaustive()
    }
}

impl Disk for TestDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.begin(&Call::of_directory(Kind::List, ""))?.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let call = Call::of_directory(Kind::Create, name);
        let mut world = self.begin(&call)?;
        if world.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = world.files.len();
        world.files.push(File::default());
        world.names.insert(name.into(), file);
        world.note(call, file);
        Ok(self.opened(name, file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file =
            *self.begin(&Call::of_directory(Kind::Open, name))?.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.opened(name, file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let call = Call::of_directory(Kind::Remove, name);
        let mut world = self.begin(&call)?;
        let file = world.names.remove(name).ok_or(io::ErrorKind::NotFound)?;
        world.note(call, file);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let call = Call::of_directory(Kind::Rename, from);
        let mut world = self.begin(&call)?;
        let file = world.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        world.names.insert(to.into(), file);
        world.note(call, file);
        world.log.last_mut().expect("just noted").data = to.into();
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        let call = Call::of_directory(Kind::SyncDir, "");
        self.begin(&call)?.note(call, 0);
        Ok(())
    }

    fn free_octets(&self) -> io::Result<u64> {
        Ok(self.begin(&Call::of_directory(Kind::FreeOctets, ""))?.shown_room())
    }
}
