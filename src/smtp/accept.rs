//! From an accepted connection to a session: limits of the client, a slot, the PROXY header, and implicit TLS.
//!
//! A client that exceeds its own limits is refused before another connection is evicted for it. Behind a proxy the client
//! is unknown until the header arrives; without a free slot such a connection waits as one of
//! [`WAITING_MAX`](crate::connections::WAITING_MAX).

use std::net::IpAddr;

use tokio_util::sync::CancellationToken;

use super::eviction::{Slot, SlotRequest};
use super::metrics::Gauge;
use super::reasons::{End, Limit};
use super::reply::Reply;
use super::stream::Stream;
use super::{Dialect, Receiver, Service, timeout};
use crate::connections::proxy::SourceAddress;
use crate::connections::{ClientConnection, Exceeded, HeaderError, read_header};
use crate::model::{Client, TlsSession};

/// A connection that has just been accepted.
pub(super) struct Incoming {
    stream: Stream,
    peer: IpAddr,
    service: Service,
    /// `None` where the PROXY header has yet to name the client.
    of_client: Option<ClientConnection>,
    slot: SlotRequest,
}

/// A connection that a session can begin on.
pub(super) struct Accepted<'a> {
    pub(super) stream: Stream,
    /// The client's address, which behind a proxy is the one in the header.
    pub(super) address: IpAddr,
    /// It counts for its client.
    pub(super) of_client: ClientConnection,
    /// Its slot.
    pub(super) slot: Slot,
    /// The TLS session, if TLS comes first.
    pub(super) tls: Option<TlsSession>,
    /// It counts as open.
    pub(super) gauge: Gauge<'a>,
}

/// Why a connection from a proxy is closed without a reply.
#[derive(Debug, thiserror::Error)]
enum NoClient {
    #[error("it took too long")]
    TooLong,
    #[error("the connection was evicted")]
    Evicted,
    #[error("{0}")]
    Header(#[from] HeaderError),
}

impl Incoming {
    /// Applies the limits that need no waiting. `None`: the connection has been refused.
    pub(super) fn accept(stream: Stream, peer: IpAddr, service: Service, receiver: &Receiver) -> Option<Self> {
        let refused = |limit| refuse(&stream, peer, service, limit, receiver);
        let of_client = if is_from_proxy(&stream, peer, service, receiver) {
            None
        } else {
            Some(connect(&stream, peer, receiver).map_err(refused).ok()?)
        };
        let client = of_client.is_some().then(|| Client::of(peer));
        let slot = receiver.slots.request(client, receiver.clock.boot());
        let slot = slot.ok_or(Limit::Connections).map_err(refused).ok()?;
        Some(Self { stream, peer, service, of_client, slot })
    }

    /// What sessions on the connection speak and offer. A Unix socket needs no TLS: no network is in between.
    pub(super) fn dialect(&self, receiver: &Receiver) -> Dialect {
        Dialect {
            service: self.service,
            offers_tls: receiver.tls.is_some() && matches!(self.stream, Stream::Tcp(_)),
            offers_auth: receiver.settings.accepts_any_auth && self.service != Service::Lmtp,
        }
    }

    /// Prepares the connection for a session. `None`: it has been closed. Ends at once when `shutdown` is cancelled.
    pub(super) async fn prepare<'a>(
        self,
        receiver: &'a Receiver,
        shutdown: &CancellationToken,
    ) -> Option<Accepted<'a>> {
        let Self { mut stream, peer, service, of_client, slot } = self;
        let counters = &receiver.counters;
        let gauge = if matches!(slot, SlotRequest::Granted(_)) { counters.connected() } else { counters.waiting() };
        let (address, of_client) = if let Some(of_client) = of_client {
            (peer, of_client)
        } else {
            let header = named_client(&mut stream, peer, &slot, receiver);
            let address = shutdown.run_until_cancelled(header).await??;
            let of_client = connect(&stream, address, receiver);
            (address, of_client.map_err(|limit| refuse(&stream, address, service, limit, receiver)).ok()?)
        };
        let (slot, gauge) = match slot {
            SlotRequest::Granted(slot) => (slot, gauge),
            SlotRequest::Waiting(waiting) => {
                // No connection is evicted for a client that is refused.
                if let Err(refusal) = receiver.settings.policy.client(address) {
                    reply_at_once(&stream, service, &refusal, receiver);
                    return None;
                }
                let evict = waiting.evict(None, &*receiver.clock);
                let Some(slot) = shutdown.run_until_cancelled(evict).await else {
                    reply_at_once(&stream, service, &Reply::STOPPING, receiver);
                    return None;
                };
                let Some(slot) = slot else {
                    refuse(&stream, address, service, Limit::Connections, receiver);
                    return None;
                };
                drop(gauge);
                (slot, counters.connected())
            }
        };
        if service != Service::Smtps {
            return Some(Accepted { stream, address, of_client, slot, tls: None, gauge });
        }
        match secure(&mut stream, &slot, receiver, shutdown).await {
            Ok(tls) => Some(Accepted { stream, address, of_client, slot, tls: Some(tls), gauge }),
            Err(end) => {
                if end == End::Evicted {
                    counters.refused(Limit::Connections);
                }
                tracing::info!(client = %address, reason = end.as_str(), "smtp connection closed before its session");
                None
            }
        }
    }
}

/// The client that the PROXY header names. `None`: there is no valid header, and the connection must be closed.
async fn named_client(stream: &mut Stream, peer: IpAddr, slot: &SlotRequest, receiver: &Receiver) -> Option<IpAddr> {
    let slot = if let SlotRequest::Granted(slot) = slot { Some(slot) } else { None };
    match source_address(stream, slot, receiver).await {
        Ok(SourceAddress::Address(client)) => Some(client),
        Ok(SourceAddress::OfSocket) => Some(peer),
        // A health check connects and disconnects.
        Err(NoClient::Header(HeaderError::Io(error))) => {
            tracing::debug!(proxy = %peer, %error, "smtp connection closed: no PROXY header");
            None
        }
        Err(error) => {
            match error {
                NoClient::Evicted => receiver.counters.refused(Limit::Connections),
                _ => receiver.counters.proxy_header_refused(),
            }
            tracing::warn!(proxy = %peer, %error, "smtp connection closed: no PROXY header");
            None
        }
    }
}

/// Counts the connection for its client. A client on this machine is not limited: on a Unix socket it has no address.
fn connect(stream: &Stream, address: IpAddr, receiver: &Receiver) -> Result<ClientConnection, Limit> {
    match stream {
        Stream::Unix(_) => Ok(ClientConnection::unlimited()),
        _ => receiver.clients.connect(address, receiver.clock.boot()).map_err(|exceeded| match exceeded {
            Exceeded::Connections => Limit::ClientConnections,
            Exceeded::Rate => Limit::ConnectionRate,
        }),
    }
}

/// Refuses a connection that exceeds a limit.
fn refuse(stream: &Stream, address: IpAddr, service: Service, limit: Limit, receiver: &Receiver) {
    tracing::debug!(client = %address, limit = limit.as_str(), "smtp connection refused");
    if !reply_at_once(stream, service, &Reply::of_limit(limit), receiver) {
        receiver.counters.refused(limit);
    }
}

/// Sends the only reply on a connection; whether it was sent. The socket is new, so its buffer has room and nothing
/// waits. Before a TLS handshake a reply in the clear would mean nothing, so none is sent.
fn reply_at_once(stream: &Stream, service: Service, reply: &Reply, receiver: &Receiver) -> bool {
    let mut octets = Vec::new();
    reply.write(&mut octets);
    let is_sent = service != Service::Smtps && stream.try_write(&octets).is_ok();
    if is_sent {
        receiver.counters.replied(reply);
    }
    is_sent
}

/// Whether a PROXY header must come first. LMTP is for a mail server in front, often on the machine of the proxy; that
/// server is the client itself.
fn is_from_proxy(stream: &Stream, peer: IpAddr, service: Service, receiver: &Receiver) -> bool {
    matches!(stream, Stream::Tcp(_)) && service != Service::Lmtp && receiver.settings.is_proxy(peer)
}

/// Reads a PROXY header in time.
async fn source_address(
    stream: &mut Stream,
    slot: Option<&Slot>,
    receiver: &Receiver,
) -> Result<SourceAddress, NoClient> {
    let Receiver { clock, slots, settings, .. } = receiver;
    let deadline = timeout::deadline(slots, clock.boot(), settings.proxy_timeout, End::Idle);
    match timeout::wait(&**clock, slots, slot, deadline, read_header(stream)).await {
        Ok(read) => Ok(read?),
        Err(End::Evicted) => Err(NoClient::Evicted),
        Err(_) => Err(NoClient::TooLong),
    }
}

/// Does the server's side of a TLS handshake. After it the client's timer waits for a command.
pub(super) async fn secure(
    stream: &mut Stream,
    slot: &Slot,
    receiver: &Receiver,
    shutdown: &CancellationToken,
) -> Result<TlsSession, End> {
    let Receiver { clock, slots, settings, .. } = receiver;
    let Some(tls) = &receiver.tls else { return Err(End::TlsFailed) };
    let deadline = timeout::deadline(slots, clock.boot(), settings.handshake_timeout, End::TlsFailed);
    let handshake = timeout::wait(&**clock, slots, Some(slot), deadline, stream.secure(tls.server_config()));
    let (end, error) = match shutdown.run_until_cancelled(handshake).await {
        None => return Err(End::Stopping),
        Some(Ok(Ok(session))) => {
            slot.timer().secured(clock.boot());
            return Ok(session);
        }
        Some(Err(End::Evicted)) => return Err(End::Evicted),
        Some(Ok(Err(error))) => (End::TlsFailed, error.to_string()),
        Some(Err(end)) => (end, "it took too long".to_owned()),
    };
    tracing::debug!(error, "TLS handshake failed");
    receiver.counters.tls_handshake_failed();
    Err(end)
}
