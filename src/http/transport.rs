//! Serves HTTP/1.1 over connections, within limits.
//!
//! axum's own server has no timer, so a request with an endless head would hold its connection for ever. This module
//! uses hyper's connections with a timer, and bounds everything that a peer decides. hyper itself refuses a head that it
//! cannot read, with 400, 414 or 431 and no body.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::body::BodyTimeout;
use super::caller::Caller;
use super::forwarded;
use super::pace::{Paced, patience};
use super::problem::Problem;
use super::rate_limit;
use super::routers;
use crate::admission::{Permit, What, Who};
use crate::connections::{self, Listener, Purpose, Stream};
use crate::service::Service;
use crate::tls::{Keeper, ServerTls};

/// The longest head that is always accepted, in octets; hyper needs 8,192. One of more than twice this length always gets
/// 431.
const HEAD_OCTETS_MAX: usize = 32 * 1024;
/// The most header fields of a request. A request with more gets 431.
const FIELDS_MAX: usize = 100;

/// Serves the interface on `listeners` until `stop` is cancelled, and metrics and health alone on those for them.
///
/// A user who can open the control socket is the administrator. Returns when all connections have ended, or after the
/// drain timeout.
pub(crate) async fn serve(listeners: Vec<(Purpose, Listener)>, service: Arc<Service>, stop: CancellationToken) {
    let (interface, metrics) = routers(Arc::clone(&service), stop.clone());
    let tls = service.tls.as_deref().map(Keeper::http_config);
    let drain_timeout = service.config.constants.drain_timeout;
    // Each listener has a task of its own, so that a flood at one keeps nobody from the others.
    let mut serving = JoinSet::new();
    // Without a certificate nobody answers in the clear where TLS is due.
    let is_served = |purpose: &Purpose| *purpose != Purpose::Https || tls.is_some();
    for (purpose, listener) in listeners.into_iter().filter(|(purpose, _)| is_served(purpose)) {
        let router = if purpose == Purpose::Metrics { &metrics } else { &interface };
        let server = Arc::new(Server {
            purpose,
            router: router.clone(),
            service: Arc::clone(&service),
            tls: tls.clone().filter(|_| purpose == Purpose::Https),
            stop: stop.clone(),
        });
        serving.spawn(listener.serve(purpose, stop.clone(), drain_timeout, move |stream, peer| {
            let place = server.admit(&stream, peer)?;
            Some(Arc::clone(&server).serve(stream, peer, place))
        }));
    }
    serving.join_all().await;
}

/// What the connections of a listener share.
struct Server {
    purpose: Purpose,
    router: Router,
    service: Arc<Service>,
    /// TLS from the first octet.
    tls: Option<ServerTls>,
    stop: CancellationToken,
}

/// The place of a connection. Strangers who hold all places keep nobody from the control socket, which needs none.
type Place = Option<Permit>;

impl Server {
    /// Gives a connection its place. `None`: it has been refused.
    fn admit(&self, stream: &Stream, peer: Option<SocketAddr>) -> Option<Place> {
        // Without an address there are no limits, so nobody comes in that way but at the control socket.
        let Some(peer) = peer else { return (self.purpose == Purpose::Control).then_some(None) };
        // The connections of proxies, which name the client of each request, count only among all.
        let is_proxy = forwarded::is_trusted(&self.service.config.http.trusted_proxies, peer.ip());
        let who = if is_proxy { Who::Server } else { self.service.admission.who(peer.ip()) };
        match self.service.admission.admit(who, What::HttpConnection, 1) {
            Ok(place) => Some(Some(place)),
            Err(refused) => {
                self.refuse(stream, rate_limit::no_place(refused, "connections", 1));
                None
            }
        }
    }

    /// Answers without waiting. The socket is new, so its buffer has room. A client that still sends may lose the answer.
    /// Before a TLS handshake an answer in the clear would mean nothing, so none is sent.
    fn refuse(&self, stream: &Stream, problem: Problem) {
        tracing::debug!(code = ?problem.code(), "HTTP connection refused");
        if self.tls.is_none() {
            let _ = stream.try_write(&problem.into_octets(self.service.clock.now()));
        }
    }

    /// Serves one connection until it ends. A stop ends it before its first request.
    async fn serve(self: Arc<Self>, mut stream: Stream, peer: Option<SocketAddr>, _place: Place) {
        // Each step has a box of its own, so that a connection that waits for long is small.
        if let Some(tls) = &self.tls {
            let secured = Box::pin(self.secure(stream, Arc::clone(tls)));
            let Some(Some(secured)) = self.stop.run_until_cancelled(secured).await else { return };
            stream = secured;
        }
        Box::pin(self.answer_all(stream, peer)).await;
    }

    /// Does the server's side of a TLS handshake in time. `None`: the connection must be closed.
    async fn secure(&self, stream: Stream, tls: ServerTls) -> Option<Stream> {
        let timeout = patience(&self.service, self.service.config.tls.handshake_timeout);
        let error = match tokio::time::timeout(timeout, stream.secure(tls)).await {
            Ok(Ok((stream, _))) => return Some(stream),
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => "it took too long".to_owned(),
        };
        tracing::debug!(error, "an HTTP connection ended before its first request");
        None
    }

    /// Answers the requests of a connection. A stop lets the one at hand be finished.
    async fn answer_all(self: &Arc<Self>, stream: Stream, peer: Option<SocketAddr>) {
        let public = |peer: SocketAddr| Caller::public(peer.ip(), &self.service.admission);
        let caller = peer.map_or_else(Caller::administrator, public);
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience(&self.service, self.service.config.constants.http_head_timeout))
            .max_buf_size(HEAD_OCTETS_MAX)
            .max_headers(FIELDS_MAX)
            .serve_connection(
                TokioIo::new(Paced::new(stream, Arc::clone(&self.service))),
                service_fn(|request| self.answer(request, &caller)),
            );
        let result = tokio::select! {
            result = &mut connection => result,
            () = self.stop.cancelled() => {
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
        &self,
        request: Request<Incoming>,
        caller: &Caller,
    ) -> impl Future<Output = Result<Response, Infallible>> + Send + use<> {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(caller.clone());
        let timeout = patience(&self.service, self.service.config.constants.http_body_timeout);
        request.extensions_mut().insert(BodyTimeout(timeout));
        self.router.clone().oneshot(request)
    }
}
