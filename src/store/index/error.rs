//! The errors of the index.

use super::NAME;
use crate::store::error::{OpenError, StoreError, is_out_of_space};

/// An error inside the index.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("{0}")]
    Redb(Box<redb::Error>),
    #[error("{0}")]
    Corrupt(&'static str),
}

impl<E: Into<redb::Error>> From<E> for IndexError {
    fn from(error: E) -> Self {
        Self::Redb(Box::new(error.into()))
    }
}

impl IndexError {
    /// Whether the disk failed, now or earlier.
    pub(crate) fn is_of_disk(&self) -> bool {
        matches!(self, Self::Redb(error) if matches!(**error, redb::Error::Io(_) | redb::Error::PreviousIo))
    }

    /// Translates the error for the caller of a change.
    pub(crate) fn to_store_error(&self) -> StoreError {
        match self {
            Self::Redb(error) if matches!(&**error, redb::Error::Io(io) if is_out_of_space(io)) => StoreError::Full,
            _ => StoreError::Failed(format!("index: {self}")),
        }
    }
}

impl From<IndexError> for OpenError {
    fn from(error: IndexError) -> Self {
        match &error {
            IndexError::Redb(redb) if let redb::Error::Io(io) = &**redb => Self::of_file(NAME, io),
            _ => Self::Index(error.to_string()),
        }
    }
}
