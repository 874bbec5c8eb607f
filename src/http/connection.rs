//! Serves the requests of one connection.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Extensions, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tower::ServiceExt;

use super::accept::{Accepted, From};
use super::activity::{AnswerBody, Recorder};
use super::body::BodyTimeout;
use super::edge::Peer;
use super::principal::Principal;
use super::server::Server;
use super::stream::Stream;
use super::waiting::Stopping;
use crate::connections;

/// The longest head that is always accepted, in octets; hyper needs 8,192. One of more than twice this length always gets
/// 431.
const HEAD_OCTETS_MAX: usize = 32 * 1024;
/// The most header fields of a request. A request with more gets 431.
const FIELDS_MAX: usize = 100;

/// Serves a connection until it ends.
pub(super) async fn serve(accepted: Accepted, server: &Arc<Server>) {
    let Accepted { stream, from, place: _place } = accepted;
    let constants = &server.service.config.constants;
    let recorder = Recorder::default();
    let mut extensions = Extensions::new();
    match from {
        From::Client(peer) => _ = extensions.insert(Peer(peer)),
        From::Control => _ = extensions.insert(Principal::Administrator),
    }
    extensions.insert(Stopping(server.stop.clone()));
    let stream = TokioIo::new(Stream::new(stream, recorder.clone(), Arc::clone(server)));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.patience(constants.http_head_timeout))
        .max_buf_size(HEAD_OCTETS_MAX)
        .max_headers(FIELDS_MAX)
        .serve_connection(stream, service_fn(|request| answer(request, &extensions, &recorder, server)));
    let result = tokio::select! {
        result = &mut connection => result,
        () = server.stop.cancelled() => {
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
    let timeout = server.patience(server.service.config.constants.http_body_timeout);
    request.extensions_mut().insert(BodyTimeout(timeout));
    let router = server.router.clone();
    async move { Ok(router.oneshot(request).await?.map(|body| answering.body(body))) }
}
