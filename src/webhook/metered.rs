//! A stream of which no more than so much is read for one answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};

/// Octets that are read at once at most.
const PIECE_OCTETS_MAX: usize = 4096;

/// How much may still be read of a [`Metered`] stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter(Arc<AtomicUsize>);

impl Meter {
    pub(super) fn set(&self, octets: usize) {
        self.0.store(octets, Ordering::Relaxed);
    }
}

/// A stream that fails to read once its meter is at 0.
#[derive(Debug)]
pub(super) struct Metered<S> {
    /// Its limit is that of one piece.
    stream: Take<S>,
    meter: Meter,
}

impl<S: AsyncRead> Metered<S> {
    pub(super) fn new(stream: S, meter: Meter) -> Self {
        Self { stream: stream.take(0), meter }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = self.meter.0.load(Ordering::Relaxed);
        if left == 0 {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, "the answer is too long")));
        }
        let filled = buf.filled().len();
        self.stream.set_limit(left.min(PIECE_OCTETS_MAX) as u64);
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.meter.set(left - (buf.filled().len() - filled));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write(cx, octets)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(self.stream.get_mut()).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn no_octet_more_than_the_meter_says_is_read() {
        let octets = [b'x'; 3 * PIECE_OCTETS_MAX];
        let meter = Meter::default();
        let mut stream = Metered::new(&octets[..], meter.clone());
        for allowed in [1, PIECE_OCTETS_MAX, PIECE_OCTETS_MAX + 1] {
            meter.set(allowed);
            let mut read = Vec::new();
            let end = stream.read_to_end(&mut read).await.expect_err("there is more");
            assert_eq!((read.len(), end.kind()), (allowed, io::ErrorKind::FileTooLarge));
        }
        meter.set(PIECE_OCTETS_MAX);
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.expect("the end"), PIECE_OCTETS_MAX - 2);
    }
}
