//! The real disk: a directory of the file system, held by one process.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{ReadWriteFlags, preadv2};

use super::layout::{STORE, earlier_files, settle};
use super::{BLOCK_OCTETS, Disk, DiskFile};
use crate::store::OpenError;
use crate::store::error::is_out_of_space;

/// The name of the file that is locked while a process holds the directory.
const LOCK_NAME: &str = "lock";
/// How many zeros are written at once.
const ZEROS_OCTETS: usize = 1 << 20;
/// The unit of `st_blocks`, see stat(2).
const STAT_BLOCK_OCTETS: u64 = 512;
/// Only the owner may enter the directory, read and write its files.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// A data directory, locked from [`Directory::lock`] until it is dropped. As a disk, it is the directory of the store's
/// files in it.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    store: PathBuf,
    handle: File,
    /// The directory of the store's files, once this process has used it.
    store_handle: OnceLock<File>,
    /// Open for its lock.
    _lock: File,
}

impl Directory {
    /// Creates the directory and its parents if they are missing, for the owner alone. They are durable on return.
    pub fn create(path: &Path) -> Result<(), OpenError> {
        let missing: Vec<&Path> =
            path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(DIRECTORY_MODE)
            .create(path)
            .and_then(|()| missing.into_iter().try_for_each(sync_parent))
            .map_err(|error| OpenError::from_io(path, &error))
    }

    /// Opens and locks an existing directory, and finishes an interrupted replacement of its store.
    ///
    /// [`OpenError::Locked`] names the process that holds the directory. [`OpenError::NotOurs`] names its owner.
    pub fn lock(path: &Path) -> Result<Self, OpenError> {
        let from_io = |error: io::Error| OpenError::from_io(path, &error);
        let handle = File::open(path).map_err(from_io)?;
        let metadata = handle.metadata().map_err(from_io)?;
        if !metadata.is_dir() {
            return Err(OpenError::Io { path: path.into(), reason: "not a directory".into() });
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(OpenError::NotOurs { path: path.into(), owner: metadata.uid() });
        }
        let mut lock = open_options().create(true).open(path.join(LOCK_NAME)).map_err(from_io)?;
        if let Err(error) = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            if error != rustix::io::Errno::WOULDBLOCK {
                return Err(from_io(error.into()));
            }
            let mut text = String::new();
            // The process id is a courtesy and may be missing.
            let _ = lock.read_to_string(&mut text);
            return Err(OpenError::Locked { path: path.into(), process: text.trim().parse().ok() });
        }
        // Somebody may have made the directory with a wider mode, but its content is private.
        handle.set_permissions(Permissions::from_mode(DIRECTORY_MODE)).map_err(from_io)?;
        lock.set_len(0).map_err(from_io)?;
        lock.seek(SeekFrom::Start(0)).map_err(from_io)?;
        // A full disk must not prevent opening: deletion frees space.
        let _ = write!(lock, "{}", std::process::id());
        settle(path).map_err(from_io)?;
        Ok(Self { path: path.into(), store: path.join(STORE), handle, store_handle: OnceLock::new(), _lock: lock })
    }

    /// The directory of the store's files, which is made if it is missing.
    fn store_handle(&self) -> io::Result<&File> {
        if let Some(handle) = self.store_handle.get() {
            return Ok(handle);
        }
        let made = std::fs::DirBuilder::new().mode(DIRECTORY_MODE).create(&self.store);
        match made {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let handle = File::open(&self.store)?;
        handle.set_permissions(Permissions::from_mode(DIRECTORY_MODE))?;
        self.handle.sync_all()?;
        Ok(self.store_handle.get_or_init(|| handle))
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(FILE_MODE);
    options
}

/// Makes the name of a file or directory durable.
fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        None => Ok(()),
        Some(parent) if parent.as_os_str().is_empty() => File::open(".")?.sync_all(),
        Some(parent) => File::open(parent)?.sync_all(),
    }
}

impl Disk for Directory {
    fn list(&self) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.store) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.store_handle()?;
        let file = open_options().create_new(true).open(self.store.join(name))?;
        // The mode at creation is subject to the umask.
        file.set_permissions(Permissions::from_mode(FILE_MODE))?;
        Ok(Arc::new(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(open_options().open(self.store.join(name))?))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.store.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.store.join(from), self.store.join(to))
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.store_handle()?.sync_all()
    }

    fn earlier_store(&self) -> io::Result<Option<String>> {
        Ok(if self.list()?.is_empty() { earlier_files(&self.path)?.into_iter().min() } else { None })
    }

    fn free_octets(&self) -> io::Result<u64> {
        let space = rustix::fs::fstatvfs(&self.handle)?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }
}

impl DiskFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn used_octets(&self) -> io::Result<u64> {
        Ok(self.metadata()?.blocks().saturating_mul(STAT_BLOCK_OCTETS))
    }

    fn set_len(&self, octets: u64) -> io::Result<()> {
        Self::set_len(self, octets)
    }

    fn grow(&self, octets: u64) -> io::Result<()> {
        let before = DiskFile::size(self)?;
        match rustix::fs::fallocate(self, FallocateFlags::empty(), 0, octets).map_err(io::Error::from) {
            Err(error) if is_out_of_space(&error) => {
                // Undo a partial extension.
                Self::set_len(self, before)?;
                Err(error)
            }
            _ => Self::set_len(self, octets),
        }
    }

    fn allocate(&self, octets: u64) -> io::Result<()> {
        // This keeps the file in one piece where it is supported. Without room it stops here, since the zeros below would
        // first fill the disk.
        if let Err(error) = rustix::fs::fallocate(self, FallocateFlags::empty(), 0, octets).map_err(io::Error::from)
            && is_out_of_space(&error)
        {
            return Err(error);
        }
        // Nobody reads the zeros, and copying them into the page cache costs more than writing them. Some file systems
        // cannot write past it.
        let blocks = octets - octets % BLOCK_OCTETS as u64;
        let written = write_zeros_directly(self, blocks).map_or(0, |()| blocks);
        write_zeros(self, written, octets - written)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        FileExt::write_all_at(self, data, offset)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        FileExt::read_exact_at(self, out, offset)
    }

    fn read_cached(&self, offset: u64, out: &mut [u8]) -> bool {
        let octets = out.len();
        // What is in the page cache is read. Some file systems can't tell.
        let read = preadv2(self, &mut [IoSliceMut::new(out)], offset, ReadWriteFlags::NOWAIT);
        read.is_ok_and(|read| read == octets)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn punch(&self, offset: u64, octets: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if rustix::fs::fallocate(self, flags, offset, octets).is_ok() {
            return Ok(());
        }
        write_zeros(self, offset, octets)
    }
}

/// Writes zeros to the first blocks of a file past the page cache.
fn write_zeros_directly(file: &File, octets: u64) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    fcntl_setfl(file, flags | OFlags::DIRECT)?;
    let written = write_zeros(file, 0, octets);
    fcntl_setfl(file, flags)?;
    written
}

fn write_zeros(file: &File, offset: u64, octets: u64) -> io::Result<()> {
    // A direct write needs an address at the start of a block.
    let zeros = vec![0; ZEROS_OCTETS + BLOCK_OCTETS];
    let zeros = &zeros[zeros.as_ptr().align_offset(BLOCK_OCTETS)..];
    let end = offset + octets;
    let mut at = offset;
    while at < end {
        let piece = usize::try_from(end - at).map_or(ZEROS_OCTETS, |left| left.min(ZEROS_OCTETS));
        file.write_all_at(&zeros[..piece], at)?;
        at += piece as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocated_file_has_zeros_up_to_its_end_and_takes_any_write() {
        let dir = tempfile::tempdir().expect("directory");
        let disk = Directory::lock(dir.path()).expect("lock");
        for octets in [0, 1, BLOCK_OCTETS, ZEROS_OCTETS + BLOCK_OCTETS + 1] {
            let file = disk.create(&octets.to_string()).expect("create");
            file.allocate(octets as u64).expect("allocate");
            assert_eq!(file.size().expect("size"), octets as u64);
            assert!(file.used_octets().expect("blocks") >= octets as u64);
            let mut content = vec![1; octets];
            file.read_at(0, &mut content).expect("read");
            assert!(content.iter().all(|octet| *octet == 0));
            file.write_at(1, b"x").expect("a write past the page cache would fail");
            // Some file systems can't tell what is in the page cache.
            let is_read = file.read_cached(0, &mut content[..2.min(octets)]);
            assert!(!is_read || octets < 2 || content[1] == b'x');
            assert!(!file.read_cached(1, &mut vec![0; octets + 2]), "the file ends before");
        }
    }
}
