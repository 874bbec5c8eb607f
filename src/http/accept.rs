//! From an accepted connection to its first request: a place, and TLS.

use std::net::SocketAddr;
use std::os::fd::AsFd;

use rustix::net::SendFlags;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::problem::{Code, Problem};
use super::server::Server;
use crate::admission::{Bound, Permit, Refused, What};

/// How a connection came, which its listener tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Transport {
    /// From a client by its address.
    Tcp(SocketAddr),
    /// Through the control socket. A user who can open it is the administrator.
    ControlSocket,
}

/// A connection that can be served.
pub(super) struct Accepted<S> {
    pub(super) stream: S,
    /// How it came.
    pub(super) transport: Transport,
    /// Its place. Strangers who hold all places keep nobody from the control socket, which needs none.
    pub(super) place: Option<Permit>,
}

impl<S: AsFd> Accepted<S> {
    /// Gives a connection its place. `None`: it has been refused.
    pub(super) fn new(stream: S, transport: Transport, is_tls: bool, server: &Server) -> Option<Self> {
        let place = match transport {
            Transport::ControlSocket => None,
            Transport::Tcp(peer) => match server.admission.admit(server.who(peer.ip()), What::HttpConnection, 1) {
                Ok(place) => Some(place),
                Err(refused) => {
                    refuse(&stream, refusal(refused), is_tls, server);
                    return None;
                }
            },
        };
        Some(Self { stream, transport, place })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Accepted<S> {
    /// Does the server's side of a TLS handshake in time. `None`: the connection must be closed.
    pub(super) async fn secure(self, tls: TlsAcceptor, server: &Server) -> Option<Accepted<TlsStream<S>>> {
        let Self { stream, transport, place } = self;
        let timeout = server.patience(server.limits.handshake_timeout);
        let error = match tokio::time::timeout(timeout, tls.accept(stream)).await {
            Ok(Ok(stream)) => return Some(Accepted { stream, transport, place }),
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
fn refuse(stream: &impl AsFd, problem: Problem, is_tls: bool, server: &Server) {
    tracing::debug!(code = ?problem.code(), "HTTP connection refused");
    if is_tls {
        return;
    }
    let _ = rustix::net::send(stream, &problem.into_octets(server.clock.now()), SendFlags::NOSIGNAL);
}
