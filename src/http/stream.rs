//! The stream of a connection: what is written is recorded, and hyper's own refusals become problems.
//!
//! hyper answers a head that it cannot read with 400, 414 or 431 and no body, and then closes the connection. Nothing but
//! such a refusal is written while no answer is in progress. Only one behind an answer that the peer has not taken yet
//! stays without a body.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::activity::Recorder;
use super::problem::{Code, Problem};

/// The stream of a connection.
pub(super) struct Stream<S> {
    inner: S,
    recorder: Recorder,
    /// The octets of a refusal that are still to be written.
    refusal: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    pub(super) const fn new(inner: S, recorder: Recorder) -> Self {
        Self { inner, recorder, refusal: Vec::new() }
    }

    /// Takes a refusal of hyper and puts a problem in its place; whether `octets` were one.
    fn replace_refusal(&mut self, octets: &[u8]) -> bool {
        let problem = if self.recorder.owes_nothing() { problem(octets) } else { None };
        if let Some(problem) = problem {
            self.refusal = problem.into_octets(self.recorder.now());
        }
        !self.refusal.is_empty()
    }

    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let written = ready!(Pin::new(&mut self.inner).poll_write(cx, &self.refusal))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.refusal.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

/// The problem of a refusal by its status line.
fn problem(refusal: &[u8]) -> Option<Problem> {
    let status = refusal.strip_prefix(b"HTTP/1.")?.get(2..5)?;
    let (code, detail) = match status {
        b"400" => (Code::RequestInvalid, "the head of the request is not valid HTTP/1.1"),
        b"414" => (Code::QueryTooLong, "the target of the request is too long"),
        b"431" => (Code::HeadTooLarge, "the head of the request is too long or has too many fields"),
        _ => return None,
    };
    Some(Problem::new(code, detail))
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        if self.replace_refusal(octets) {
            return Poll::Ready(Ok(octets.len()));
        }
        let polled = Pin::new(&mut self.inner).poll_write(cx, octets);
        self.recorder.moved(polled.is_pending());
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = slices.first()
            && self.replace_refusal(first)
        {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.recorder.moved(polled.is_pending());
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(cx))?;
        self.recorder.flushed();
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
