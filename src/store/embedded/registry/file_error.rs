//! Why the file could not be used: errors of redb and of the disk, and panics of redb.

use std::cell::Cell;
use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::file::{FORMAT, NAME};
use crate::store::StoreError;
use crate::store::error::{OpenError, is_out_of_space};

/// Why the file could not be used.
#[derive(Debug)]
pub(super) enum FileError {
    /// The disk failed.
    Io(io::Error),
    /// The file has another format.
    Format(u32),
    /// The file is not what was written.
    Damaged(String),
}

impl<E: Into<redb::Error>> From<E> for FileError {
    fn from(error: E) -> Self {
        match error.into() {
            // Where the disk itself works, a file that ends too early is damage, and so is a place behind the end of a copy.
            redb::Error::Io(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
                ) =>
            {
                Self::Io(error)
            }
            other => Self::Damaged(other.to_string()),
        }
    }
}

impl FileError {
    /// The error for the caller of a change of which nothing was made, or of a read.
    pub(super) fn to_store_error(&self) -> StoreError {
        match self {
            Self::Io(error) if is_out_of_space(error) => StoreError::Full,
            Self::Io(error) => StoreError::Failed(format!("{NAME}: {error}")),
            other => StoreError::Failed(OpenError::from(other).to_string()),
        }
    }
}

impl From<&FileError> for OpenError {
    fn from(error: &FileError) -> Self {
        match error {
            FileError::Io(error) => Self::of_file(NAME, error),
            FileError::Format(found) => Self::Format { file: NAME.into(), found: *found, known: FORMAT },
            FileError::Damaged(reason) => Self::Registry(format!(
                "{NAME} is not what was written ({reason}). `tempmail db check` shows what is wrong, and \
                 `tempmail db check --salvage` makes a new store from what can be read"
            )),
        }
    }
}

thread_local! {
    /// Whether a panic of this thread is expected and means damage.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of redb. A panic there becomes an error, and is told to nobody else.
pub(super) fn quietly<T>(work: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                others(info);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(before);
    result.unwrap_or_else(|_| Err(FileError::Damaged("a page makes no sense".into())))
}
