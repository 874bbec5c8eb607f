//! A disk that fails the operations a test chooses, on top of another disk.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tempmail::store::disk::{Disk, DiskFile};

/// An operation that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    List,
    Create,
    Open,
    Remove,
    SetLen,
    /// The number of octets.
    Allocate(u64),
    Write,
    /// The offset.
    Read(u64),
    Sync,
    Punch,
    SyncDir,
    FreeOctets,
}

type Choice = Box<dyn Fn(Operation, &str) -> bool + Send>;
type Rule = Box<dyn FnMut(Operation, &str) -> Option<io::ErrorKind> + Send>;

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct FaultyDisk {
    inner: Arc<dyn Disk>,
    rule: Arc<Mutex<Rule>>,
    /// Whether a write that fails has written its first half.
    is_cut_short: Arc<AtomicBool>,
    blocked: Arc<Mutex<Option<Blocked>>>,
}

/// The next operation that `is_it` accepts waits until the sender is dropped.
struct Blocked {
    is_it: Choice,
    gate: Receiver<()>,
}

#[derive(Debug)]
struct FaultyFile {
    inner: Arc<dyn DiskFile>,
    disk: FaultyDisk,
    name: String,
}

impl FaultyDisk {
    /// A disk on which nothing fails yet.
    pub fn on(inner: impl Disk) -> Self {
        let rule: Rule = Box::new(|_, _| None);
        Self {
            inner: Arc::new(inner),
            rule: Arc::new(Mutex::new(rule)),
            is_cut_short: Arc::default(),
            blocked: Arc::default(),
        }
    }

    /// Blocks the next read of the file `name` by any thread but the store's writer, until the returned sender is
    /// dropped.
    pub fn block_next_read_of(&self, name: &str) -> Sender<()> {
        let name = name.to_owned();
        let is_writer = || std::thread::current().name() == Some("store-writer");
        self.block_next(move |operation, of| matches!(operation, Operation::Read(_)) && of == name && !is_writer())
    }

    /// Blocks the next operation that `is_it` accepts, until the returned sender is dropped.
    pub fn block_next(&self, is_it: impl Fn(Operation, &str) -> bool + Send + 'static) -> Sender<()> {
        let (open, gate) = channel();
        *self.blocked.lock().expect("no test panics here") = Some(Blocked { is_it: Box::new(is_it), gate });
        open
    }

    /// Whether an operation is blocked, or was.
    pub fn has_blocked(&self) -> bool {
        self.blocked.lock().expect("no test panics here").is_none()
    }

    /// A write that fails leaves its first half behind.
    pub fn cut_writes_short(&self) {
        self.is_cut_short.store(true, Ordering::Relaxed);
    }

    /// From now on an operation fails when `rule` gives an error for it and the name of its file.
    pub fn fail(&self, rule: impl FnMut(Operation, &str) -> Option<io::ErrorKind> + Send + 'static) {
        *self.rule.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(rule);
    }

    /// Ends all failures.
    pub fn heal(&self) {
        self.fail(|_, _| None);
    }

    fn check(&self, operation: Operation, name: &str) -> io::Result<()> {
        let blocked =
            self.blocked.lock().expect("no test panics here").take_if(|blocked| (blocked.is_it)(operation, name));
        if let Some(Blocked { gate, .. }) = blocked {
            // An error means that it is open.
            let _ = gate.recv();
        }
        let mut rule = self.rule.lock().unwrap_or_else(PoisonError::into_inner);
        rule(operation, name).map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn file(&self, name: &str, inner: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(FaultyFile { inner, disk: self.clone(), name: name.into() })
    }
}

impl fmt::Debug for FaultyDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyDisk").finish_non_exhaustive()
    }
}

impl Disk for FaultyDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.check(Operation::List, "")?;
        self.inner.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.check(Operation::Create, name)?;
        Ok(self.file(name, self.inner.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.check(Operation::Open, name)?;
        Ok(self.file(name, self.inner.open(name)?))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.check(Operation::Remove, name)?;
        self.inner.remove(name)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.check(Operation::SyncDir, "")?;
        self.inner.sync_dir()
    }

    fn free_octets(&self) -> io::Result<u64> {
        self.check(Operation::FreeOctets, "")?;
        self.inner.free_octets()
    }
}

impl DiskFile for FaultyFile {
    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        self.disk.check(Operation::SetLen, &self.name)?;
        self.inner.set_len(octets)
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        self.disk.check(Operation::SetLen, &self.name)?;
        self.inner.grow(octets)
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        self.disk.check(Operation::Allocate(octets), &self.name)?;
        self.inner.allocate(octets)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let checked = self.disk.check(Operation::Write, &self.name);
        if checked.is_err() && self.disk.is_cut_short.load(Ordering::Relaxed) {
            self.inner.write_at(offset, &data[..data.len() / 2])?;
        }
        checked?;
        self.inner.write_at(offset, data)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.check(Operation::Read(offset), &self.name)?;
        self.inner.read_at(offset, out)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.check(Operation::Sync, &self.name)?;
        self.inner.sync()
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        self.disk.check(Operation::Punch, &self.name)?;
        self.inner.punch(offset, octets)
    }
}
