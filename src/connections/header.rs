//! Reading a PROXY header from a connection.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::proxy::{self, Malformed, Progress, SourceAddress};

/// Why a connection from a proxy has no PROXY header.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// It begins with something else.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// It ended or broke.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Reads a PROXY header and no octet behind it. The caller bounds the time.
pub async fn read_header(stream: &mut (impl AsyncRead + Unpin)) -> Result<SourceAddress, HeaderError> {
    let mut octets = Vec::new();
    loop {
        match proxy::read(&octets)? {
            Progress::Whole(source) => return Ok(source),
            Progress::Needs(missing) => {
                let start = octets.len();
                octets.resize(start + missing, 0);
                let read = stream.read(&mut octets[start..]).await?;
                octets.truncate(start + read);
                if read == 0 {
                    return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
                }
            }
        }
    }
}
