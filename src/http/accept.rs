//! From an accepted connection to its first request: a place, and TLS.

use std::net::SocketAddr;

use super::problem::{Code, Problem};
use super::server::Server;
use crate::admission::{Bound, Permit, Refused, What};
use crate::connections::Stream;
use crate::tls::ServerTls;

/// A connection that can be served.
pub(super) struct Accepted {
    pub(super) stream: Stream,
    /// The client's address. `None`: it came through the control socket, and who can open that is the administrator.
    pub(super) peer: Option<SocketAddr>,
    /// Its place. Strangers who hold all places keep nobody from the control socket, which needs none.
    pub(super) place: Option<Permit>,
}

impl Accepted {
    /// Gives a connection its place. `None`: it has been refused.
    pub(super) fn new(stream: Stream, peer: Option<SocketAddr>, server: &Server) -> Option<Self> {
        let admit = |peer: SocketAddr| server.service.admission.admit(server.who(peer.ip()), What::HttpConnection, 1);
        let place = peer.map(admit).transpose().map_err(|refused| refuse(&stream, refusal(refused), server)).ok()?;
        Some(Self { stream, peer, place })
    }

    /// Does the server's side of a TLS handshake in time. `None`: the connection must be closed.
    pub(super) async fn secure(self, tls: ServerTls, server: &Server) -> Option<Self> {
        let Self { stream, peer, place } = self;
        let timeout = server.patience(server.service.config.tls.handshake_timeout);
        let error = match tokio::time::timeout(timeout, stream.secure(tls)).await {
            Ok(Ok((stream, _))) => return Some(Self { stream, peer, place }),
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
