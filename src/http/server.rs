//! Accepts HTTP connections within limits.
//!
//! axum's own server has no timer, so a request with an endless head would hold its connection for ever. This module
//! uses hyper's connections with a timer, and bounds everything that a peer decides.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::{Listener, ListenerExt};
use futures_util::future::join_all;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::accept::{Accepted, Transport};
use super::connection;
use crate::admission::{Admission, What, Who};
use crate::clock::Clock;
use crate::config::Config;

/// The longest timeout while connections are crowded.
pub(super) const CROWDED_MAX: Duration = Duration::from_secs(10);

/// The limits of HTTP connections.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// Networks of proxies that name the client of each request. Their connections count only among all.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
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
    /// The limits that follow from the settings.
    pub fn from_config(config: &Config) -> Self {
        let constants = &config.constants;
        Self {
            trusted_proxies: config.http.trusted_proxies.clone(),
            handshake_timeout: config.tls.handshake_timeout,
            head_timeout: constants.http_head_timeout,
            body_timeout: constants.http_body_timeout,
            write_timeout: constants.http_write_timeout,
            head_octets_max: 32 * 1024,
            fields_max: 100,
            drain_timeout: constants.drain_timeout,
        }
    }
}

/// A listener of the public interface.
pub enum HttpListener {
    /// In the clear.
    Tcp(TcpListener),
    /// With TLS from the first octet.
    Tls(TcpListener, TlsAcceptor),
}

/// Serves the public until `shutdown` is cancelled. Returns when all connections have ended, or after `drain_timeout`.
pub async fn serve_public(
    listeners: Vec<HttpListener>,
    router: Router,
    limits: HttpLimits,
    admission: Arc<Admission>,
    clock: Arc<dyn Clock>,
    shutdown: CancellationToken,
) {
    let server = Arc::new(Server { router, limits, admission, clock, shutdown });
    join_all(listeners.into_iter().map(|listener| {
        let server = Arc::clone(&server);
        async move {
            match listener {
                HttpListener::Tcp(listener) => server.accept(prompt(listener), None, Transport::Tcp).await,
                HttpListener::Tls(listener, tls) => server.accept(prompt(listener), Some(tls), Transport::Tcp).await,
            }
        }
    }))
    .await;
}

/// A listener whose connections send each answer at once.
fn prompt(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr = SocketAddr> {
    listener.tap_io(|stream| {
        // A failure costs only latency.
        let _ = stream.set_nodelay(true);
    })
}

/// Serves the control socket, like [`serve_public`]. A user who can open it is the administrator.
pub async fn serve_control(
    listener: UnixListener,
    router: Router,
    limits: HttpLimits,
    admission: Arc<Admission>,
    clock: Arc<dyn Clock>,
    shutdown: CancellationToken,
) {
    let server = Arc::new(Server { router, limits, admission, clock, shutdown });
    server.accept(listener, None, |_| Transport::ControlSocket).await;
}

/// What the connections of a service share.
pub(super) struct Server {
    pub(super) router: Router,
    pub(super) limits: HttpLimits,
    pub(super) admission: Arc<Admission>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shutdown: CancellationToken,
}

impl Server {
    /// Whose shares the connections of a peer count for.
    pub(super) fn who(&self, peer: IpAddr) -> Who {
        let address = peer.to_canonical();
        let is_proxy = self.limits.trusted_proxies.iter().any(|network| network.contains(&address));
        if is_proxy { Who::Server } else { self.admission.who(address) }
    }

    /// How long a peer may take for what may take `time` as long as there is no crowd.
    pub(super) fn patience(&self, time: Duration) -> Duration {
        let is_crowded = [What::HttpConnection, What::AnswerOctets].iter().any(|what| self.admission.is_crowded(*what));
        if is_crowded { time.min(CROWDED_MAX) } else { time }
    }

    /// Serves one connection. Before its first request a stop ends it.
    async fn serve<S>(self: &Arc<Self>, accepted: Accepted<S>, tls: Option<TlsAcceptor>)
    where
        S: AsFd + AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // Each step has a box of its own, so that a connection that waits for long is small.
        if let Some(tls) = tls {
            let secured = Box::pin(accepted.secure(tls, self));
            if let Some(Some(accepted)) = self.shutdown.run_until_cancelled(secured).await {
                Box::pin(connection::serve(accepted, self)).await;
            }
        } else {
            Box::pin(connection::serve(accepted, self)).await;
        }
    }

    /// Accepts and serves connections.
    async fn accept<L>(
        self: Arc<Self>,
        mut listener: L,
        tls: Option<TlsAcceptor>,
        transport: impl Fn(L::Addr) -> Transport,
    ) where
        L: Listener,
        L::Io: AsFd,
    {
        let mut connections = JoinSet::new();
        loop {
            let (stream, peer) = tokio::select! {
                () = self.shutdown.cancelled() => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Some(accepted) = Accepted::new(stream, transport(peer), tls.is_some(), &self) else { continue };
            let (server, tls) = (Arc::clone(&self), tls.clone());
            connections.spawn(async move { server.serve(accepted, tls).await });
        }
        drop(listener);
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.drain_timeout, drained).await.is_err() {
            tracing::warn!("closing HTTP connections that did not end within the time for stopping");
            connections.shutdown().await;
        }
    }
}
