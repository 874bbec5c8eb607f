//! One HTTP/1.1 connection, driven by whoever waits for its answer: no task of its own, so that nobody is woken to hand an
//! answer over.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::dial::{Dialled, Stream};
use super::metered::{Meter, Metered};

/// Octets that are read of an answer, its header section and interim answers included. Its status has come by then; what
/// follows is only read for the log, and so that the connection can be used again.
const ANSWER_OCTETS_MAX: usize = 64 * 1024;
/// Octets of its header section: a longer one is a failure, from a piece of 4 KB beyond this at the latest.
const HEAD_OCTETS_MAX: usize = 16 * 1024;

type Driver = http1::Connection<TokioIo<Metered<Box<dyn Stream>>>, Full<Bytes>>;

/// A connection on which one request at a time is made.
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    driver: Driver,
    /// The driver has ended and must not be polled again.
    is_over: bool,
    address: SocketAddr,
    meter: Meter,
}

/// No answer to a request.
pub(super) struct Unanswered {
    pub(super) error: hyper::Error,
    /// The request, if the server can't have seen any of it.
    pub(super) unsent: Option<Request<Full<Bytes>>>,
}

impl Connection {
    /// In a box: it is large, and handed to and fro.
    pub(super) async fn begin(dialled: Dialled) -> hyper::Result<Box<Self>> {
        let Dialled { stream, address } = dialled;
        let meter = Meter::default();
        let stream = TokioIo::new(Metered::new(stream, meter.clone()));
        // Of its fields hyper takes no more than 100, and has room for these without a setting.
        let (requests, driver) =
            http1::Builder::new().max_header_size(HEAD_OCTETS_MAX).title_case_headers(true).handshake(stream).await?;
        Ok(Box::new(Self { requests, driver, is_over: false, address, meter }))
    }

    /// The address that it leads to.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether another request can be made on it, as far as is known here by now.
    pub(super) async fn is_open(&mut self) -> bool {
        poll_fn(|cx| {
            self.poll_driver(cx);
            Poll::Ready(())
        })
        .await;
        !self.is_over && self.requests.is_ready()
    }

    /// Makes a request and waits for the header section of its answer.
    pub(super) async fn ask(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        self.meter.set(ANSWER_OCTETS_MAX);
        let answered = pin!(self.requests.try_send_request(request));
        let answered = self.drive(answered).await;
        answered.map_err(|mut failed| {
            let unsent = failed.take_message();
            Unanswered { error: failed.into_error(), unsent }
        })
    }

    /// The next piece of an answer's body; `None` at its end, an error where it is too long.
    pub(super) async fn next_piece(&mut self, body: &mut Incoming) -> hyper::Result<Option<Bytes>> {
        if body.is_end_stream() {
            return Ok(None);
        }
        let frame = self.drive(pin!(body.frame())).await.transpose()?;
        // Trailers are the end.
        Ok(frame.and_then(|frame| frame.into_data().ok()))
    }

    /// Waits for `awaited`, which waits for this connection.
    async fn drive<T>(&mut self, mut awaited: Pin<&mut impl Future<Output = T>>) -> T {
        poll_fn(|cx| {
            self.poll_driver(cx);
            awaited.as_mut().poll(cx)
        })
        .await
    }

    fn poll_driver(&mut self, cx: &mut Context<'_>) {
        // What ended it is told to whoever waits for an answer.
        self.is_over = self.is_over || Pin::new(&mut self.driver).poll(cx).is_ready();
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    /// What lies between the two ends.
    const BETWEEN: usize = 64;

    async fn connection() -> (Box<Connection>, DuplexStream) {
        let (stream, server) = duplex(BETWEEN);
        let address = SocketAddr::from(([192, 0, 2, 1], 80));
        let connection = Connection::begin(Dialled { stream: Box::new(stream), address }).await.expect("a connection");
        (connection, server)
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
    async fn no_more_than_64_kb_of_an_answer_are_read() {
        let (mut connection, server) = connection().await;
        let asking = async move {
            let answer = connection.ask(Request::new(Full::default())).await.ok().expect("an answer");
            let mut body = answer.into_body();
            let mut octets = 0;
            while let Ok(Some(piece)) = connection.next_piece(&mut body).await {
                octets += piece.len();
            }
            octets
        };
        let head = b"HTTP/1.1 200 OK\r\n\r\n";
        let (body, taken) = tokio::join!(asking, endless(server, head));
        assert_eq!(head.len() + body, 64 * 1024);
        assert!((64 * 1024..=64 * 1024 + BETWEEN).contains(&taken), "{taken}");
    }

    #[tokio::test]
    async fn no_more_than_20_kb_of_a_header_section_are_read() {
        let interim = "HTTP/1.1 103 Hints\r\nx: y\r\n\r\n".repeat(10_000);
        for (start, most) in [("HTTP/1.1 200 OK\r\nx: ", 20 * 1024), (&interim, 64 * 1024)] {
            let (mut connection, server) = connection().await;
            let asking = async move { connection.ask(Request::new(Full::default())).await.is_err() };
            let (has_failed, taken) = tokio::join!(asking, endless(server, start.as_bytes()));
            assert!(has_failed && taken <= most + BETWEEN, "{taken}");
        }
    }
    #[tokio::test]
    async fn an_answer_has_100_fields_at_most() {
        for (fields, is_read) in [(100, true), (101, false)] {
            let (mut connection, mut server) = connection().await;
            let answer = format!("HTTP/1.1 204 No Content\r\n{}\r\n", "x: y\r\n".repeat(fields));
            let asking = async move { connection.ask(Request::new(Full::default())).await.is_ok() };
            let (was_read, _) = tokio::join!(asking, server.write_all(answer.as_bytes()));
            assert_eq!(was_read, is_read, "{fields}");
        }
    }

    #[tokio::test]
    async fn field_names_are_spelled_as_the_interface_has_them() {
        let (mut connection, mut server) = connection().await;
        let mut request = Request::new(Full::default());
        request.headers_mut().insert("x-webhook-signature", HeaderValue::from_static("0a"));
        let _asking = tokio::spawn(async move { connection.ask(request).await.is_ok() });
        let mut sent = String::new();
        while !sent.ends_with("\r\n\r\n") {
            let mut piece = [0; BETWEEN];
            let octets = server.read(&mut piece).await.expect("a request");
            sent.push_str(std::str::from_utf8(&piece[..octets]).expect("ASCII"));
        }
        assert!(sent.contains("\r\nX-Webhook-Signature: 0a\r\n"), "{sent}");
    }
}
