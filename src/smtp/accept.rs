//! From an accepted connection to a session: the shares of its client, and the PROXY header.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::backend::{Mailroom, refuse_client};
use super::reasons::Limit;
use super::reply::Reply;
use super::session::{Context, converse};
use super::{Dialect, Receiver};
use crate::admission::{Permit, Refused, What, Who};
use crate::config::SmtpAuth;
use crate::connections::proxy::SourceAddress;
use crate::connections::{HeaderError, Purpose, Stream, read_header};

/// A connection that has a place among all.
pub(super) struct Incoming {
    pub(super) receiver: Arc<Receiver>,
    pub(super) handshakes: Handle,
    pub(super) purpose: Purpose,
    pub(super) stream: Stream,
    /// The peer's address, which may be that of a proxy.
    pub(super) peer: IpAddr,
}

impl Incoming {
    /// Serves the connection to its end.
    pub(super) async fn serve(mut self, mut place: Permit, stop: &CancellationToken) {
        let receiver = Arc::clone(&self.receiver);
        let _gauge = receiver.counters.connected();
        let mut address = self.peer;
        if self.is_from_proxy() {
            let named = stop.run_until_cancelled(self.named_client()).await;
            let Some(Some(client)) = named else { return };
            address = client;
            let who = receiver.admission.who(address);
            if let Err(refused) = self.count(who).and_then(|()| place.pass_to(who)) {
                return self.refuse(address, &Reply::of_refused(refused));
            }
        }
        if let Err(refusal) = refuse_client(&receiver.config.smtp, address) {
            return self.refuse(address, &refusal);
        }
        let Self { purpose, stream, handshakes, .. } = self;
        let dialect = Dialect {
            purpose,
            offers_tls: receiver.tls.is_some() && matches!(stream, Stream::Tcp(_)),
            offers_auth: receiver.config.smtp.auth == SmtpAuth::AcceptAny && purpose != Purpose::Lmtp,
        };
        let context = Context {
            config: &receiver.config,
            admission: &receiver.admission,
            who: place.who(),
            address,
            backend: &Mailroom { receiver: &receiver, address },
            tls: receiver.tls.as_deref().map(|tls| (tls, &handshakes)),
            counters: &receiver.counters,
            refusals: &receiver.refusals,
            stop,
        };
        converse(stream, dialect, &context).await;
    }

    /// A place for the connection. `None`: it has been refused.
    pub(super) fn admit(&self) -> Option<Permit> {
        // A server in front speaks for many clients, and the client behind a proxy is not known yet.
        let is_client = !self.is_from_proxy() && self.purpose != Purpose::Lmtp;
        let who = if is_client { self.receiver.admission.who(self.peer) } else { Who::Server };
        let admitted = self.count(who).and_then(|()| self.receiver.admission.admit(who, What::SmtpConnection, 1));
        admitted.map_err(|refused| self.refuse(self.peer, &Reply::of_refused(refused))).ok()
    }

    /// Counts a new connection of a client.
    fn count(&self, who: Who) -> Result<(), Refused> {
        self.receiver.admission.spend(who, What::NewSmtpConnections, 1).map(drop)
    }

    /// Sends the only reply on a connection to `client`, as far as it is known. The socket is new, so its buffer has room and
    /// nothing waits. Before a TLS handshake a reply in the clear would mean nothing, so none is sent.
    fn refuse(&self, client: IpAddr, reply: &Reply) {
        let mut octets = Vec::new();
        reply.write(&mut octets);
        if self.purpose != Purpose::Smtps && self.stream.try_write(&octets).is_ok() {
            self.receiver.counters.replied(reply);
        } else if let Some(limit) = reply.limit() {
            self.receiver.counters.refused(limit);
        }
        self.receiver.refusals.log(client, "", reply);
    }

    /// Whether a PROXY header must come first. LMTP is for a mail server in front, often on the machine of the proxy; that
    /// server is the client itself.
    fn is_from_proxy(&self) -> bool {
        let is_proxy =
            |peer: &IpAddr| self.receiver.config.smtp.proxy_from.iter().any(|network| network.contains(peer));
        matches!(self.stream, Stream::Tcp(_)) && self.purpose != Purpose::Lmtp && is_proxy(&self.peer)
    }

    /// The client that the PROXY header names. `None`: no valid header came in time, and the connection must be closed.
    async fn named_client(&mut self) -> Option<IpAddr> {
        let ends_at = Instant::now() + self.receiver.config.constants.proxy_timeout;
        let error = match timeout_at(ends_at, read_header(&mut self.stream)).await {
            Ok(Ok(SourceAddress::Address(client))) => return Some(client),
            Ok(Ok(SourceAddress::OfSocket)) => return Some(self.peer),
            // A health check connects and disconnects.
            Ok(Err(HeaderError::Io(error))) => {
                tracing::debug!(proxy = %self.peer, %error, "smtp connection closed: no PROXY header");
                return None;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it took too long".to_owned(),
        };
        self.receiver.counters.refused(Limit::ProxyHeader);
        tracing::warn!(proxy = %self.peer, error, "smtp connection closed: no PROXY header");
        None
    }
}
