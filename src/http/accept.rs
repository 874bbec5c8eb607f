//! From an accepted connection to its first request: a place, and TLS.

use std::net::SocketAddr;

use super::problem::{Code, Problem};
use super::server::Server;
use crate::admission::{Bound, Permit, Refused, What};
use crate::connections::{Purpose, Stream};
use crate::tls::ServerTls;

/// Who may be at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// Whoever has this address.
    Client(SocketAddr),
    /// Who can open the control socket, and so is the administrator.
    Control,
}

/// A connection that can be served.
pub(super) struct Accepted {
    pub(super) stream: Stream,
    pub(super) from: From,
    /// Its place. Strangers who hold all places keep nobody from the control socket, which needs none.
    pub(super) place: Option<Permit>,
}

impl Accepted {
    /// Gives a connection its place. `None`: it has been refused.
    pub(super) fn new(stream: Stream, peer: Option<SocketAddr>, server: &Server) -> Option<Self> {
        let Some(peer) = peer else {
            // Without an address there are no limits, so nobody comes in that way elsewhere.
            return (server.purpose == Purpose::Control).then_some(Self { stream, from: From::Control, place: None });
        };
        match server.service.admission.admit(server.who(peer.ip()), What::HttpConnection, 1) {
            Ok(place) => Some(Self { stream, from: From::Client(peer), place: Some(place) }),
            Err(refused) => {
                refuse(&stream, refusal(refused), server);
                None
            }
        }
    }

    /// Does the server's side of a TLS handshake in time. `None`: the connection must be closed.
    pub(super) async fn secure(self, tls: ServerTls, server: &Server) -> Option<Self> {
        let Self { stream, from, place } = self;
        let timeout = server.patience(server.service.config.tls.handshake_timeout);
        let error = match tokio::time::timeout(timeout, stream.secure(tls)).await {
            Ok(Ok((stream, _))) => return Some(Self { stream, from, place }),
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => "it took too long".to_owned(),
        };
        tracing::debug!(error, "an HTTP connection ended before its first request");
        None
    }
}

/// The refusal of a connection for which there is no place.
fn refusal(refused: Refused) -> Problem {
    let (code, detail) = match refused.by {
        Bound::Client => (
            Code::TooManyConnectionsForClient,
            "this client has too many connections; close some, or use one for several requests",
        ),
        Bound::Network => (
            Code::TooManyConnectionsForClient,
            "the clients of this network (IPv4 /24, IPv6 /48) have too many connections; close some",
        ),
        Bound::All => (Code::TooManyConnections, "all connections of the service are taken; try again"),
    };
    Problem::new(code, detail).with_retry_after(1)
}

/// Answers without waiting. The socket is new, so its buffer has room. A client that still sends may lose the answer.
/// Before a TLS handshake an answer in the clear would mean nothing, so none is sent.
fn refuse(stream: &Stream, problem: Problem, server: &Server) {
    tracing::debug!(code = ?problem.code(), "HTTP connection refused");
    if server.tls.is_none() {
        let _ = stream.try_write(&problem.into_octets(server.service.clock.now()));
    }
}
