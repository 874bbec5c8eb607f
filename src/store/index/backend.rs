//! redb's storage, on the [`Disk`](crate::store::disk::Disk) that the journal uses as well.

use std::io;
use std::sync::Arc;

use crate::store::disk::DiskFile;

/// The file that the index lives in.
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
        // A page that exists can be written, however full the disk is by then.
        if len > self.0.size()? { self.0.grow(len) } else { self.0.set_len(len) }
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.0.write_at(offset, data)
    }
}
