//! The errors of opening a store and of using it.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::disk::STORE;

/// Why an operation of the store failed. Every caller whose change was in the same group gets a copy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk is full, or has too little room to be sure, or there are as many Emails as may be. Nothing changed.
    #[error("the store is full: its disk has no room, or it has as many messages as max-emails permits")]
    Full,
    /// The store failed; the text is for the log. Nothing changed. A retry may work.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The change may or may not have been made. Only a later read can tell.
    #[error("the store failed before the outcome of the change was known")]
    OutcomeUnknown,
    /// The cluster did not confirm the change in time. It may or may not have been made. The same
    /// change may be made again without harm; a message that is sent again has other ids, and may then be stored twice.
    #[error("the cluster did not confirm the change in time")]
    Unconfirmed,
    /// The store is closing.
    #[error("the store is closing")]
    Stopping,
    /// The writer thread has panicked. Nothing can be stored until the process starts again.
    #[error("the writer of the store has ended")]
    WriterEnded,
    /// The disk does not hold what was written.
    #[error("segment {segment} of the journal is damaged at offset {offset}")]
    Damaged {
        /// Number of the segment.
        segment: u64,
        /// Octet in its file.
        offset: u64,
    },
    /// A mailbox among the recipients has reached its cap. Nothing changed.
    #[error("a mailbox is full")]
    MailboxFull,
    /// The message is larger than the store was opened for.
    #[error("the message is larger than {limit} octets")]
    TooLarge {
        /// The largest message in octets.
        limit: u64,
    },
}

impl StoreError {
    /// Translates an error of the disk for the caller of a change.
    pub(crate) fn from_io(error: &io::Error) -> Self {
        if is_out_of_space(error) { Self::Full } else { Self::Failed(error.to_string()) }
    }
}

/// Whether an error of the disk means that the file system or a quota has no room.
pub(crate) fn is_out_of_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

/// Why a store could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the data directory.
    #[error("{path} is in use{}", process.map(|id| format!(" by process {id}")).unwrap_or_default())]
    Locked {
        /// The data directory.
        path: PathBuf,
        /// The process that holds it, if that could be read.
        process: Option<u32>,
    },
    /// Another user owns the data directory.
    #[error("{path} belongs to user {owner}; run the command as that user, or choose another data directory")]
    NotOurs {
        /// The data directory.
        path: PathBuf,
        /// Numeric id of the owner.
        owner: u32,
    },
    /// There is no data directory.
    #[error("{path} does not exist")]
    Missing {
        /// The data directory.
        path: PathBuf,
    },
    /// The directory holds no store.
    #[error("there is no mail store here")]
    Empty,
    /// The directory can't be read or written.
    #[error("{path}: {reason}")]
    Io {
        /// The data directory, or a file in it.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The disk failed at a file, in a way that no permission or room mends.
    #[error("the disk failed at {path}")]
    Disk {
        /// The file.
        path: PathBuf,
    },
    /// The disk has no room for what opening must write.
    #[error("{path}: the disk is full")]
    Full {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// Another version of the program wrote it.
    #[error("{file} has format {found}; this version reads format {known}. {}", what_reads_it(*found, *known))]
    Format {
        /// The file.
        file: String,
        /// The format found.
        found: u32,
        /// The format that is read.
        known: u32,
    },
    /// The journal does not hold what was acknowledged.
    #[error("segment {segment} of the journal is damaged at offset {offset}: {what}")]
    Damaged {
        /// Number of the segment.
        segment: u64,
        /// Octet in its file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The registry can't be used.
    #[error("the registry is damaged: {0}")]
    Registry(String),
    /// The settings don't fit.
    #[error("the segment size must be at least {least} octets, to take a message of the largest size")]
    SegmentTooSmall {
        /// The smallest size in octets.
        least: u64,
    },
    /// A setting of the cluster names what cannot be used.
    #[error("{key}: {reason}")]
    Setting {
        /// The key of the setting.
        key: &'static str,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The cluster does not answer, or refuses what is needed.
    #[error("the cluster cannot be used: {reason}")]
    Cluster {
        /// What the driver says.
        reason: String,
    },
    /// The cluster has no such keyspace.
    #[error("the cluster has no store in keyspace {keyspace}")]
    NoKeyspace {
        /// The keyspace.
        keyspace: String,
    },
    /// A backup is being restored into the keyspace, or was when that was interrupted.
    #[error("a backup is being restored into keyspace {keyspace}, or was when that was interrupted")]
    Restoring {
        /// The keyspace.
        keyspace: String,
    },
    /// Another version of the program made the schema in the cluster.
    #[error("the store in the cluster has schema {found}; this version uses schema {known}")]
    Schema {
        /// The version found.
        found: u32,
        /// The version that is used.
        known: u32,
    },
    /// This build has no store in a cluster.
    #[error("this build of tempmail has no store in a cluster of Cassandra")]
    NotBuiltIn,
}

impl OpenError {
    pub(crate) fn from_io(path: &Path, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            return Self::Missing { path: path.into() };
        }
        Self::Io { path: path.into(), reason: error.to_string() }
    }

    /// Translates an error of the disk at one of the store's files.
    pub(crate) fn of_file(name: &str, error: &io::Error) -> Self {
        if is_out_of_space(error) {
            return Self::Full { path: name.into() };
        }
        if error.raw_os_error() == Some(Errno::IO.raw_os_error()) {
            return Self::Disk { path: name.into() };
        }
        Self::Io { path: name.into(), reason: error.to_string() }
    }

    /// Adds the data directory to an error of a disk that knows its files by name only.
    #[must_use]
    pub fn within(self, directory: &Path) -> Self {
        // An absolute path stays as it is.
        let of_file = |name: PathBuf| directory.join(STORE).join(name);
        match self {
            Self::Io { path, reason } => Self::Io { path: of_file(path), reason },
            Self::Full { path } => Self::Full { path: of_file(path) },
            Self::Disk { path } => Self::Disk { path: of_file(path) },
            other => other,
        }
    }
}

/// What reads a store of format `found`, if this version reads `known`.
const fn what_reads_it(found: u32, known: u32) -> &'static str {
    if found < known {
        "Nothing was changed. Make a backup with the version that wrote it (`tempmail db backup FILE`), and restore that with \
         this version (`tempmail db restore FILE --with-events`)"
    } else {
        "Use the version that wrote it, or a newer one"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_fails_is_told_from_other_errors_of_a_file() {
        let of = |error: Errno| OpenError::of_file("registry.redb", &error.into()).within(Path::new("/data"));
        assert_eq!(of(Errno::IO), OpenError::Disk { path: "/data/store/registry.redb".into() });
        assert!(matches!(of(Errno::ACCESS), OpenError::Io { .. }));
        assert!(matches!(of(Errno::NOSPC), OpenError::Full { .. }));
    }
}
