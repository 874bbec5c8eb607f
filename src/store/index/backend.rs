//! redb's storage, on the [`Disk`](crate::store::disk::Disk) that the journal uses as well.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::store::disk::DiskFile;

/// The file of the index.
#[derive(Debug)]
pub(super) struct Backend(pub(super) Arc<dyn DiskFile>);

impl redb::StorageBackend for Backend {
    fn len(&self) -> Result<u64, io::Error> {
        self.0.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        // The blocks are reserved now, so that later writes succeed on a full disk.
        if len > self.0.size()? { self.0.grow(len) } else { self.0.set_len(len) }
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.0.write_at(offset, data)
    }
}

/// Whether a database may still use its file, and the length of that file.
#[derive(Debug)]
pub(super) struct Gate {
    is_shut: AtomicBool,
    octets: AtomicU64,
}

impl Gate {
    /// Makes every further call fail, and current reads as well.
    pub(super) fn shut(&self) {
        self.is_shut.store(true, Ordering::SeqCst);
    }

    /// The length of the file, without a question to the system.
    pub(super) fn octets(&self) -> u64 {
        self.octets.load(Ordering::Relaxed)
    }

    fn check(&self) -> io::Result<()> {
        if self.is_shut.load(Ordering::SeqCst) {
            return Err(io::Error::other("the index was reopened and this copy must not be used"));
        }
        Ok(())
    }
}

/// A storage that can be cut off from its database while a reader still has that open.
#[derive(Debug)]
pub(super) struct Gated<B> {
    backend: B,
    gate: Arc<Gate>,
}

impl<B: redb::StorageBackend> Gated<B> {
    /// A storage with its gate, which is open.
    pub(super) fn new(backend: B) -> io::Result<(Self, Arc<Gate>)> {
        let gate = Arc::new(Gate { is_shut: AtomicBool::new(false), octets: AtomicU64::new(backend.len()?) });
        Ok((Self { backend, gate: Arc::clone(&gate) }, gate))
    }
}

impl<B: redb::StorageBackend> redb::StorageBackend for Gated<B> {
    fn len(&self) -> Result<u64, io::Error> {
        self.gate.check()?;
        self.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.backend.read(offset, out)?;
        // The check comes after the read, which may have seen writes of the reopened index.
        self.gate.check()
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.gate.check()?;
        self.backend.set_len(len)?;
        self.gate.octets.store(len, Ordering::Relaxed);
        Ok(())
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.gate.check()?;
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.gate.check()?;
        self.backend.write(offset, data)
    }
}
