//! redb's storage on the store's disk, which can be cut off from its database.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::disk::DiskFile;

/// Whether a database may still use its file.
#[derive(Debug, Default)]
pub(super) struct Gate {
    is_shut: AtomicBool,
}

impl Gate {
    /// Makes every further call fail, so that a database that is dropped writes nothing.
    pub(super) fn shut(&self) {
        self.is_shut.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> io::Result<()> {
        if self.is_shut.load(Ordering::SeqCst) {
            return Err(io::Error::other("this copy of the file must not be used any more"));
        }
        Ok(())
    }
}

/// The file of the registry, with its gate.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) gate: Arc<Gate>,
}

impl redb::StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.gate.check()?;
        self.file.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.gate.check()?;
        self.file.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.gate.check()?;
        // The blocks are reserved, so that later writes succeed on a full disk.
        if len > self.file.size()? { self.file.grow(len) } else { self.file.set_len(len) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.gate.check()?;
        self.file.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.gate.check()?;
        self.file.write_at(offset, data)
    }
}
