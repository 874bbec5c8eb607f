//! The file of tokens in the data directory, as JSON. It is replaced as a whole, and only its owner can read it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::model::TokenRecord;

/// The name of the file.
const NAME: &str = "tokens";
/// The name of the file while it is written.
const NEW_NAME: &str = "tokens.new";
/// The format that this version writes and reads.
const FORMAT: u32 = 1;
/// Only the owner may read and write the file.
const MODE: u32 = 0o600;

/// Where the tokens are kept.
#[derive(Debug)]
pub(super) struct TokenFile {
    directory: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Content {
    format: u32,
    tokens: Vec<TokenRecord>,
}

/// Why the file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The system failed to read or write it.
    #[error("{path}: {error}")]
    Io {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It has no tokens in it that this version can read.
    #[error("{path} is not a file of tokens of this version: {reason}")]
    Content {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl TokenFile {
    pub(super) fn in_directory(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    pub(super) fn failed(&self, error: io::Error) -> TokenFileError {
        TokenFileError::Io { path: self.path(), error }
    }

    /// Reads the tokens. A missing file has none.
    pub(super) fn read(&self) -> Result<Vec<TokenRecord>, TokenFileError> {
        let text = match fs::read(self.path()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        let unreadable = |reason: String| TokenFileError::Content { path: self.path(), reason };
        let content: Content = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        match content.format {
            FORMAT => Ok(content.tokens),
            other => Err(unreadable(format!("it has format {other}"))),
        }
    }

    /// Replaces the tokens. They are durable on return; after an error the old ones are still there.
    pub(super) fn write(&self, tokens: &[TokenRecord]) -> Result<(), TokenFileError> {
        let content = Content { format: FORMAT, tokens: tokens.to_vec() };
        let text = serde_json::to_vec(&content).map_err(io::Error::from).map_err(|error| self.failed(error))?;
        self.replace(&text).map_err(|error| self.failed(error))
    }

    fn replace(&self, text: &[u8]) -> io::Result<()> {
        let new = self.directory.join(NEW_NAME);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(&new)?;
        // The mode at creation is subject to the umask.
        file.set_permissions(Permissions::from_mode(MODE))?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&new, self.path())?;
        File::open(&self.directory)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_kind_or_version_is_refused() {
        let dir = tempfile::tempdir().expect("directory");
        let file = TokenFile::in_directory(dir.path());
        assert!(file.read().expect("none").is_empty());
        for text in ["", "{}", r#"{"format":2,"tokens":[]}"#, r#"{"format":1,"tokens":[{"name":"a b"}]}"#] {
            fs::write(dir.path().join(NAME), text).expect("write");
            assert!(matches!(file.read(), Err(TokenFileError::Content { .. })), "{text}");
        }
        fs::write(dir.path().join(NAME), r#"{"format":1,"tokens":[]}"#).expect("write");
        assert!(file.read().expect("none").is_empty());
    }
}
