//! Connections of HTTP/1.1: what is read of one answer has a bound, and some connections are kept for the next request.

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

/// Octets that are read of an answer, its header section and interim answers included. Its status has come by then; what
/// follows is only read for the log, and so that the connection can be used again.
const ANSWER_OCTETS_MAX: usize = 64 * 1024;
/// Octets of its header section: a longer one is a failure, from a piece of 4 KB beyond this at the latest.
const HEAD_OCTETS_MAX: usize = 16 * 1024;
/// Octets that are read at once at most.
const PIECE_OCTETS_MAX: usize = 4096;
/// How long a connection is kept unused, how many of one origin are, and how many in all.
const IDLE_MAX: Duration = Duration::from_secs(10);
const IDLE_PER_ORIGIN_MAX: usize = 4;
/// The most connections that are kept unused.
pub const IDLE_CONNECTIONS_MAX: usize = 256;

/// A connection on which one request at a time is made.
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    /// How many octets may still be read.
    meter: Arc<AtomicUsize>,
    _driver: AbortOnDropHandle<()>,
}

impl Connection {
    pub(super) async fn begin(stream: Box<dyn Stream>, address: SocketAddr) -> hyper::Result<Self> {
        let meter = Arc::new(AtomicUsize::new(ANSWER_OCTETS_MAX));
        let stream = TokioIo::new(Metered { stream: stream.take(0), meter: Arc::clone(&meter) });
        // Of its fields hyper takes no more than 100, and has room for these without a setting.
        let (requests, driver) =
            http1::Builder::new().max_header_size(HEAD_OCTETS_MAX).title_case_headers(true).handshake(stream).await?;
        // What ended it is told to whoever waits for an answer.
        let driver = tokio::spawn(async { _ = driver.await });
        Ok(Self { requests, address, meter, _driver: AbortOnDropHandle::new(driver) })
    }

    /// The address that it leads to.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes a request and waits for the header section of its answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        self.meter.store(ANSWER_OCTETS_MAX, Ordering::Relaxed);
        // One that is not ready gives the request back.
        let _ = self.requests.ready().await;
        self.requests.try_send_request(request).await
    }
}

/// A stream that fails to read once its meter is at 0.
struct Metered {
    /// Its limit is that of one piece.
    stream: Take<Box<dyn Stream>>,
    meter: Arc<AtomicUsize>,
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = self.meter.load(Ordering::Relaxed);
        if left == 0 {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, "the answer is too long")));
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

/// Unused connections by origin, the one that was used last at the end, each with the time since which it is unused.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<Origin, VecDeque<(Connection, Duration)>>>);

impl Pool {
    fn connections(&self) -> MutexGuard<'_, HashMap<Origin, VecDeque<(Connection, Duration)>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that was not closed and is not unused for too long at `now`.
    pub(super) fn take(&self, origin: &Origin, now: Duration) -> Option<Connection> {
        let mut connections = self.connections();
        let unused = connections.get_mut(origin)?;
        loop {
            let (connection, since) = unused.pop_back()?;
            if since + IDLE_MAX > now && !connection.requests.is_closed() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection. Beyond the bounds the one that is unused for longest is closed.
    pub(super) fn put(&self, origin: &Origin, connection: Connection, now: Duration) {
        let mut connections = self.connections();
        let unused = connections.entry(origin.clone()).or_default();
        unused.push_back((connection, now));
        if unused.len() > IDLE_PER_ORIGIN_MAX {
            unused.pop_front();
        }
        if connections.values().map(VecDeque::len).sum::<usize>() > IDLE_CONNECTIONS_MAX {
            let since = |unused: &&mut VecDeque<(Connection, Duration)>| unused.front().map(|(_, since)| *since);
            let some = connections.values_mut().filter(|unused| !unused.is_empty());
            some.min_by_key(since).and_then(VecDeque::pop_front);
            connections.retain(|_, unused| !unused.is_empty());
        }
    }

    /// Closes those that are unused for too long at `now`.
    pub(super) fn expire(&self, now: Duration) {
        self.connections().retain(|_, unused| {
            unused
                .retain(|(connection, since)| since.saturating_add(IDLE_MAX) > now && !connection.requests.is_closed());
            !unused.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::super::target::Target;
    use super::*;

    /// What lies between the two ends.
    const BETWEEN: usize = 64;

    fn address(number: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], number))
    }

    async fn connection(number: u16) -> (Connection, DuplexStream) {
        let (stream, server) = duplex(BETWEEN);
        (Connection::begin(Box::new(stream), address(number)).await.expect("a connection"), server)
    }

    /// Sends `start` and then the letter `x` without an end; how many octets of all that were taken.
    async fn endless(mut server: DuplexStream, start: &[u8]) -> usize {
        let mut request = [0; 16];
        assert!(server.read(&mut request).await.expect("a request") > 0);
        let (mut taken, mut next) = (0, start);
        while let Ok(count) = server.write(next).await {
            taken += count;
            next = if taken < start.len() { &start[taken..] } else { &[b'x'; BETWEEN] };
        }
        taken
    }

    #[tokio::test]
    async fn no_more_than_64_kb_of_an_answer_and_20_kb_of_a_header_section_are_read() {
        let interim = "HTTP/1.1 103 Hints\r\nx: y\r\n\r\n".repeat(10_000);
        for (start, most, is_answer) in [
            ("HTTP/1.1 200 OK\r\n\r\n", 64 * 1024, true),
            ("HTTP/1.1 200 OK\r\nx: ", 20 * 1024, false),
            (&interim, 64 * 1024, false),
        ] {
            let (mut connection, server) = connection(1).await;
            let asking = async move {
                let answer = connection.ask(Request::new(Full::default())).await.ok()?;
                // To the error that ends it.
                answer.into_body().collect().await.err()
            };
            let (answered, taken) = tokio::join!(asking, endless(server, start.as_bytes()));
            assert_eq!(answered.is_some(), is_answer, "{start:.20}");
            assert!(taken <= most + BETWEEN, "{taken} of {start:.20}");
        }
    }

    #[tokio::test]
    async fn an_answer_has_100_fields_at_most() {
        for (fields, is_read) in [(100, true), (101, false)] {
            let (mut connection, mut server) = connection(1).await;
            let answer = format!("HTTP/1.1 204 No Content\r\n{}\r\n", "x: y\r\n".repeat(fields));
            let asking = async move { connection.ask(Request::new(Full::default())).await.is_ok() };
            let answering = async {
                assert!(server.read(&mut [0; 16]).await.expect("a request") > 0);
                server.write_all(answer.as_bytes()).await
            };
            let (was_read, _) = tokio::join!(asking, answering);
            assert_eq!(was_read, is_read, "{fields}");
        }
    }

    #[tokio::test]
    async fn an_origin_keeps_four_connections_for_ten_seconds_and_all_keep_256() {
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
        assert_eq!(take(0, at(13)), None, "3 and 2 are unused for ten seconds");
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
