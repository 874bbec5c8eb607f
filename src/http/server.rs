//! Accepts and serves HTTP connections within limits.
//!
//! axum's own server has no timer, so a request with an endless head would hold its connection for ever. This module
//! uses hyper's connections with a timer, and bounds everything that a peer decides.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Extensions, Request};
use axum::serve::{Listener, ListenerExt};
use futures_util::future::join_all;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::body::BodyTimeout;
use super::edge::Peer;
use super::memory::Connection;
use super::principal::Principal;

/// The limits of HTTP connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// The most connections served at once by all listeners of a call. Further connections wait.
    pub connections_max: usize,
    /// How long an idle connection is kept, and how long the head of a request may take.
    pub head_timeout: Duration,
    /// How long a request's body may take.
    pub body_timeout: Duration,
    /// How long a peer may read nothing of an answer.
    pub write_timeout: Duration,
    /// The longest head that is always accepted, in octets; at least 8,192. A head of more than twice this length
    /// always gets 431.
    pub head_octets_max: usize,
    /// The most header fields of a request. A request with more gets 431.
    pub fields_max: usize,
    /// How long answers in progress may take once the service stops.
    pub drain_timeout: Duration,
}

impl HttpLimits {
    /// The default limits, with this number of connections.
    pub const fn new(connections_max: usize) -> Self {
        Self {
            connections_max,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            head_octets_max: 32 * 1024,
            fields_max: 100,
            drain_timeout: Duration::from_secs(8),
        }
    }
}

/// Serves the public over TCP until `shutdown` is cancelled. Returns when all connections have ended, or after
/// `drain_timeout`.
pub async fn serve_tcp(listeners: Vec<TcpListener>, router: Router, limits: HttpLimits, shutdown: CancellationToken) {
    let slots = Arc::new(Semaphore::new(limits.connections_max));
    let server = Server { router, limits, slots, shutdown };
    join_all(listeners.into_iter().map(|listener| {
        let listener = listener.tap_io(|stream| {
            // A failure costs only latency.
            let _ = stream.set_nodelay(true);
        });
        server.accept(listener, |peer, extensions| {
            extensions.insert(Peer(peer));
        })
    }))
    .await;
}

/// Serves the administrator over a Unix socket, like [`serve_tcp`]. A user who can open the socket is the administrator.
pub async fn serve_unix(listener: UnixListener, router: Router, limits: HttpLimits, shutdown: CancellationToken) {
    let slots = Arc::new(Semaphore::new(limits.connections_max));
    let server = Server { router, limits, slots, shutdown };
    let accept = server.accept(listener, |_, extensions| {
        extensions.insert(Principal::Administrator);
    });
    accept.await;
}

#[derive(Clone)]
struct Server {
    router: Router,
    limits: HttpLimits,
    slots: Arc<Semaphore>,
    shutdown: CancellationToken,
}

impl Server {
    /// Accepts and serves connections. `describe` adds the caller's [`Principal`] and address to each request.
    async fn accept<L>(&self, mut listener: L, describe: impl Fn(L::Addr, &mut Extensions))
    where
        L: Listener,
    {
        let mut connections = JoinSet::new();
        loop {
            let (stream, peer) = tokio::select! {
                () = self.shutdown.cancelled() => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            // An idle listener must not hold a slot that another could use, so the slot is taken after the connection.
            let slot = tokio::select! {
                () = self.shutdown.cancelled() => break,
                slot = Arc::clone(&self.slots).acquire_owned() => slot,
            };
            let mut extensions = Extensions::new();
            describe(peer, &mut extensions);
            extensions.insert(BodyTimeout(self.limits.body_timeout));
            let server = self.clone();
            connections.spawn(async move {
                server.serve(stream, extensions).await;
                drop(slot);
            });
        }
        drop(listener);
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.drain_timeout, drained).await.is_err() {
            tracing::warn!("closing HTTP connections that did not end within the time for stopping");
            connections.shutdown().await;
        }
    }

    /// Serves one connection to its end.
    async fn serve<S>(&self, stream: S, mut extensions: Extensions)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Connection(out_of_room) = extensions.get_or_insert_default::<Connection>().clone();
        let service = service_fn(|request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().extend(extensions.clone());
            self.router.clone().oneshot(request)
        });
        // hyper limits only the time of a request's head. A client that never reads would hold its connection and its
        // answer for ever.
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(self.limits.write_timeout));
        let stream = TokioIo::new(Box::pin(stream));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_timeout)
            .max_buf_size(self.limits.head_octets_max.max(8192))
            .max_headers(self.limits.fields_max)
            .serve_connection(stream, service);
        tokio::pin!(connection);
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = out_of_room.cancelled() => return,
            () = self.shutdown.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "an HTTP connection ended early");
        }
    }
}
