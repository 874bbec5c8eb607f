//! Serves the requests of one connection.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Extensions, Request, Response};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
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
use super::exchange::Exchange;
use super::principal::Principal;
use super::server::Server;
use super::stream::Stream;
use crate::connections;

/// Serves a connection until it ends or is evicted.
pub(super) async fn serve<S>(accepted: Accepted<S>, server: &Server)
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
    tokio::select! {
        biased;
        () = berth.slot().evicted() => tracing::debug!("an HTTP connection was evicted"),
        () = aborted.cancelled() => tracing::debug!("an HTTP connection was closed for others who wait for its memory"),
        () = Box::pin(serve_requests(stream, handler, server)) => {}
    }
}

async fn serve_requests<S>(stream: TimeoutWriter<S>, handler: Handler, server: &Server)
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
        .serve_connection(stream, service_fn(|request| handler.answer(request)));
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

/// Waits until the requests in progress are the last ones: the service stops, or the connection has no slot any more.
async fn last_request(server: &Server, berth: &Berth) {
    tokio::select! {
        () = server.shutdown.cancelled() => {}
        () = berth.lost() => {}
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
    fn answer(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<AnswerBody<Body>>, Infallible>> + Send + use<> {
        let (in_progress, has_berth) = self.berth.request();
        let own = OwnConnection { in_progress: in_progress.clone(), stopping: self.stopping.clone() };
        let answering = self.recorder.requested(in_progress);
        let mut request = request.map(|body| Body::new(self.recorder.request(body)));
        request.extensions_mut().extend(self.extensions.clone());
        request.extensions_mut().insert(own);
        request.extensions_mut().insert(Exchange::new(&self.aborted, &self.recorder));
        let router = self.router.clone();
        async move {
            let answer = if has_berth { router.oneshot(request).await? } else { all_taken().into_response() };
            Ok(answer.map(|body| answering.body(body)))
        }
    }
}
