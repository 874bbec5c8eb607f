//! Serves the requests of one connection.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Extensions, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tower::ServiceExt;

use super::accept::{Accepted, Transport};
use super::activity::{AnswerBody, Recorder};
use super::body::BodyTimeout;
use super::edge::Peer;
use super::principal::Principal;
use super::server::Server;
use super::stream::Stream;
use super::waiting::Stopping;
use crate::connections;

/// Serves a connection until it ends.
pub(super) async fn serve<S>(accepted: Accepted<S>, server: &Arc<Server>)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let Accepted { stream, transport, place: _place } = accepted;
    let recorder = Recorder::default();
    let mut extensions = Extensions::new();
    match transport {
        Transport::Tcp(peer) => {
            extensions.insert(Peer(peer));
        }
        Transport::ControlSocket => {
            extensions.insert(Principal::Administrator);
        }
    }
    extensions.insert(Stopping(server.shutdown.clone()));
    let stream = TokioIo::new(Stream::new(Box::pin(stream), recorder.clone(), Arc::clone(server)));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.patience(server.limits.head_timeout))
        .max_buf_size(server.limits.head_octets_max.max(8192))
        .max_headers(server.limits.fields_max)
        .serve_connection(stream, service_fn(|request| answer(request, &extensions, &recorder, server)));
    let result = tokio::select! {
        result = &mut connection => result,
        () = server.shutdown.cancelled() => {
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

/// Answers a request.
fn answer(
    request: Request<Incoming>,
    extensions: &Extensions,
    recorder: &Recorder,
    server: &Server,
) -> impl Future<Output = Result<Response<AnswerBody<Body>>, Infallible>> + Send + use<> {
    let answering = recorder.requested();
    let mut request = request.map(Body::new);
    request.extensions_mut().extend(extensions.clone());
    request.extensions_mut().insert(BodyTimeout(server.patience(server.limits.body_timeout)));
    let router = server.router.clone();
    async move { Ok(router.oneshot(request).await?.map(|body| answering.body(body))) }
}
