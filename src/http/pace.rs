//! The stream of a connection whose peer is given up when it takes the octets of its answers too slowly. hyper limits
//! only the time of a request's head.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::admission::What;
use crate::service::Service;

/// The longest that a peer may keep octets waiting in a crowd.
const CROWDED_MAX: Duration = Duration::from_secs(10);

/// The time that an octet earns its peer for the next ones: a second for each 16 KB.
const EARNED_BY_OCTET: Duration = Duration::from_micros(61);

/// A stream that fails when its peer has kept octets waiting for too long.
pub(super) struct Paced<S> {
    inner: S,
    service: Arc<Service>,
    /// Since when a write has been waiting for the peer, and when that is looked at again.
    stalled: Option<(Instant, Pin<Box<Sleep>>)>,
    /// How long writes waited before, less the time that the peer has earned by taking octets.
    waited: Duration,
}

/// How long a peer may take for what may take `time` as long as there is no crowd.
pub(super) fn patience(service: &Service, time: Duration) -> Duration {
    let is_crowded = [What::HttpConnection, What::AnswerOctets].iter().any(|what| service.admission.is_crowded(*what));
    if is_crowded { time.min(CROWDED_MAX) } else { time }
}

impl<S: AsyncWrite + Unpin> Paced<S> {
    pub(super) const fn new(inner: S, service: Arc<Service>) -> Self {
        Self { inner, service, stalled: None, waited: Duration::ZERO }
    }

    /// What a write gave, or that it has failed, since the peer has kept its octets waiting for too long.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waited += self.stalled.take().map_or(Duration::ZERO, |(since, _)| since.elapsed());
            return polled;
        }
        let (timeout, waited) = (self.service.config.constants.http_write_timeout, self.waited);
        let (since, timer) =
            self.stalled.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(timeout.min(CROWDED_MAX)))));
        while timer.as_mut().poll(cx).is_ready() {
            let left = patience(&self.service, timeout).saturating_sub(waited + since.elapsed());
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
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, octets);
        self.written(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.written(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        ready!(self.in_time(cx, flushed))?;
        self.waited = Duration::ZERO;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut_down = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.in_time(cx, shut_down)
    }
}
