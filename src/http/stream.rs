//! The stream of a connection: a peer that takes nothing is given up, and hyper's own refusals become problems.
//!
//! hyper answers a head that it cannot read with 400, 414 or 431 and no body, and then closes the connection. Nothing but
//! such a refusal is written while no answer is in progress. Only one behind an answer that the peer has not taken yet
//! stays without a body.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::activity::Recorder;
use super::problem::{Code, Problem};
use super::server::{CROWDED_MAX, Server};

/// The time that an octet earns its peer for the next ones: a second for each 16 KB.
const EARNED_BY_OCTET: Duration = Duration::from_micros(61);

/// The stream of a connection.
pub(super) struct Stream<S> {
    inner: S,
    recorder: Recorder,
    server: Arc<Server>,
    /// Since when a write has been waiting for the peer, and when that is looked at again.
    stalled: Option<(Instant, Pin<Box<Sleep>>)>,
    /// How long writes waited before, less the time that the peer has earned by taking octets.
    waited: Duration,
    /// The octets of a refusal that are still to be written.
    refusal: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    pub(super) const fn new(inner: S, recorder: Recorder, server: Arc<Server>) -> Self {
        Self { inner, recorder, server, stalled: None, waited: Duration::ZERO, refusal: Vec::new() }
    }

    /// What a write gave, or that it has failed, since the peer has kept its octets waiting for too long. hyper limits only
    /// the time of a request's head.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waited += self.stalled.take().map_or(Duration::ZERO, |(since, _)| since.elapsed());
            return polled;
        }
        let (timeout, waited) = (self.server.service.config.constants.http_write_timeout, self.waited);
        let (since, timer) =
            self.stalled.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(timeout.min(CROWDED_MAX)))));
        while timer.as_mut().poll(cx).is_ready() {
            let left = self.server.patience(timeout).saturating_sub(waited + since.elapsed());
            if left.is_zero() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            timer.as_mut().reset(Instant::now() + left.min(CROWDED_MAX));
        }
        Poll::Pending
    }

    /// What a write gave, in time. Each octet that the peer takes earns it time for the others.
    fn written(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let written = ready!(self.in_time(cx, polled))?;
        let earned = EARNED_BY_OCTET * u32::try_from(written).unwrap_or(u32::MAX);
        self.waited = self.waited.saturating_sub(earned);
        Poll::Ready(Ok(written))
    }

    /// Takes a refusal of hyper and puts a problem in its place; whether `octets` were one.
    fn replace_refusal(&mut self, octets: &[u8]) -> bool {
        let problem = if self.recorder.owes_nothing() { problem(octets) } else { None };
        if let Some(problem) = problem {
            self.refusal = problem.into_octets(self.server.service.clock.now());
        }
        !self.refusal.is_empty()
    }

    /// Writes a refusal, if there is one: without one a flush that is waiting goes on waiting.
    fn refusal_in_time(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.refusal.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let refused = self.poll_refusal(cx);
        self.in_time(cx, refused)
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
        self.written(cx, polled)
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
        self.written(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.refusal_in_time(cx))?;
        self.recorder.flushed();
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        ready!(self.in_time(cx, flushed))?;
        self.waited = Duration::ZERO;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.refusal_in_time(cx))?;
        let shut_down = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.in_time(cx, shut_down)
    }
}
