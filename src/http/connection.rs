//! Serves the requests of one connection.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Extensions, Request, Response};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::accept::{Accepted, Transport, all_taken};
use super::activity::{AnswerBody, Recorder};
use super::berth::{Berth, OwnConnection};
use super::body::BodyTimeout;
use super::edge::Peer;
use super::exchange::{Exchange, Streams};
use super::head;
use super::principal::Principal;
use super::server::Server;
use super::stream::Stream;
use super::version::Version;
use crate::connections;

/// The most requests at once of one connection of HTTP/2.
const STREAMS_MAX: u32 = 32;
/// What a client may send before the server has read it, in octets: of one request, and of all of a connection.
const WINDOW_OCTETS: u32 = 64 * 1024;
/// What is buffered of each answer over HTTP/2, in octets.
const SEND_BUFFER_OCTETS: usize = 64 * 1024;
/// The most octets of an answer that HTTP/2 takes at once. It takes more when the client has room, so that what the
/// client reads can be seen.
const PIECE_OCTETS_MAX: usize = 16 * 1024;
/// How often a peer must show that it is still there, and how long it may take to.
const PING_EVERY: Duration = Duration::from_secs(20);
const PONG_WITHIN: Duration = Duration::from_secs(10);

/// Serves a connection until it ends or is evicted.
pub(super) async fn serve<S>(accepted: Accepted<S>, version: Version, server: &Server)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let Accepted { stream, transport, slot, of_client } = accepted;
    let recorder = Recorder::new(&slot, &server.clock);
    let berth = Berth::new(slot, of_client);
    let mut extensions = Extensions::new();
    match transport {
        Transport::Tcp(peer) => {
            extensions.insert(Peer(peer));
        }
        Transport::ControlSocket => {
            extensions.insert(Principal::Administrator);
        }
    }
    extensions.insert(BodyTimeout(server.limits.body_timeout));
    let aborted = CancellationToken::new();
    let router = server.router.clone();
    let stopping = server.shutdown.clone();
    let handler =
        Handler { router, recorder, aborted: aborted.clone(), berth: Arc::clone(&berth), stopping, extensions };
    // hyper limits only the time of a request's head. A client that never reads would hold its connection and its
    // answer for ever.
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(server.limits.write_timeout));
    let serving = async {
        match version {
            Version::Http1 => Box::pin(serve_http1(stream, handler, server)).await,
            Version::Http2 => Box::pin(serve_http2(stream, handler, server)).await,
        }
    };
    tokio::select! {
        biased;
        () = berth.slot().evicted() => tracing::debug!("an HTTP connection was evicted"),
        () = aborted.cancelled() => tracing::debug!("an HTTP connection was closed for others who wait for its memory"),
        () = serving => {}
    }
}

async fn serve_http1<S>(stream: TimeoutWriter<S>, handler: Handler, server: &Server)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let stream = TokioIo::new(Stream::new(Box::pin(stream), handler.recorder.clone()));
    let berth = Arc::clone(&handler.berth);
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.limits.head_timeout)
        .max_buf_size(server.limits.head_octets_max.max(8192))
        .max_headers(server.limits.fields_max)
        .serve_connection(stream, service_fn(|request| handler.answer(request, usize::MAX)));
    let result = tokio::select! {
        result = &mut connection => result,
        () = last_request(server, &berth) => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    let Err(error) = result else { return };
    tracing::debug!(%error, "an HTTP connection ended early");
    if error.is_parse() {
        let mut stream = connection.into_parts().io.into_inner();
        connections::close(&mut stream, &mut vec![0; 4096], true).await;
    }
}

/// hyper knows neither idle connections of HTTP/2 nor clients that open no window for their answers. Here an idle
/// connection is asked to end, and one whose peer keeps the server waiting for too long is closed.
async fn serve_http2<S>(stream: TimeoutWriter<S>, handler: Handler, server: &Server)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (recorder, berth) = (handler.recorder.clone(), Arc::clone(&handler.berth));
    let (idle_max, stalled_max) = (server.limits.head_timeout, server.limits.write_timeout);
    let connection = http2::Builder::new(Streams)
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(head::ACCEPTED_OCTETS_MAX)
        .initial_stream_window_size(WINDOW_OCTETS)
        .initial_connection_window_size(WINDOW_OCTETS)
        .max_send_buf_size(SEND_BUFFER_OCTETS)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PONG_WITHIN)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
            service_fn(move |request| handler.answer(request, PIECE_OCTETS_MAX)),
        );
    let mut connection = pin!(connection);
    tokio::select! {
        result = &mut connection => return ended(result),
        () = last_request(server, &berth) => {}
        () = recorder.kept_waiting(idle_max, stalled_max) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        result = &mut connection => ended(result),
        () = recorder.kept_waiting(stalled_max, stalled_max) => tracing::debug!("an HTTP connection stalled"),
    }
}

/// Waits until the requests in progress are the last ones: the service stops, or the connection has no slot any more.
async fn last_request(server: &Server, berth: &Berth) {
    tokio::select! {
        () = server.shutdown.cancelled() => {}
        () = berth.lost() => {}
    }
}

fn ended(result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "an HTTP connection ended early");
    }
}

/// Answers the requests of one connection.
struct Handler {
    router: Router,
    recorder: Recorder,
    /// Ends the connection.
    aborted: CancellationToken,
    berth: Arc<Berth>,
    /// Cancelled when the service stops.
    stopping: CancellationToken,
    extensions: Extensions,
}

impl Handler {
    /// Answers a request, with a body in pieces of so many octets at most.
    fn answer(
        &self,
        request: Request<Incoming>,
        piece_octets_max: usize,
    ) -> impl Future<Output = Result<Response<AnswerBody<Body>>, Infallible>> + Send + use<> {
        let (in_progress, has_berth) = self.berth.request();
        let own = OwnConnection { in_progress: in_progress.clone(), stopping: self.stopping.clone() };
        let answering = self.recorder.requested(piece_octets_max, in_progress);
        let mut request = request.map(|body| Body::new(self.recorder.request(body)));
        request.extensions_mut().extend(self.extensions.clone());
        request.extensions_mut().insert(own);
        let (router, recorder, aborted) = (self.router.clone(), self.recorder.clone(), self.aborted.clone());
        async move {
            // This runs in the task of the stream, over HTTP/2.
            request.extensions_mut().insert(Exchange::new(&aborted, &recorder));
            let answer = if has_berth { router.oneshot(request).await? } else { all_taken().into_response() };
            Ok(answer.map(|body| answering.body(body)))
        }
    }
}
