//! The disk under the store: one directory of flat files, as one small trait.
//!
//! Journal and index do all their I/O through it, so that tests can record, tear and break every operation. A name is a
//! plain file name. What was written may be lost in a crash until [`DiskFile::sync`] has returned; a file that was created,
//! renamed or removed may come back or be gone until [`Disk::sync_dir`] has.

mod directory;
pub(in crate::store) mod staging;

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

pub use directory::Directory;
pub use staging::{CLOCK_NAME, OldFiles};

/// A directory that one process holds.
pub trait Disk: Debug + Send + Sync + 'static {
    /// The names of all files.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes an empty file and opens it; fails if there is one.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file for reading and writing; fails if there is none.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Removes a file. An open one can be read on.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes creations and removals durable.
    fn sync_dir(&self) -> io::Result<()>;

    /// How many octets can still be written.
    fn free_octets(&self) -> io::Result<u64>;
}

/// An open file.
pub trait DiskFile: Debug + Send + Sync {
    /// Its length in octets.
    fn size(&self) -> io::Result<u64>;

    /// Octets of the disk's blocks that it takes. A disk that does not say counts its length.
    fn used_octets(&self) -> io::Result<u64> {
        self.size()
    }

    /// Cuts it, or lengthens it with zeros.
    fn set_len(&self, octets: u64) -> io::Result<()>;

    /// Lengthens it with zeros, for which the blocks are taken where the file system can: writing there needs no space.
    fn grow(&self, octets: u64) -> io::Result<()>;

    /// Lengthens it to `octets` zeros that are really written, so that later writes need neither space nor the file
    /// system's own journal.
    fn allocate(&self, octets: u64) -> io::Result<()>;

    /// Writes all of `data` at `offset`.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Fills `out` from `offset`; an error if the file ends before.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Makes everything written and the length durable.
    fn sync(&self) -> io::Result<()>;

    /// Gives the blocks of a range back; it reads as zeros afterwards. Where the file system can't, zeros are written.
    fn punch(&self, offset: u64, octets: u64) -> io::Result<()>;
}
