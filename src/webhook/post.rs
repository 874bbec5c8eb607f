//! One POST over a connection of its own, which ends with it, whatever the receiver does.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::select_ok;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, join, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_util::task::AbortOnDropHandle;
use url::{Host, Position};

use super::outcome::{ErrorClass, RESPONSE_OCTETS_MAX};
use super::request::EventRequest;
use super::target::Target;
use crate::tls::ClientTls;

/// The most octets that are read of a response, with its header section and interim responses (1xx), without TLS.
const READ_OCTETS_MAX: u64 = 64 << 10;
/// The most octets of a header section, which has at most 100 fields.
const HEAD_OCTETS_MAX: usize = 16 << 10;
/// How long one address is dialled alone (RFC 8305 section 5). A receiver must not become slow by it.
const HEAD_START: Duration = Duration::from_millis(200);

/// What went wrong, and in words.
pub(super) type Failure = (ErrorClass, String);

/// A connection to a receiver, in the clear or over TLS.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    /// The address that answered.
    pub(super) address: SocketAddr,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The head of a response, and the connection that has its body.
pub(super) struct Answer {
    pub(super) head: Parts,
    body: Option<Incoming>,
    driver: AbortOnDropHandle<()>,
}

impl Connection {
    /// Connects to the first of `addresses` that answers. No other address is dialled, and no name is resolved.
    pub(super) async fn open(target: &Target, addresses: &[SocketAddr], tls: &ClientTls) -> Result<Self, Failure> {
        let stream = dial(addresses).await.map_err(|error| (ErrorClass::Connect, error.to_string()))?;
        let address = stream.peer_addr().map_err(|error| (ErrorClass::Connect, error.to_string()))?;
        if !target.is_tls() {
            return Ok(Self { stream: Box::new(stream), address });
        }
        let of_tls = |error: io::Error| (ErrorClass::Tls, error.to_string());
        let name = server_name(target).map_err(of_tls)?;
        let stream = TlsConnector::from(tls.clone()).connect(name, stream).await.map_err(of_tls)?;
        Ok(Self { stream: Box::new(stream), address })
    }

    /// Sends a request and receives the head of its response.
    pub(super) async fn post(self, request: EventRequest) -> Result<Answer, Failure> {
        let request = http_request(request).map_err(|error| (ErrorClass::Other, error.to_string()))?;
        let (reader, writer) = split(self.stream);
        let stream = TokioIo::new(join(reader.take(READ_OCTETS_MAX), Forgiving(writer)));
        let mut client = http1::Builder::new();
        // With `writev` the client does not copy the body.
        client.max_header_size(HEAD_OCTETS_MAX).title_case_headers(true).writev(true);
        let (mut requests, driver) = client.handshake(stream).await.map_err(|error| failure(&error))?;
        // The request gets the error as well.
        let driver = AbortOnDropHandle::new(tokio::spawn(async { _ = driver.await }));
        let (head, body) = requests.send_request(request).await.map_err(|error| failure(&error))?.into_parts();
        Ok(Answer { head, body: Some(body), driver })
    }
}

impl Answer {
    /// The start of the response's body: as much as is recorded, or as came before `ends_at` or an error. A receiver that
    /// answered before it had the whole request gets the rest until then.
    pub(super) async fn finish(&mut self, ends_at: Instant) -> Vec<u8> {
        let mut start = Vec::new();
        if let Some(mut body) = self.body.take() {
            while start.len() < RESPONSE_OCTETS_MAX
                && let Ok(Some(Ok(frame))) = timeout_at(ends_at, body.frame()).await
            {
                start.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref));
            }
        }
        let _ = timeout_at(ends_at, &mut self.driver).await;
        start
    }
}

/// A writer for which it is no error that the peer has ended the connection: an answer that came before counts.
struct Forgiving<W>(W);

impl<W: AsyncWrite + Unpin> AsyncWrite for Forgiving<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, octets).map(|written| forgiven(written, octets.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx).map(|flushed| forgiven(flushed, ()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx).map(|shut| forgiven(shut, ()))
    }
}

fn forgiven<T>(result: io::Result<T>, done: T) -> io::Result<T> {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    match result {
        Err(error) if matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset) => Ok(done),
        result => result,
    }
}

/// Dials the first address, and the second if the first fails or takes long.
async fn dial(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut dials = addresses.iter().map(|address| Box::pin(TcpStream::connect(*address)));
    let mut first = dials.next().ok_or_else(|| io::Error::other("there is no address"))?;
    let stream = match (timeout(HEAD_START, &mut first).await, dials.next()) {
        (Ok(Err(_)), Some(second)) => second.await?,
        (Ok(connected), _) => connected?,
        (Err(_), Some(second)) => select_ok([first, second]).await?.0,
        (Err(_), None) => first.await?,
    };
    // The request is written in few pieces, so Nagle's algorithm would only delay it.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The name that the receiver's certificate must have.
fn server_name(target: &Target) -> io::Result<ServerName<'static>> {
    match target.host() {
        Some(Host::Ipv4(v4)) => Ok(IpAddr::from(v4).into()),
        Some(Host::Ipv6(v6)) => Ok(IpAddr::from(v6).into()),
        Some(Host::Domain(name)) => ServerName::try_from(name.to_owned()).map_err(io::Error::other),
        None => Err(io::Error::other("the URL has no host")),
    }
}

/// The request with all its header fields; the client adds Content-Length alone.
fn http_request(request: EventRequest) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let EventRequest { target, mut headers, body } = request;
    let url = target.request_url();
    headers.insert(HOST, HeaderValue::try_from(&url[Position::BeforeHost..Position::AfterPort])?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    let mut request =
        Request::builder().method(Method::POST).uri(&url[Position::BeforePath..]).body(Full::new(body))?;
    *request.headers_mut() = headers;
    Ok(request)
}

fn failure(error: &hyper::Error) -> Failure {
    // The innermost cause is the most precise one.
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    (ErrorClass::Other, cause.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hyper::HeaderMap;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    /// Octets that the stream between the two ends holds.
    const BUFFER: usize = 64;
    const SECOND: Duration = Duration::from_secs(1);

    fn connection() -> (Connection, DuplexStream) {
        let (stream, server) = duplex(BUFFER);
        (Connection { stream: Box::new(stream), address: SocketAddr::from(([192, 0, 2, 1], 80)) }, server)
    }

    fn request(octets: usize) -> EventRequest {
        let target = Arc::new(Target::parse("http://a.example/hook?a=b").expect("a URL"));
        EventRequest { target, headers: HeaderMap::new(), body: vec![b'x'; octets].into() }
    }

    /// Sends `start` and then the letter `x` without end. Returns how many octets were read.
    async fn send_endlessly(mut server: DuplexStream, start: &[u8]) -> usize {
        assert!(server.read(&mut [0; BUFFER]).await.expect("a request") > 0);
        let (mut taken, mut next) = (0, start);
        while let Ok(count) = server.write(next).await {
            taken += count;
            next = if taken < start.len() { &start[taken..] } else { &[b'x'; BUFFER] };
        }
        taken
    }

    #[tokio::test]
    async fn at_most_64_kb_of_an_answer_and_20_kb_of_its_head_are_read() {
        let interim = "HTTP/1.1 103 Hints\r\nx: y\r\n\r\n".repeat(10_000);
        for (start, most, has_head) in [
            ("HTTP/1.1 200 OK\r\n\r\n", 64 << 10, true),
            ("HTTP/1.1 200 OK\r\nx: ", 20 << 10, false),
            (&interim, 64 << 10, false),
        ] {
            let (connection, server) = connection();
            let posting = async {
                let answer = connection.post(request(0)).await.ok()?;
                answer.body?.collect().await.ok();
                Some(())
            };
            let (answered, taken) = tokio::join!(posting, send_endlessly(server, start.as_bytes()));
            assert_eq!(answered.is_some(), has_head, "{start:.20}");
            assert!(taken <= most + 2 * BUFFER, "{taken} of {start:.20}");
        }
    }

    #[tokio::test]
    async fn an_answer_has_at_most_100_header_fields() {
        for (fields, is_read) in [(100, true), (101, false)] {
            let (connection, mut server) = connection();
            let answer = format!("HTTP/1.1 204 No Content\r\n{}\r\n", "x: y\r\n".repeat(fields));
            let answering = async {
                assert!(server.read(&mut [0; BUFFER]).await.expect("a request") > 0);
                server.write_all(answer.as_bytes()).await
            };
            let (answered, _) = tokio::join!(connection.post(request(0)), answering);
            assert_eq!(answered.is_ok(), is_read, "{fields}");
        }
    }

    #[tokio::test]
    async fn a_request_has_its_path_its_host_and_its_length() {
        let (connection, mut server) = connection();
        let answering = async {
            let mut text = String::new();
            let mut octets = [0; BUFFER];
            while !text.ends_with("\r\n\r\nxxx") {
                let count = server.read(&mut octets).await.expect("a request");
                text.push_str(std::str::from_utf8(&octets[..count]).expect("ASCII"));
            }
            server.write_all(b"HTTP/1.1 200 OK\r\n\r\nbody").await.expect("write");
            drop(server);
            text
        };
        let (answer, text) = tokio::join!(connection.post(request(3)), answering);
        let expected =
            "POST /hook?a=b HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Length: 3\r\n\r\nxxx";
        assert_eq!(text, expected);
        assert_eq!(answer.expect("an answer").finish(Instant::now() + SECOND).await, b"body");
    }

    /// A receiver answers after the first octets of a request. Returns how many octets it gets afterwards.
    async fn answered_early(octets: usize, reads_on: bool) -> usize {
        let (connection, mut server) = connection();
        let posting = async {
            let mut answer = connection.post(request(octets)).await.expect("an answer");
            answer.finish(Instant::now() + SECOND).await;
        };
        let answering = async {
            assert!(server.read(&mut [0; BUFFER]).await.expect("a request") > 0);
            server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.expect("write");
            if !reads_on {
                tokio::time::sleep(2 * SECOND).await;
            }
            let mut rest = Vec::new();
            server.read_to_end(&mut rest).await.expect("the connection ends");
            rest.len()
        };
        tokio::join!(posting, answering).1
    }

    #[tokio::test(start_paused = true)]
    async fn who_answers_early_gets_the_rest_and_holds_no_connection_by_not_reading_it() {
        assert!(answered_early(100_000, true).await > 100_000 - BUFFER);
        assert!(answered_early(100_000, false).await <= BUFFER, "what was under way when the time was over");
    }

    /// Receivers answer large requests that they do not want, and end the connection amid them.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn an_answer_counts_although_its_sender_ends_the_connection() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let target = Target::parse("http://a.example/").expect("a URL");
        let tls = crate::tls::client_config().expect("TLS");
        for pieces in 0..100 {
            let answering = async {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                for _ in 0..=pieces {
                    assert!(stream.read(&mut [0; 1 << 14]).await.expect("a request") > 0);
                }
                stream.write_all(b"HTTP/1.1 413 Large\r\nContent-Length: 4\r\n\r\nmuch").await.expect("write");
            };
            let posting = async {
                let connection = Connection::open(&target, &[address], &tls).await;
                connection.expect("a connection").post(request(20 << 20)).await
            };
            let (answered, ()) = tokio::join!(posting, answering);
            let mut answer = answered.unwrap_or_else(|(_, text)| panic!("{text}"));
            assert_eq!(
                (answer.head.status.as_u16(), answer.finish(Instant::now() + SECOND).await),
                (413, b"much".to_vec())
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_refuses_costs_no_time() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let refusing = SocketAddr::from(([127, 0, 0, 1], 1));
        let begun = Instant::now();
        let stream = dial(&[refusing, listener.local_addr().expect("an address")]).await.expect("a connection");
        assert_eq!(stream.peer_addr().ok(), listener.local_addr().ok());
        assert!(begun.elapsed() < HEAD_START);
        assert!(dial(&[refusing]).await.is_err());
    }
}
