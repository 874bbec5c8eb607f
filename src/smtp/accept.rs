//! From accepted to served: the limits of the client, a place, who the client is where a proxy stands in front, and TLS
//! from the first octet.
//!
//! Who is over a limit of its own is refused before anybody makes room for it. Where a proxy is yet to tell the client, a
//! connection that finds no place free waits for the header without one, as one of [`WAITING_MAX`](super::WAITING_MAX).

use std::io;
use std::net::IpAddr;

use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

use super::client_limits::Place;
use super::eviction::{Knock, Seating};
use super::metrics::{Bound, Counted};
use super::proxy::{self, Client, Progress};
use super::reply::Reply;
use super::session::End;
use super::stream::Stream;
use super::timeout;
use super::{Dialect, Receiver, Service};
use crate::model::TlsSession;

/// A connection that has just been accepted.
pub(super) struct Newcomer {
    stream: Stream,
    peer: IpAddr,
    service: Service,
    /// Its place among those of its address and network; `None` where a proxy is yet to tell the address.
    place: Option<Place>,
    knock: Knock,
}

/// A connection that a session can begin on.
pub(super) struct Arrival<'a> {
    pub(super) stream: Stream,
    /// The client's address; where a proxy has told it, that one.
    pub(super) client: IpAddr,
    /// Its place among those of its address and network.
    pub(super) place: Place,
    /// Its place among all.
    pub(super) seating: Seating,
    /// What secures it already.
    pub(super) tls: Option<TlsSession>,
    /// It is one of those that are open.
    pub(super) counted: Counted<'a>,
}

/// Why a connection from a proxy is closed without a word.
#[derive(Debug, thiserror::Error)]
enum HeaderError {
    #[error("it took too long")]
    TooLong,
    #[error("the place was needed")]
    MadeRoom,
    #[error("{0}")]
    Malformed(#[from] proxy::Malformed),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Newcomer {
    /// Takes a connection in, as far as that is decided at once. `None`: it has been turned away.
    pub(super) fn receive(stream: Stream, peer: IpAddr, service: Service, receiver: &Receiver) -> Option<Self> {
        let refused = |bound| turn_away(&stream, peer, service, bound, receiver);
        let place = if is_from_proxy(&stream, peer, service, receiver) {
            None
        } else {
            Some(admit(&stream, peer, receiver).map_err(refused).ok()?)
        };
        let knock = receiver.places.knock(receiver.clock.boot()).ok_or(Bound::Connections).map_err(refused).ok()?;
        Some(Self { stream, peer, service, place, knock })
    }

    /// What sessions of it speak and offer. A Unix socket needs no TLS: nobody stands in between.
    pub(super) fn dialect(&self, receiver: &Receiver) -> Dialect {
        Dialect {
            service: self.service,
            offers_tls: receiver.tls.is_some() && matches!(self.stream, Stream::Tcp(_)),
            offers_auth: receiver.settings.accepts_any_auth && self.service != Service::Lmtp,
        }
    }

    /// Makes it a connection that a session can begin on. `None`: it has been closed, and the log says why where that is
    /// of use. Ends at once when `shutdown` is cancelled.
    pub(super) async fn enter<'a>(self, receiver: &'a Receiver, shutdown: &CancellationToken) -> Option<Arrival<'a>> {
        let Self { mut stream, peer, service, place, knock } = self;
        let counters = &receiver.counters;
        let mut counted = if matches!(knock, Knock::Seated(_)) { counters.connected() } else { counters.waiting() };
        let (client, place) = if let Some(place) = place {
            (peer, Ok(place))
        } else {
            let client = shutdown.run_until_cancelled(told_client(&mut stream, peer, &knock, receiver)).await??;
            (client, admit(&stream, client, receiver))
        };
        let place = place.map_err(|bound| turn_away(&stream, client, service, bound, receiver)).ok()?;
        let seating = match knock {
            Knock::Seated(seating) => seating,
            Knock::Waits(turn) => {
                // Nobody goes for a client that is not served.
                if let Err(refusal) = receiver.settings.policy.client(client) {
                    say_at_once(&stream, service, &refusal, receiver);
                    return None;
                }
                let Some(vacated) = shutdown.run_until_cancelled(turn.vacated(&*receiver.clock)).await else {
                    say_at_once(&stream, service, &Reply::STOPPING, receiver);
                    return None;
                };
                let Some(seating) = vacated else {
                    turn_away(&stream, client, service, Bound::Connections, receiver);
                    return None;
                };
                counted = counters.connected();
                seating
            }
        };
        if service != Service::Smtps {
            return Some(Arrival { stream, client, place, seating, tls: None, counted });
        }
        match secure(&mut stream, &seating, receiver, shutdown).await {
            Ok(tls) => Some(Arrival { stream, client, place, seating, tls: Some(tls), counted }),
            Err(end) => {
                if end == End::MadeRoom {
                    counters.refuse(Bound::Connections);
                }
                tracing::info!(%client, reason = end.as_str(), "smtp connection closed before its session");
                None
            }
        }
    }
}

/// The client that a proxy tells. `None`: it tells none, and the connection is to be closed.
async fn told_client(stream: &mut Stream, peer: IpAddr, knock: &Knock, receiver: &Receiver) -> Option<IpAddr> {
    let seating = if let Knock::Seated(seating) = knock { Some(seating) } else { None };
    match header(stream, seating, receiver).await {
        Ok(Client::At(client)) => Some(client),
        Ok(Client::OfSocket) => Some(peer),
        // A check of health connects and leaves.
        Err(HeaderError::Io(error)) => {
            tracing::debug!(proxy = %peer, %error, "smtp connection closed: no PROXY header");
            None
        }
        Err(error) => {
            match error {
                HeaderError::MadeRoom => receiver.counters.refuse(Bound::Connections),
                _ => receiver.counters.proxy_header_refused(),
            }
            tracing::warn!(proxy = %peer, %error, "smtp connection closed: no PROXY header");
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

/// Says 421 and closes.
fn turn_away(stream: &Stream, client: IpAddr, service: Service, bound: Bound, receiver: &Receiver) {
    receiver.counters.refuse(bound);
    tracing::debug!(%client, bound = bound.as_str(), "smtp connection refused");
    say_at_once(stream, service, &Reply::of_admission(bound), receiver);
}

/// The only word to a connection. Its socket is new, so the buffer takes the reply without waiting; if not, it goes without.
/// In place of a handshake a reply in the clear would mean nothing.
fn say_at_once(stream: &Stream, service: Service, reply: &Reply, receiver: &Receiver) {
    let mut octets = Vec::new();
    reply.write(&mut octets);
    if service != Service::Smtps && stream.try_write(&octets).is_ok() {
        receiver.counters.say(reply);
    }
}

/// LMTP is for an MTA in front, which is the client by itself, often on the machine of the proxy.
fn is_from_proxy(stream: &Stream, peer: IpAddr, service: Service, receiver: &Receiver) -> bool {
    matches!(stream, Stream::Tcp(_))
        && service != Service::Lmtp
        && receiver.settings.proxy_from.iter().any(|network| network.contains(&peer))
}

/// Reads a header of the PROXY protocol and not an octet more.
async fn header(stream: &mut Stream, seating: Option<&Seating>, receiver: &Receiver) -> Result<Client, HeaderError> {
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
    let (began_at, most) = (receiver.clock.boot(), receiver.settings.proxy_timeout);
    let deadline = timeout::allowance(receiver, began_at, most, End::Idle);
    timeout::wait(receiver, seating, deadline, read)
        .await
        .unwrap_or_else(|end| Err(if end == End::MadeRoom { HeaderError::MadeRoom } else { HeaderError::TooLong }))
}

/// The server's side of a handshake. What the client is waited for after it is a command.
pub(super) async fn secure(
    stream: &mut Stream,
    seating: &Seating,
    receiver: &Receiver,
    shutdown: &CancellationToken,
) -> Result<TlsSession, End> {
    let Some(tls) = &receiver.tls else { return Err(End::TlsFailed) };
    let (began_at, most) = (receiver.clock.boot(), receiver.settings.handshake_timeout);
    let deadline = timeout::allowance(receiver, began_at, most, End::TlsFailed);
    let handshake = timeout::wait(receiver, Some(seating), deadline, stream.secure(tls.server_config()));
    let (end, why) = match shutdown.run_until_cancelled(handshake).await {
        None => return Err(End::Stopping),
        Some(Ok(Ok(session))) => {
            seating.pace().secured(receiver.clock.boot());
            return Ok(session);
        }
        Some(Err(End::MadeRoom)) => return Err(End::MadeRoom),
        Some(Ok(Err(error))) => (End::TlsFailed, error.to_string()),
        Some(Err(end)) => (end, "it took too long".to_owned()),
    };
    tracing::debug!(why, "TLS handshake failed");
    receiver.counters.tls_handshake_failed();
    Err(end)
}
