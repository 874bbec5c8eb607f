//! HTTP/1.1 connections: the octets that are read of a response are limited, and idle connections are reused.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio_util::task::AbortOnDropHandle;

use super::dial::Stream;
use super::target::Origin;

/// The most octets that are read of a response, including its header section and interim responses (1xx). The body is only
/// read for the log, and so that the connection can be reused.
const RESPONSE_OCTETS_MAX: usize = 64 * 1024;
/// The most octets of a header section. A longer one fails the attempt, at the latest one piece of 4 KB beyond this limit.
const HEAD_OCTETS_MAX: usize = 16 * 1024;
/// The most octets that are read at once.
const PIECE_OCTETS_MAX: usize = 4096;
/// How long a connection may be idle before it is closed.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// The most idle connections of one origin.
const IDLE_PER_ORIGIN_MAX: usize = 4;
/// The most idle connections in all.
pub const IDLE_CONNECTIONS_MAX: usize = 256;

/// A connection that carries one request at a time.
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    /// How many octets may still be read.
    meter: Arc<AtomicUsize>,
    _driver: AbortOnDropHandle<()>,
}

impl Connection {
    pub(super) async fn begin(stream: Box<dyn Stream>, address: SocketAddr) -> hyper::Result<Self> {
        let meter = Arc::new(AtomicUsize::new(RESPONSE_OCTETS_MAX));
        let stream = TokioIo::new(Metered { stream: stream.take(0), meter: Arc::clone(&meter) });
        // Without a setting, hyper accepts at most 100 header fields.
        let (requests, driver) =
            http1::Builder::new().max_header_size(HEAD_OCTETS_MAX).title_case_headers(true).handshake(stream).await?;
        // The request in flight gets the error as well, so it may be dropped here.
        let driver = tokio::spawn(async { _ = driver.await });
        Ok(Self { requests, address, meter, _driver: AbortOnDropHandle::new(driver) })
    }

    /// The address of the peer.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a request and waits for the header section of its response.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        self.meter.store(RESPONSE_OCTETS_MAX, Ordering::Relaxed);
        // If the connection is not ready, `try_send_request` gives the request back.
        let _ = self.requests.ready().await;
        self.requests.try_send_request(request).await
    }
}

/// A stream whose reads fail once its meter is at 0.
struct Metered {
    /// Limited to one piece.
    stream: Take<Box<dyn Stream>>,
    meter: Arc<AtomicUsize>,
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = self.meter.load(Ordering::Relaxed);
        if left == 0 {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, "the response is too long")));
        }
        let filled = buf.filled().len();
        self.stream.set_limit(left.min(PIECE_OCTETS_MAX) as u64);
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.meter.fetch_sub(buf.filled().len() - filled, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
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

/// Idle connections by origin, each with the time since when it is idle. The one that was used last is at the end.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<Origin, VecDeque<(Connection, Duration)>>>);

impl Pool {
    fn connections(&self) -> MutexGuard<'_, HashMap<Origin, VecDeque<(Connection, Duration)>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an open connection that is not idle for too long at `now`.
    pub(super) fn take(&self, origin: &Origin, now: Duration) -> Option<Connection> {
        let mut connections = self.connections();
        let idle = connections.get_mut(origin)?;
        loop {
            let (connection, since) = idle.pop_back()?;
            if since + IDLE_MAX > now && !connection.requests.is_closed() {
                return Some(connection);
            }
        }
    }

    /// Keeps an idle connection. Beyond the limits, the one that is idle for longest is closed.
    pub(super) fn put(&self, origin: &Origin, connection: Connection, now: Duration) {
        let mut connections = self.connections();
        let idle = connections.entry(origin.clone()).or_default();
        idle.push_back((connection, now));
        if idle.len() > IDLE_PER_ORIGIN_MAX {
            idle.pop_front();
        }
        if connections.values().map(VecDeque::len).sum::<usize>() > IDLE_CONNECTIONS_MAX {
            let since = |idle: &&mut VecDeque<(Connection, Duration)>| idle.front().map(|(_, since)| *since);
            let some = connections.values_mut().filter(|idle| !idle.is_empty());
            some.min_by_key(since).and_then(VecDeque::pop_front);
            connections.retain(|_, idle| !idle.is_empty());
        }
    }

    /// Closes connections that are idle for too long at `now`.
    pub(super) fn expire(&self, now: Duration) {
        self.connections().retain(|_, idle| {
            idle.retain(|(connection, since)| since.saturating_add(IDLE_MAX) > now && !connection.requests.is_closed());
            !idle.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::super::target::Target;
    use super::*;

    /// Octets that the stream between the two ends holds.
    const BUFFER: usize = 64;

    fn address(number: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], number))
    }

    async fn connection(number: u16) -> (Connection, DuplexStream) {
        let (stream, server) = duplex(BUFFER);
        (Connection::begin(Box::new(stream), address(number)).await.expect("a connection"), server)
    }

    /// Sends `start` and then the letter `x` without end. Returns how many octets were read.
    async fn send_endlessly(mut server: DuplexStream, start: &[u8]) -> usize {
        let mut request = [0; 16];
        assert!(server.read(&mut request).await.expect("a request") > 0);
        let (mut taken, mut next) = (0, start);
        while let Ok(count) = server.write(next).await {
            taken += count;
            next = if taken < start.len() { &start[taken..] } else { &[b'x'; BUFFER] };
        }
        taken
    }

    #[tokio::test]
    async fn at_most_64_kb_of_a_response_and_20_kb_of_a_header_section_are_read() {
        let interim = "HTTP/1.1 103 Hints\r\nx: y\r\n\r\n".repeat(10_000);
        for (start, most, has_response) in [
            ("HTTP/1.1 200 OK\r\n\r\n", 64 * 1024, true),
            ("HTTP/1.1 200 OK\r\nx: ", 20 * 1024, false),
            (&interim, 64 * 1024, false),
        ] {
            let (mut connection, server) = connection(1).await;
            let sending = async move {
                let response = connection.send(Request::new(Full::default())).await.ok()?;
                // Reads up to the error that ends the body.
                response.into_body().collect().await.err()
            };
            let (received, taken) = tokio::join!(sending, send_endlessly(server, start.as_bytes()));
            assert_eq!(received.is_some(), has_response, "{start:.20}");
            assert!(taken <= most + BUFFER, "{taken} of {start:.20}");
        }
    }

    #[tokio::test]
    async fn a_response_has_at_most_100_header_fields() {
        for (fields, is_read) in [(100, true), (101, false)] {
            let (mut connection, mut server) = connection(1).await;
            let response = format!("HTTP/1.1 204 No Content\r\n{}\r\n", "x: y\r\n".repeat(fields));
            let sending = async move { connection.send(Request::new(Full::default())).await.is_ok() };
            let responding = async {
                assert!(server.read(&mut [0; 16]).await.expect("a request") > 0);
                server.write_all(response.as_bytes()).await
            };
            let (was_read, _) = tokio::join!(sending, responding);
            assert_eq!(was_read, is_read, "{fields}");
        }
    }

    #[tokio::test]
    async fn four_connections_of_an_origin_are_kept_for_ten_seconds_and_256_in_all() {
        let origin = |number: u16| Target::parse(&format!("https://h{number}.example/")).expect("url").origin().clone();
        let (pool, mut servers) = (Pool::default(), Vec::new());
        let at = Duration::from_secs;
        let mut put = async |of: u16, number: u16, now| {
            let (connection, server) = connection(number).await;
            servers.push(server);
            pool.put(&origin(of), connection, now);
        };
        for number in 1..=5 {
            put(0, number, at(u64::from(number))).await;
        }
        let take = |of, now| pool.take(&origin(of), now).map(|connection| connection.address().port());
        assert_eq!([take(0, at(6)), take(0, at(6)), take(1, at(6))], [Some(5), Some(4), None]);
        assert_eq!(take(0, at(13)), None, "connections 3 and 2 are idle for ten seconds");
        for number in 0..300 {
            put(number, number, at(20)).await;
        }
        let count = || pool.connections().values().map(VecDeque::len).sum::<usize>();
        assert_eq!(count(), IDLE_CONNECTIONS_MAX);
        pool.expire(at(29));
        assert_eq!(count(), IDLE_CONNECTIONS_MAX);
        pool.expire(at(30));
        assert!(pool.connections().is_empty());
    }
}
