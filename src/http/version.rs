//! The version of HTTP that a client speaks in the clear.
//!
//! A client that knows that the server speaks HTTP/2 begins with a preface (RFC 9113 section 3.3). Any other client
//! speaks HTTP/1.1. Over TLS the handshake has the answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// The first octets of HTTP/2 (RFC 9113 section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A version that connections speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// A stream whose first octets have been looked at. They are read again.
#[derive(Debug)]
pub(super) struct Begun<S> {
    first: [u8; PREFACE.len()],
    /// The part of `first` that is still to be read.
    unread: std::ops::Range<usize>,
    inner: S,
}

/// Reads until the version is clear. Takes as long as the client does.
pub(super) async fn begin<S: AsyncRead + Unpin>(mut inner: S) -> io::Result<(Version, Begun<S>)> {
    let mut first = [0; PREFACE.len()];
    let mut length = 0;
    while length < first.len() && PREFACE.starts_with(&first[..length]) {
        match inner.read(&mut first[length..]).await? {
            0 => break,
            octets => length += octets,
        }
    }
    let version = if first == *PREFACE { Version::Http2 } else { Version::Http1 };
    Ok((version, Begun { first, unread: 0..length, inner }))
}

impl<S: AsyncRead + Unpin> AsyncRead for Begun<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.inner).poll_read(cx, buffer);
        }
        let octets = self.unread.len().min(buffer.remaining());
        buffer.put_slice(&self.first[self.unread.start..][..octets]);
        self.unread.start += octets;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Begun<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, octets)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_whole_preface_is_http_2_and_nothing_is_lost() {
        let preface = |end: &[u8]| [PREFACE, end].concat();
        let mut damaged = preface(b"");
        damaged[23] = b'?';
        for (octets, version) in [
            (preface(b"rest"), Version::Http2),
            (preface(b""), Version::Http2),
            (damaged, Version::Http1),
            (PREFACE[..23].to_vec(), Version::Http1),
            (b"PRI /x HTTP/1.1\r\n\r\n and more than the preface".to_vec(), Version::Http1),
            (b"P".to_vec(), Version::Http1),
            (Vec::new(), Version::Http1),
        ] {
            let (found, mut begun) = begin(&octets[..]).await.expect("no failure");
            assert_eq!(found, version, "{octets:?}");
            let mut again = Vec::new();
            begun.read_to_end(&mut again).await.expect("no failure");
            assert_eq!(again, octets);
        }
    }
}
