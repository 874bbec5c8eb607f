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
use super::{Receiver, Service, connection};

/// How long to wait after `accept` has failed for lack of file descriptors or memory. An immediate retry would fail too.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Receives mail on `listeners` until `shutdown` is cancelled.
///
/// Then the listeners close at once, and each session replies 421 and closes. A session whose message is at the store
/// sends the store's answer first. Returns when all sessions have ended. A session that has not ended after
/// [`drain_timeout`](super::SmtpSettings::drain_timeout) is closed without a reply.
pub async fn serve(listeners: Vec<ServiceListener>, receiver: Arc<Receiver>, shutdown: CancellationToken) {
    join_all(listeners.into_iter().map(|ServiceListener { listener, service }| {
        Server { service, receiver: receiver.clone(), shutdown: shutdown.clone() }.serve(listener)
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

/// A listening socket.
#[derive(Debug)]
pub enum Listener {
    /// On the network.
    Tcp(TcpListener),
    /// On this machine.
    Unix(UnixListener),
}

impl Listener {
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
    async fn serve(self, listener: Listener) {
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
        if timeout(self.receiver.settings.drain_timeout, drained).await.is_err() {
            tracing::warn!(
                sessions = sessions.len(),
                "smtp sessions were still running at the end of the stop and were closed without a reply"
            );
            sessions.shutdown().await;
        }
    }

    fn spawn_session(&self, stream: Stream, peer: IpAddr, sessions: &mut JoinSet<()>) {
        let (receiver, shutdown) = (self.receiver.clone(), self.shutdown.clone());
        let Some(incoming) = Incoming::accept(stream, peer, self.service, &receiver) else { return };
        sessions.spawn(async move {
            let dialect = incoming.dialect(&receiver);
            if let Some(accepted) = incoming.prepare(&receiver, &shutdown).await {
                connection::run(accepted, dialect, &receiver, &shutdown).await;
            }
        });
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
