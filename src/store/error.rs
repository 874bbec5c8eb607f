//! What can go wrong when a store is opened and when it is used.

use std::io;
use std::path::{Path, PathBuf};

/// Why a store could not do what it was asked. Cloned to every caller whose change was in the same group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk is full, or so nearly that the message could not be kept for sure. Nothing changed.
    #[error("the disk is full")]
    Full,
    /// The store failed; the text is for the log. Nothing changed; trying again later may work.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The change may or may not have been made; only a later read can tell.
    #[error("the store failed before the outcome of the change was known")]
    OutcomeUnknown,
    /// The store is closing.
    #[error("the store is closing")]
    Stopping,
    /// The thread that writes has ended by a defect: nothing can be kept any more until the process starts again.
    #[error("the writer of the store has ended")]
    WriterEnded,
    /// What is on disk is not what was written there.
    #[error("segment {segment} of the journal is damaged at offset {offset}")]
    Damaged {
        /// Number of the segment.
        segment: u64,
        /// Octet in its file.
        offset: u64,
    },
    /// A mailbox or a domain among the recipients has as many Emails as it may. Nothing changed.
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
    /// What an error of the disk means for the change it befell.
    pub(crate) fn from_io(error: &io::Error) -> Self {
        if is_out_of_space(error) { Self::Full } else { Self::Failed(error.to_string()) }
    }
}

/// Whether an error of the disk says that there is no room, by the file system or by a quota.
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
        /// The process that holds it, where it could be read.
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
    /// The disk has no room for what opening must write.
    #[error("{path}: the disk is full")]
    Full {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// A newer version of the program wrote it.
    #[error(
        "{file} has format {found}; this version reads format {known}. Use the version that wrote it, or a newer one"
    )]
    Format {
        /// The file.
        file: String,
        /// The format found.
        found: u32,
        /// The format that is read.
        known: u32,
    },
    /// A file that has the name of one of the store's and is none.
    #[error("{file} is no file of tempmail's")]
    Foreign {
        /// The file.
        file: String,
    },
    /// What is on disk is not what was acknowledged.
    #[error("segment {segment} of the journal is damaged at offset {offset}: {what}")]
    Damaged {
        /// Number of the segment.
        segment: u64,
        /// Octet in its file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The index can't be used.
    #[error("the index is damaged: {0}")]
    Index(String),
    /// The settings don't fit.
    #[error("the segment size must be at least {least} octets, to take a message of the largest size")]
    SegmentTooSmall {
        /// The smallest size in octets.
        least: u64,
    },
}

impl OpenError {
    pub(crate) fn from_io(path: &Path, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            return Self::Missing { path: path.into() };
        }
        Self::Io { path: path.into(), reason: error.to_string() }
    }

    /// What an error of the disk at one of the store's files means.
    pub(crate) fn of_file(name: &str, error: &io::Error) -> Self {
        if is_out_of_space(error) {
            return Self::Full { path: name.into() };
        }
        Self::Io { path: name.into(), reason: error.to_string() }
    }

    /// What it means for a store that is open and must open its index again.
    pub(crate) fn to_store_error(&self) -> StoreError {
        match self {
            Self::Full { .. } => StoreError::Full,
            Self::Damaged { segment, offset, .. } => StoreError::Damaged { segment: *segment, offset: *offset },
            other => StoreError::Failed(other.to_string()),
        }
    }

    /// The same error of a disk that knows its files by name only, with the directory that they are in.
    pub(crate) fn within(self, directory: &Path) -> Self {
        match self {
            // An absolute path stays as it is.
            Self::Io { path, reason } => Self::Io { path: directory.join(path), reason },
            Self::Full { path } => Self::Full { path: directory.join(path) },
            other => other,
        }
    }
}
