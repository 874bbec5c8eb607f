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

/// Fields of a response's header section.
const HEADERS_MAX: usize = 100;

type Driver = http1::Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>;

/// A connection on which one request at a time is made.
pub(super) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    driver: Driver,
    /// The driver has ended and must not be polled again.
    is_over: bool,
    address: SocketAddr,
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
        let (requests, driver) = http1::Builder::new().max_headers(HEADERS_MAX).handshake(TokioIo::new(stream)).await?;
        Ok(Box::new(Self { requests, driver, is_over: false, address }))
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
        let answered = self.requests.try_send_request(request);
        let answered = self.drive(answered).await;
        answered.map_err(|mut failed| {
            let unsent = failed.take_message();
            Unanswered { error: failed.into_error(), unsent }
        })
    }

    /// The next piece of an answer's body; `None` at its end.
    pub(super) async fn next_piece(&mut self, body: &mut Incoming) -> hyper::Result<Option<Bytes>> {
        if body.is_end_stream() {
            return Ok(None);
        }
        let frame = self.drive(body.frame()).await.transpose()?;
        // Trailers are the end.
        Ok(frame.and_then(|frame| frame.into_data().ok()))
    }

    /// Waits for `awaited`, which waits for this connection.
    async fn drive<T>(&mut self, awaited: impl Future<Output = T>) -> T {
        let mut awaited = pin!(awaited);
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
