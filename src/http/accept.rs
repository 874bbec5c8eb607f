//! From an accepted connection to its first request: limits of the client, and a slot.
//!
//! A client that exceeds its own limit is refused before another connection is evicted for it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::SendFlags;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::activity::Activity;
use super::problem::{Code, Problem};
use super::server::Server;
use crate::connections::{self, ClientConnection};
use crate::model::Client;

/// How long a connection waits for a slot, and how often it tries to get one.
const SLOT_WITHIN: Duration = Duration::from_secs(2);
const RETRY_EVERY: Duration = Duration::from_millis(100);

type SlotRequest = connections::SlotRequest<Arc<Activity>>;
type WaitingForSlot = connections::WaitingForSlot<Arc<Activity>>;
pub(super) type Slot = connections::Slot<Arc<Activity>>;

/// How a connection came, which its listener tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Transport {
    /// From a client by its address.
    Tcp(SocketAddr),
    /// Through the control socket. A user who can open it is the administrator.
    ControlSocket,
}

impl Transport {
    const fn address(self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(peer) => Some(peer),
            Self::ControlSocket => None,
        }
    }
}

/// A connection that has just been accepted.
pub(super) struct Incoming<S> {
    stream: S,
    transport: Transport,
    of_client: ClientConnection,
    slot: SlotRequest,
    tls: Option<TlsAcceptor>,
}

/// A connection that can be served.
pub(super) struct Accepted<S> {
    pub(super) stream: S,
    /// How it came.
    pub(super) transport: Transport,
    /// Its slot.
    pub(super) slot: Slot,
    /// It counts for its client.
    pub(super) of_client: ClientConnection,
}

impl<S: AsFd> Incoming<S> {
    /// Applies the limits that need no waiting. A peer at the control socket has no limits of its own. `None`: the connection has
    /// been refused.
    pub(super) fn accept(stream: S, transport: Transport, tls: Option<TlsAcceptor>, server: &Server) -> Option<Self> {
        let peer = transport.address();
        let of_client = match peer {
            None => ClientConnection::unlimited(),
            Some(peer) => connect(&stream, peer.ip(), tls.is_some(), server)?,
        };
        let client = peer.map(|peer| Client::of(peer.ip()));
        let Some(slot) = server.slots.request(client, server.clock.boot()) else {
            refuse(&stream, all_taken(), tls.is_some(), server);
            return None;
        };
        if let (SlotRequest::Granted(slot), Some(client)) = (&slot, client) {
            slot.identify(client);
        }
        Some(Self { stream, transport, of_client, slot, tls })
    }

    /// Waits for a slot. `None`: the connection must be closed.
    pub(super) async fn prepare(self, server: &Server) -> Option<Accepted<S>> {
        let Self { stream, transport, of_client, slot, tls } = self;
        let client = transport.address().map(|peer| Client::of(peer.ip()));
        let slot = match slot {
            SlotRequest::Granted(slot) => slot,
            SlotRequest::Waiting(waiting) => {
                let Ok(slot) = tokio::time::timeout(SLOT_WITHIN, evict(&waiting, client, server)).await else {
                    refuse(&stream, all_taken(), tls.is_some(), server);
                    return None;
                };
                if let Some(client) = client {
                    slot.identify(client);
                }
                slot
            }
        };
        Some(Accepted { stream, transport, slot, of_client })
    }

    /// TLS, where the connection must begin with a handshake.
    pub(super) fn tls(&self) -> Option<TlsAcceptor> {
        self.tls.clone()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Accepted<S> {
    /// Does the server's side of a TLS handshake in time. `None`: the connection must be closed.
    pub(super) async fn secure(self, tls: TlsAcceptor, server: &Server) -> Option<Accepted<TlsStream<S>>> {
        let Self { stream, transport, slot, of_client } = self;
        let handshake = tls.accept(stream);
        let result = tokio::select! {
            biased;
            () = slot.evicted() => return None,
            result = tokio::time::timeout(server.limits.handshake_timeout, handshake) => result,
        };
        let error = match result {
            Ok(Ok(stream)) => return Some(Accepted { stream, transport, slot, of_client }),
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => "it took too long".to_owned(),
        };
        tracing::debug!(error, "an HTTP connection ended before its first request");
        None
    }
}

/// Evicts a connection as soon as one may be evicted. A busy one may be idle in a moment.
async fn evict(waiting: &WaitingForSlot, client: Option<Client>, server: &Server) -> Slot {
    loop {
        match waiting.evict(client, &*server.clock).await {
            Some(slot) => return slot,
            None => tokio::time::sleep(RETRY_EVERY).await,
        }
    }
}

/// Counts a connection for its client, or refuses it.
fn connect(stream: &impl AsFd, address: IpAddr, is_tls: bool, server: &Server) -> Option<ClientConnection> {
    let connected = server.clients.connect(address, server.clock.boot());
    if connected.is_err() {
        let detail = "this client has too many connections; close some, or use one for several requests";
        refuse(stream, Problem::new(Code::TooManyConnectionsForClient, detail).with_retry_after(1), is_tls, server);
    }
    connected.ok()
}

/// The refusal of a connection or request for which there is no slot.
pub(super) fn all_taken() -> Problem {
    let detail = "all connections of the service are taken; try again";
    Problem::new(Code::TooManyConnections, detail).with_retry_after(1)
}

/// Answers without waiting. The socket is new, so its buffer has room. A client that still sends may lose the answer.
/// Before a TLS handshake an answer in the clear would mean nothing, so none is sent.
fn refuse(stream: &impl AsFd, problem: Problem, is_tls: bool, server: &Server) {
    tracing::debug!(code = ?problem.code(), "HTTP connection refused");
    if is_tls {
        return;
    }
    let _ = rustix::net::send(stream, &problem.into_octets(server.clock.now()), SendFlags::NOSIGNAL);
}
