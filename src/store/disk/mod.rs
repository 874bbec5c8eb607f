//! The disk under the store: one directory of flat files, as one small trait.
//!
//! The journal and the registry do all their I/O through it, so that tests can record, tear and break every operation. Names
//! are plain file names. A crash may lose writes until [`DiskFile::sync`] has returned. It may undo the creation, removal
//! or renaming of a file until [`Disk::sync_dir`] has returned.

mod directory;
mod layout;
mod replace;

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

pub use directory::Directory;
pub(super) use layout::STORE;
pub use layout::{OldFiles, is_store};

/// The unit in which files are read and written at best: the size of a page, and of most file systems' blocks.
pub(crate) const BLOCK_OCTETS: usize = 4096;

/// A directory that one process holds.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Lists the names of all files.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Creates and opens an empty file. Fails if the file exists.
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file for reading and writing. Fails if it does not exist.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Removes a file. If it is open, it can still be read.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Gives a file another name, also if it is open. A file that has the new name is replaced.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Makes creations, removals and renames durable.
    fn sync_dir(&self) -> io::Result<()>;

    /// A file of a store of an earlier version, if that is what there is instead of this one.
    fn earlier_store(&self) -> io::Result<Option<String>> {
        Ok(None)
    }

    /// The octets that can still be written.
    fn free_octets(&self) -> io::Result<u64>;
}

/// An open file.
pub trait DiskFile: Debug + Send + Sync {
    /// The length in octets.
    fn size(&self) -> io::Result<u64>;

    /// The octets of the disk's blocks that the file uses. The default is its length.
    fn used_octets(&self) -> io::Result<u64> {
        self.size()
    }

    /// Truncates the file, or extends it with zeros.
    fn set_len(&self, octets: u64) -> io::Result<()>;

    /// Extends the file with zeros. Their blocks are reserved if the file system supports it, so that later writes succeed.
    fn grow(&self, octets: u64) -> io::Result<()>;

    /// Extends the file to `octets` and writes zeros there, so that later writes need neither space nor the file system's
    /// own journal.
    fn allocate(&self, octets: u64) -> io::Result<()>;

    /// Writes all of `data` at `offset`.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Fills `out` from `offset`. Fails if the file ends before.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Fills `out` from `offset` without waiting for the disk. `false` if that can't be done, for whatever reason.
    fn read_cached(&self, _offset: u64, _out: &mut [u8]) -> bool {
        false
    }

    /// Makes all writes and the length durable.
    fn sync(&self) -> io::Result<()>;

    /// Frees the blocks of a range, which then reads as zeros. Writes zeros if the file system cannot free them.
    fn punch(&self, offset: u64, octets: u64) -> io::Result<()>;
}
