//! Closing a connection so that its last octets arrive.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// How long a peer may go on sending after the last octets, and how many octets; they are dropped.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_OCTETS_MAX: usize = 1024 * 1024;

/// Closes the connection for writing. If octets are unread when it is dropped, the kernel resets the connection and the
/// last octets can be lost. So the octets of a peer that may still be sending are read and dropped for a moment.
pub async fn close(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), buffer: &mut [u8], may_send_on: bool) {
    let close = async {
        stream.shutdown().await?;
        let mut dropped = 0;
        while may_send_on && dropped < LINGER_OCTETS_MAX {
            match stream.read(buffer).await? {
                0 => break,
                octets => dropped += octets,
            }
        }
        io::Result::Ok(())
    };
    // An error changes nothing: the connection has ended.
    let _ = timeout(LINGER, close).await;
}
