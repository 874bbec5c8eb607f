//! Listening sockets: what they are for, accepting connections, and stopping.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Stream;
use crate::config::Endpoint;

/// How long to wait after `accept` has failed for lack of file descriptors or memory. An immediate retry would fail too.
const BACK_OFF: Duration = Duration::from_millis(100);

/// What a listener is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// SMTP, in the clear until STARTTLS.
    Smtp,
    /// SMTP with TLS from the first octet (RFC 8314 section 3).
    Smtps,
    /// LMTP (RFC 2033), for a mail server in front.
    Lmtp,
    /// HTTP in the clear.
    Http,
    /// HTTP with TLS from the first octet.
    Https,
    /// Metrics and health alone.
    Metrics,
    /// HTTP of the administrator, by who may open a socket of this machine.
    Control,
}

/// Where a daemon listens for what, with the ports that it has got.
#[derive(Clone, Debug, Default)]
pub struct Listening(pub Vec<(Purpose, Endpoint)>);

impl Listening {
    /// The endpoints for one purpose.
    pub fn of(&self, purpose: Purpose) -> impl Iterator<Item = &Endpoint> {
        self.0.iter().filter(move |(of, _)| *of == purpose).map(|(_, endpoint)| endpoint)
    }

    /// The endpoints for one purpose, as they are written.
    pub fn shown(&self, purpose: Purpose) -> Vec<String> {
        self.of(purpose).map(ToString::to_string).collect()
    }

    /// The addresses on the network for one purpose.
    pub fn tcp(&self, purpose: Purpose) -> impl Iterator<Item = SocketAddr> {
        self.of(purpose).filter_map(Endpoint::tcp)
    }

    /// All addresses on the network.
    pub fn all_tcp(&self) -> Vec<SocketAddr> {
        self.0.iter().filter_map(|(_, endpoint)| endpoint.tcp()).collect()
    }
}

/// A listening socket of a runtime.
#[derive(Debug)]
pub enum Listener {
    /// On the network.
    Tcp(TcpListener),
    /// On this machine.
    Unix(UnixListener),
}

impl Listener {
    /// Accepts the next connection. A client of a Unix socket has no address.
    async fn accept(&self) -> io::Result<(Stream, Option<SocketAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Answers are written whole, so a delay to collect more octets would gain nothing.
                let _ = stream.set_nodelay(true);
                Ok((Stream::Tcp(stream), Some(peer)))
            }
            Self::Unix(listener) => Ok((Stream::Unix(listener.accept().await?.0), None)),
        }
    }

    /// Accepts connections until `stop` is cancelled, and runs what `begin` makes of each; `None`: it was refused.
    /// `purpose` is for the log.
    ///
    /// Then the socket closes at once. Returns when all connections have ended; those that have not after `drain_timeout`
    /// are closed.
    pub async fn serve<C>(
        self,
        purpose: Purpose,
        stop: CancellationToken,
        drain_timeout: Duration,
        begin: impl Fn(Stream, Option<SocketAddr>) -> Option<C>,
    ) where
        C: Future<Output = ()> + Send + 'static,
    {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = connections.join_next() => log_panic(purpose, ended),
                accepted = self.accept() => match accepted.map(|(stream, peer)| begin(stream, peer)) {
                    Ok(connection) => _ = connection.map(|connection| connections.spawn(connection)),
                    Err(error) => back_off(purpose, &error, &stop).await,
                },
            }
        }
        drop(self);
        let drained = async {
            while let Some(ended) = connections.join_next().await {
                log_panic(purpose, ended);
            }
        };
        if timeout(drain_timeout, drained).await.is_err() {
            tracing::warn!(
                ?purpose,
                connections = connections.len(),
                "connections did not end within the time for stopping; closed"
            );
            connections.shutdown().await;
        }
    }
}

/// Backs off, unless the error concerns one connection only.
async fn back_off(purpose: Purpose, error: &io::Error, stop: &CancellationToken) {
    let is_of_one_connection =
        matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted);
    if !is_of_one_connection {
        tracing::warn!(?purpose, %error, "connections cannot be accepted; retrying");
        let _ = timeout(BACK_OFF, stop.cancelled()).await;
    }
}

/// Logs that a connection's task has panicked; others go on. The panic's message is not logged because it may quote mail.
fn log_panic(purpose: Purpose, ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        tracing::error!(?purpose, "the task of a connection panicked, and the connection was closed");
    }
}
