//! Restoring a store from a backup.

use std::io::Read;
use std::sync::Arc;

use super::{BackupCounts, BackupDecoder, BackupError, BackupItem, BackupRecord};
use crate::store::disk::Disk;
use crate::store::embedded::Loader;
use crate::store::{OpenError, StoreError, StoreOptions};

/// How much of a file is read at once.
const READ_OCTETS: usize = 256 << 10;

/// Why a backup was not restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The backup cannot be read.
    #[error("{0}")]
    Backup(#[from] BackupError),
    /// The new store cannot be created.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The new store cannot be filled.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The keyspace is in use as a store. Nothing changed.
    #[error("keyspace {keyspace} holds {what}")]
    NotEmpty {
        /// The keyspace.
        keyspace: String,
        /// What is in it, in a word.
        what: &'static str,
    },
    /// Nodes of the service run on the keyspace.
    #[error("nodes of the service run on keyspace {keyspace}: {nodes}")]
    InUse {
        /// The keyspace.
        keyspace: String,
        /// How many.
        nodes: usize,
    },
    /// The restore had begun when this went wrong. Nobody can open the keyspace any more.
    #[error("{0}")]
    Unfinished(Box<Self>),
    /// A restore was begun and has not ended. Nothing changed.
    #[error("a backup is being restored into keyspace {keyspace} already, or was when that was interrupted")]
    AnotherUnfinished {
        /// The keyspace.
        keyspace: String,
    },
}

/// Reads a whole backup. Returns its counts and the octets of its largest message.
///
/// `progress` gets the number of octets read so far.
pub fn verify(file: &mut dyn Read, progress: &mut dyn FnMut(u64)) -> Result<(BackupCounts, u64), BackupError> {
    let mut largest = 0;
    let counts = each_record(file, progress, &mut |item| {
        largest = largest.max(item.content.len() as u64);
        Ok::<(), BackupError>(())
    })?;
    Ok((counts, largest))
}

/// Creates the store of a [verified](verify) backup on an empty disk.
///
/// Events are restored only `with_events`, since their endpoints may have got them already.
pub fn restore(
    file: &mut dyn Read,
    disk: &Arc<dyn Disk>,
    options: &StoreOptions,
    with_events: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<BackupCounts, RestoreError> {
    let mut loader = None;
    let counts = each_record(file, progress, &mut |item| {
        if let BackupRecord::Store { secret } = item.record {
            loader = Some(Loader::begin(disk, options, secret)?);
            return Ok(());
        }
        let is_wanted = with_events || !matches!(item.record, BackupRecord::Event { .. });
        match &mut loader {
            Some(loader) if is_wanted => Ok::<(), RestoreError>(loader.load(item)?),
            _ => Ok(()),
        }
    })?;
    // The decoder refuses a file without a `Store` record.
    loader.ok_or(BackupError::NotABackup)?.close()?;
    Ok(if with_events { counts } else { BackupCounts { events: 0, ..counts } })
}

/// Decodes a whole backup, record by record. The end record is checked and not given out.
pub(in crate::store) fn each_record<E: From<BackupError>>(
    file: &mut dyn Read,
    progress: &mut dyn FnMut(u64),
    take: &mut dyn FnMut(BackupItem) -> Result<(), E>,
) -> Result<BackupCounts, E> {
    let mut decoder = BackupDecoder::new();
    let mut octets = vec![0; READ_OCTETS];
    let mut done = 0;
    loop {
        let length = match file.read(&mut octets) {
            Ok(0) => return Ok(decoder.finish()?),
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BackupError::Io(error.to_string()).into()),
        };
        decoder.feed(&octets[..length]);
        while let Some(item) = decoder.next_item()? {
            take(item)?;
        }
        done += length as u64;
        progress(done);
    }
}
