//! Serves HTTP connections within limits.
//!
//! axum's own server has no timer, so a request with an endless head would hold its connection for ever. This module
//! uses hyper's connections with a timer, and bounds everything that a peer decides.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::accept::Accepted;
use super::{connection, routers};
use crate::admission::{What, Who};
use crate::connections::{Listener, Purpose};
use crate::service::Service;
use crate::tls::{Keeper, ServerTls};

/// The longest timeout while connections are crowded.
pub(super) const CROWDED_MAX: Duration = Duration::from_secs(10);

/// Serves the interface on `listeners` until `stop` is cancelled, and metrics and health alone on those for them.
///
/// A user who can open the control socket is the administrator. Returns when all connections have ended, or after the
/// drain timeout.
pub async fn serve(listeners: Vec<(Purpose, Listener)>, service: Arc<Service>, stop: CancellationToken) {
    let (interface, metrics) = routers(Arc::clone(&service));
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
            let accepted = Accepted::new(stream, peer, &server)?;
            let server = Arc::clone(&server);
            Some(async move { server.serve(accepted).await })
        }));
    }
    serving.join_all().await;
}

/// What the connections of a listener share.
pub(super) struct Server {
    pub(super) purpose: Purpose,
    pub(super) router: Router,
    pub(super) service: Arc<Service>,
    /// TLS from the first octet.
    pub(super) tls: Option<ServerTls>,
    pub(super) stop: CancellationToken,
}

impl Server {
    /// Whose shares the connections of a peer count for. Those of proxies that name the client of each request count only
    /// among all.
    pub(super) fn who(&self, peer: IpAddr) -> Who {
        let address = peer.to_canonical();
        let is_proxy = self.service.config.http.trusted_proxies.iter().any(|network| network.contains(&address));
        if is_proxy { Who::Server } else { self.service.admission.who(address) }
    }

    /// How long a peer may take for what may take `time` as long as there is no crowd.
    pub(super) fn patience(&self, time: Duration) -> Duration {
        let admission = &self.service.admission;
        let is_crowded = [What::HttpConnection, What::AnswerOctets].iter().any(|what| admission.is_crowded(*what));
        if is_crowded { time.min(CROWDED_MAX) } else { time }
    }

    /// Serves one connection. Before its first request a stop ends it.
    async fn serve(self: Arc<Self>, mut accepted: Accepted) {
        // Each step has a box of its own, so that a connection that waits for long is small.
        if let Some(tls) = &self.tls {
            let secured = Box::pin(accepted.secure(Arc::clone(tls), &self));
            let Some(Some(secured)) = self.stop.run_until_cancelled(secured).await else { return };
            accepted = secured;
        }
        Box::pin(connection::serve(accepted, &self)).await;
    }
}
