//! The sockets: who is let in, how many at once, and how all of it stops.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::accept::Newcomer;
use super::stream::Stream;
use super::{Receiver, Service, connection};

/// How long to wait after `accept` has failed for want of descriptors or memory, which trying at once would not bring.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Receives mail on `listeners` until `shutdown` is cancelled.
///
/// Then the listeners close at once; a session whose message is at the store gives its answer first; every session gets
/// 421 and closes. Returns when all have ended, after [`drain_timeout`](super::SmtpSettings::drain_timeout) at the latest; a session that has not ended
/// by then is closed without a reply.
pub async fn serve(entrances: Vec<Entrance>, receiver: Arc<Receiver>, shutdown: CancellationToken) {
    join_all(entrances.into_iter().map(|Entrance { listener, service }| {
        Door { service, receiver: receiver.clone(), shutdown: shutdown.clone() }.serve(listener)
    }))
    .await;
}

/// A socket that listens, and what for.
#[derive(Debug)]
pub struct Entrance {
    /// The socket.
    pub listener: Listener,
    /// What for.
    pub service: Service,
}

/// A socket that listens.
#[derive(Debug)]
pub enum Listener {
    /// On the network.
    Tcp(TcpListener),
    /// On this machine.
    Unix(UnixListener),
}

impl Listener {
    /// The next connection. A client on this machine that has no address gets that of loopback.
    async fn accept(&self) -> io::Result<(Stream, IpAddr)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Replies are written whole; waiting for more to send would only delay them.
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

/// One listener and the sessions that came in through it.
struct Door {
    service: Service,
    receiver: Arc<Receiver>,
    shutdown: CancellationToken,
}

impl Door {
    async fn serve(self, listener: Listener) {
        let mut sessions = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                Some(ended) = sessions.join_next() => log_panic(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.admit(stream, peer, &mut sessions),
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
            tracing::warn!(sessions = sessions.len(), "smtp sessions closed without a reply");
            sessions.shutdown().await;
        }
    }

    fn admit(&self, stream: Stream, peer: IpAddr, sessions: &mut JoinSet<()>) {
        let (receiver, shutdown) = (self.receiver.clone(), self.shutdown.clone());
        let Some(newcomer) = Newcomer::receive(stream, peer, self.service, &receiver) else { return };
        sessions.spawn(async move {
            let dialect = newcomer.dialect(&receiver);
            if let Some(arrival) = newcomer.enter(&receiver, &shutdown).await {
                connection::run(arrival, dialect, &receiver, &shutdown).await;
            }
        });
    }

    /// Waits unless it was the one connection that failed.
    async fn back_off(&self, error: &io::Error) {
        let is_of_one_connection =
            matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted);
        if !is_of_one_connection {
            tracing::warn!(%error, "smtp connection not accepted");
            let _ = timeout(BACK_OFF, self.shutdown.cancelled()).await;
        }
    }
}

/// A panic costs the session that it is in and no other. What it says is not logged: it may quote mail.
fn log_panic(ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        tracing::error!("an SMTP session ended by a panic");
    }
}
