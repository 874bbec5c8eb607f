//! Serves the requests of one connection.

use axum::body::Body;
use axum::http::{Extensions, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_io_timeout::TimeoutWriter;
use tower::ServiceExt;

use super::accept::Accepted;
use super::activity::Recorder;
use super::body::BodyTimeout;
use super::edge::Peer;
use super::memory::Connection;
use super::principal::Principal;
use super::server::Server;
use super::stream::Stream;
use crate::connections;

/// Serves a connection until it ends or is evicted.
pub(super) async fn serve<S>(accepted: Accepted<S>, server: &Server)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let Accepted { stream, peer, slot, of_client: _held } = accepted;
    let recorder = Recorder::new(&slot, &server.clock);
    let mut extensions = Extensions::new();
    if let Some(peer) = peer {
        extensions.insert(Peer(peer));
    } else {
        extensions.insert(Principal::Administrator);
    }
    extensions.insert(BodyTimeout(server.limits.body_timeout));
    let Connection(out_of_room) = extensions.get_or_insert_default::<Connection>().clone();
    let service = service_fn(|request: Request<Incoming>| {
        recorder.requested();
        let mut request = request.map(|body| Body::new(recorder.request(body)));
        request.extensions_mut().extend(extensions.clone());
        let (answer, recorder) = (server.router.clone().oneshot(request), recorder.clone());
        async move { answer.await.map(|answer| answer.map(|body| recorder.answer(body))) }
    });
    // hyper limits only the time of a request's head. A client that never reads would hold its connection and its
    // answer for ever.
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(server.limits.write_timeout));
    let stream = TokioIo::new(Stream::new(Box::pin(stream), recorder.clone()));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.limits.head_timeout)
        .max_buf_size(server.limits.head_octets_max.max(8192))
        .max_headers(server.limits.fields_max)
        .serve_connection(stream, service);
    let serving = async {
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
            connections::close(&mut stream, &mut [0; 4096], true).await;
        }
    };
    tokio::select! {
        biased;
        () = slot.evicted() => tracing::debug!("an HTTP connection was evicted"),
        () = out_of_room.cancelled() => {}
        () = serving => {}
    }
}
