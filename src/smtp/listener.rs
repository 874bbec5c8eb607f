//! The listening sockets: accepting connections, and stopping.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::accept::Incoming;
use super::stream::Stream;
use super::{Receiver, Service};

/// How long to wait after `accept` has failed for lack of file descriptors or memory. An immediate retry would fail too.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Receives mail on `listeners` until `shutdown` is cancelled.
///
/// Then the listeners close at once, and each session replies 421 and closes. A session whose message is at the store
/// sends the store's answer first. Returns when all sessions have ended. A session that has not ended after the drain timeout
/// is closed without a reply.
pub async fn serve(listeners: Vec<ServiceListener>, receiver: Arc<Receiver>, shutdown: CancellationToken) {
    join_all(listeners.into_iter().map(async |ServiceListener { listener, service }| match Socket::of(listener) {
        Ok(bound) => Server { service, receiver: receiver.clone(), shutdown: shutdown.clone() }.serve(bound).await,
        Err(error) => {
            tracing::error!(%error, "the system takes no more sockets, so no mail can be received; the daemon stops");
            shutdown.cancel();
        }
    }))
    .await;
}

/// A listening socket and its service.
#[derive(Debug)]
pub struct ServiceListener {
    /// The socket.
    pub listener: Listener,
    /// What it is for.
    pub service: Service,
}

/// A listening socket that does not block, not yet on a runtime.
#[derive(Debug)]
pub enum Listener {
    /// On the network.
    Tcp(std::net::TcpListener),
    /// On this machine.
    Unix(std::os::unix::net::UnixListener),
}

/// A listening socket of the runtime that serves it.
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Socket {
    fn of(listener: Listener) -> io::Result<Self> {
        Ok(match listener {
            Listener::Tcp(listener) => Self::Tcp(TcpListener::from_std(listener)?),
            Listener::Unix(listener) => Self::Unix(UnixListener::from_std(listener)?),
        })
    }

    /// Accepts the next connection. A client of a Unix socket has no address and gets that of loopback.
    async fn accept(&self) -> io::Result<(Stream, IpAddr)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Replies are written whole, so a delay to collect more octets would gain nothing.
                let _ = stream.set_nodelay(true);
                Ok((Stream::Tcp(stream), peer.ip().to_canonical()))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream), IpAddr::V4(Ipv4Addr::LOCALHOST)))
            }
        }
    }
}

/// Serves the connections of one listener.
struct Server {
    service: Service,
    receiver: Arc<Receiver>,
    shutdown: CancellationToken,
}

impl Server {
    async fn serve(self, listener: Socket) {
        let mut sessions = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                Some(ended) = sessions.join_next() => log_panic(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.spawn_session(stream, peer, &mut sessions),
                    Err(error) => self.back_off(&error).await,
                },
            }
        }
        drop(listener);
        let drained = async {
            while let Some(ended) = sessions.join_next().await {
                log_panic(ended);
            }
        };
        if timeout(self.receiver.config.constants.drain_timeout, drained).await.is_err() {
            tracing::warn!(
                sessions = sessions.len(),
                "smtp sessions were still running at the end of the stop and were closed without a reply"
            );
            sessions.shutdown().await;
        }
    }

    fn spawn_session(&self, stream: Stream, peer: IpAddr, sessions: &mut JoinSet<()>) {
        let incoming = Incoming { receiver: self.receiver.clone(), service: self.service, stream, peer };
        if let Some(place) = incoming.admit() {
            let shutdown = self.shutdown.clone();
            sessions.spawn(async move { incoming.serve(place, &shutdown).await });
        }
    }

    /// Backs off, unless the error concerns one connection only.
    async fn back_off(&self, error: &io::Error) {
        let is_of_one_connection =
            matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted);
        if !is_of_one_connection {
            tracing::warn!(%error, "smtp connections cannot be accepted; retrying");
            let _ = timeout(BACK_OFF, self.shutdown.cancelled()).await;
        }
    }
}

/// Logs that a session has panicked; other sessions go on. The panic's message is not logged because it may quote mail.
fn log_panic(ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        tracing::error!("an SMTP session panicked and was closed");
    }
}
