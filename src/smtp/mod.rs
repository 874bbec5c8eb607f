//! The receiver of mail: SMTP and LMTP.
//!
//! A message is accepted (250) only after [`Store::receive`](crate::store::Store::receive) has returned `Ok`;
//! `session/transaction` is the only place that does so. The files, in the order in which a connection meets them:
//!
//! ```text
//! accept         from an accepted connection to a session
//! session        one method for each command                   backend   what a session asks the service
//!   io             the connection: lines, octets, replies, and every deadline
//!   line           octets to command lines        command   command lines to commands
//!   path           reverse-paths, forward-paths   auth      exchanges of AUTH
//!   data, body     octets after DATA and BDAT
//! reply          the replies                      reasons   why a session ended, which limit refused something
//! causes         what other rooms refuse, as replies
//! refusals       log lines of refusals            metrics   counters
//! ```

mod accept;
mod auth;
mod backend;
mod body;
mod causes;
mod command;
mod data;
mod io;
mod line;
mod metrics;
mod path;
mod reasons;
mod refusals;
mod reply;
mod session;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use backend::{Backend, Kept};
pub use data::Decoder;
pub use metrics::Counters;
pub use reasons::{End, Limit};
pub use refusals::Refusals;
pub use reply::Reply;
pub use session::{Context, Message, converse};

use accept::Incoming;

use crate::admission::Admission;
use crate::clock::Clock;
use crate::config::Config;
use crate::connections::{Listener, Purpose};
use crate::domains::Registry;
use crate::fault::Faults;
use crate::leases::Leases;
use crate::store::Storage;
use crate::tls::Keeper;

/// What a session speaks and offers. It follows from the listener of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What the listener is for.
    pub purpose: Purpose,
    /// STARTTLS is offered until the connection is encrypted.
    pub offers_tls: bool,
    /// AUTH is offered and accepts any credentials.
    pub offers_auth: bool,
}

impl Dialect {
    /// Whether the session speaks LMTP.
    pub const fn is_lmtp(self) -> bool {
        matches!(self.purpose, Purpose::Lmtp)
    }
}

/// What all sessions share.
pub struct Receiver {
    config: Arc<Config>,
    clock: Arc<dyn Clock>,
    store: Arc<dyn Storage>,
    admission: Arc<Admission>,
    domains: Arc<Registry>,
    leases: Arc<Leases>,
    tls: Option<Arc<Keeper>>,
    /// The rules for faults on purpose.
    pub faults: Faults,
    /// Counters since the start.
    pub counters: Counters,
    /// The log lines of refusals.
    refusals: Refusals,
}

impl Receiver {
    /// What receives mail into `store`, for `domains`, and asks `leases` where it goes.
    pub fn new(
        config: &Arc<Config>,
        clock: &Arc<dyn Clock>,
        (store, admission, domains, leases): (Arc<dyn Storage>, &Arc<Admission>, &Arc<Registry>, &Arc<Leases>),
        tls: Option<Arc<Keeper>>,
        faults: Faults,
    ) -> Self {
        Self {
            config: Arc::clone(config),
            clock: Arc::clone(clock),
            store,
            admission: Arc::clone(admission),
            domains: Arc::clone(domains),
            leases: Arc::clone(leases),
            tls,
            faults,
            counters: Counters::default(),
            refusals: Refusals::default(),
        }
    }
}

/// Receives mail on `listeners` until `stop` is cancelled. TLS handshakes take place on the runtime `handshakes`, since
/// their arithmetic would keep the sessions of others waiting.
///
/// At a stop the listeners close at once, and each session replies 421 and closes. A session whose message is at the store
/// sends the store's answer first. A session that has not ended after the drain timeout is closed without a reply.
pub async fn serve(
    listeners: Vec<(Purpose, Listener)>,
    receiver: Arc<Receiver>,
    handshakes: Handle,
    stop: CancellationToken,
) {
    let drain_timeout = receiver.config.constants.drain_timeout;
    // Each listener has a task of its own, so that a flood at one keeps nobody from the others.
    let mut serving = JoinSet::new();
    for (purpose, listener) in listeners {
        let (receiver, handshakes, stopping) = (Arc::clone(&receiver), handshakes.clone(), stop.clone());
        serving.spawn(listener.serve(purpose, stop.clone(), drain_timeout, move |stream, peer| {
            // A client of a Unix socket gets the address of loopback.
            let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.ip().to_canonical());
            let (receiver, handshakes) = (Arc::clone(&receiver), handshakes.clone());
            let incoming = Incoming { receiver, handshakes, purpose, stream, peer };
            let (place, stop) = (incoming.admit()?, stopping.clone());
            Some(async move { incoming.serve(place, &stop).await })
        }));
    }
    serving.join_all().await;
}
