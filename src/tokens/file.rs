//! The file of tokens in the data directory, as JSON, of a version whose store kept none.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::TokenRecord;
use crate::store::OpenError;

/// The name of the file.
pub(super) const NAME: &str = "tokens";
/// The format that this version reads.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Content {
    format: u32,
    tokens: Vec<TokenRecord>,
}

/// Reads the tokens. `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<TokenRecord>>, OpenError> {
    let failed = |reason: String| OpenError::Io { path: path.into(), reason };
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| failed(error.to_string()))?,
    };
    match serde_json::from_slice(&text) {
        Ok(Content { format: FORMAT, tokens }) => Ok(Some(tokens)),
        Ok(Content { format, .. }) => Err(failed(format!("it has format {format}, and this version reads {FORMAT}"))),
        Err(error) => Err(failed(format!("it is not a file of tokens: {error}"))),
    }
}

/// Writes a file as earlier versions did.
#[cfg(test)]
pub(super) fn write(path: &Path, tokens: &[TokenRecord]) -> io::Result<()> {
    fs::write(path, serde_json::to_vec(&Content { format: FORMAT, tokens: tokens.into() })?)
}

/// Removes the file, durably.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_kind_or_version_is_refused() {
        let dir = tempfile::tempdir().expect("directory");
        let path = dir.path().join(NAME);
        assert_eq!(read(&path), Ok(None));
        for text in ["", "{}", r#"{"format":2,"tokens":[]}"#, r#"{"format":1,"tokens":[{"name":"a b"}]}"#] {
            fs::write(&path, text).expect("write");
            assert!(matches!(read(&path), Err(OpenError::Io { .. })), "{text}");
        }
        fs::write(&path, r#"{"format":1,"tokens":[]}"#).expect("write");
        assert_eq!(read(&path), Ok(Some(Vec::new())));
    }
}
