//! From accepted to served: who the client is where a proxy stands in front, and TLS from the first octet.

use std::io;
use std::net::IpAddr;

use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::admission::Place;
use super::proxy::{self, Client, Progress};
use super::reply::Reply;
use super::session::End;
use super::stream::Stream;
use super::tally::Bound;
use super::{Dialect, Receiver, Service};
use crate::model::TlsSession;

/// A connection that a session can begin on.
pub(super) struct Arrival {
    pub(super) stream: Stream,
    /// The client's address; where a proxy has told it, that one.
    pub(super) client: IpAddr,
    /// Its place among those of its address and network.
    pub(super) place: Place,
    /// What secures it already.
    pub(super) tls: Option<TlsSession>,
    /// Octets were there before the greeting.
    pub(super) has_spoken: bool,
}

/// Why a connection from a proxy is closed without a word.
#[derive(Debug, thiserror::Error)]
enum HeaderError {
    #[error("it took too long")]
    TooLong,
    #[error("{0}")]
    Malformed(#[from] proxy::Malformed),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What sessions of a connection speak and offer. A Unix socket needs no TLS: nobody stands in between.
pub(super) fn dialect(service: Service, stream: &Stream, receiver: &Receiver) -> Dialect {
    Dialect {
        service,
        offers_tls: receiver.tls.is_some() && matches!(stream, Stream::Tcp(_)),
        offers_auth: receiver.settings.accepts_any_auth && service != Service::Lmtp,
    }
}

/// Makes a new connection one that a session can begin on. `None`: it has been closed, and the log says why where that is
/// of use. Ends at once when `shutdown` is cancelled.
pub(super) async fn enter(
    mut stream: Stream,
    peer: IpAddr,
    service: Service,
    receiver: &Receiver,
    shutdown: &CancellationToken,
) -> Option<Arrival> {
    let client = if is_from_proxy(&stream, peer, service, receiver) {
        match shutdown.run_until_cancelled(header(&mut stream, receiver)).await? {
            Ok(Client::At(client)) => client,
            Ok(Client::OfSocket) => peer,
            // A check of health connects and leaves.
            Err(HeaderError::Io(error)) => {
                tracing::debug!(proxy = %peer, %error, "smtp connection closed: no PROXY header");
                return None;
            }
            Err(error) => {
                receiver.counters.proxy_header_refused();
                tracing::warn!(proxy = %peer, %error, "smtp connection closed: no PROXY header");
                return None;
            }
        }
    } else {
        peer
    };
    let place = match admit(&stream, client, receiver) {
        Ok(place) => place,
        Err(bound) => {
            turn_away(&stream, client, service, bound, receiver);
            return None;
        }
    };
    if service != Service::Smtps {
        let has_spoken = stream.has_octets();
        return Some(Arrival { stream, client, place, tls: None, has_spoken });
    }
    match secure(&mut stream, receiver, shutdown).await {
        // Behind a handshake nobody else can have spoken, and a client may have sent its first command with it.
        Ok(tls) => Some(Arrival { stream, client, place, tls: Some(tls), has_spoken: false }),
        Err(end) => {
            tracing::info!(%client, reason = end.as_str(), "smtp connection closed before its session");
            None
        }
    }
}

/// Nobody on this machine takes a place from others: a Unix socket's client has no address.
fn admit(stream: &Stream, client: IpAddr, receiver: &Receiver) -> Result<Place, Bound> {
    match stream {
        Stream::Unix(_) => Ok(Place::uncounted()),
        _ => receiver.admission.enter(client, receiver.clock.boot()),
    }
}

/// Says 421 and closes. The socket is new, so its buffer takes the reply without waiting; if not, it goes without.
pub(super) fn turn_away(stream: &Stream, client: IpAddr, service: Service, bound: Bound, receiver: &Receiver) {
    receiver.counters.refuse(bound);
    tracing::debug!(%client, bound = bound.as_str(), "smtp connection refused");
    // In place of a handshake a reply in the clear would mean nothing.
    if service != Service::Smtps {
        let mut reply = Vec::new();
        Reply::of_admission(bound).write(&mut reply);
        let _ = stream.try_write(&reply);
    }
}

/// LMTP is for an MTA in front, which is the client by itself, often on the machine of the proxy.
fn is_from_proxy(stream: &Stream, peer: IpAddr, service: Service, receiver: &Receiver) -> bool {
    matches!(stream, Stream::Tcp(_))
        && service != Service::Lmtp
        && receiver.settings.proxy_from.iter().any(|network| network.contains(&peer))
}

/// Reads a header of the PROXY protocol and not an octet more.
async fn header(stream: &mut Stream, receiver: &Receiver) -> Result<Client, HeaderError> {
    let read = async {
        let mut octets = Vec::new();
        loop {
            match proxy::read(&octets)? {
                Progress::Whole(client) => return Ok(client),
                Progress::Needs(missing) => {
                    let start = octets.len();
                    octets.resize(start + missing, 0);
                    let read = stream.read(&mut octets[start..]).await?;
                    octets.truncate(start + read);
                    if read == 0 {
                        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
                    }
                }
            }
        }
    };
    timeout(receiver.settings.proxy_timeout, read).await.unwrap_or(Err(HeaderError::TooLong))
}

/// The server's side of a handshake.
pub(super) async fn secure(
    stream: &mut Stream,
    receiver: &Receiver,
    shutdown: &CancellationToken,
) -> Result<TlsSession, End> {
    let Some(tls) = &receiver.tls else { return Err(End::TlsFailed) };
    let handshake = timeout(receiver.settings.handshake_timeout, stream.secure(tls.server_config()));
    let failed = match shutdown.run_until_cancelled(handshake).await {
        None => return Err(End::Stopping),
        Some(Ok(Ok(session))) => return Ok(session),
        Some(Ok(Err(error))) => Some(error),
        Some(Err(_elapsed)) => None,
    };
    let why = failed.map_or_else(|| "it took too long".to_owned(), |error| error.to_string());
    tracing::debug!(why, "TLS handshake failed");
    receiver.counters.tls_handshake_failed();
    Err(End::TlsFailed)
}
