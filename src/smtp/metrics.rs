//! What sessions amount to: one line of the log for each, and counters for all.
//!
//! No line and no counter holds content, a sender or a recipient.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::reply::Reply;
use super::session::{End, Session};
use crate::model::{Count, Counts};

/// A bound that refuses a connection, or something within a session. What ends a session is an [`End`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `max-smtp-connections`
    Connections,
    /// `max-smtp-connections-per-address`
    Address,
    /// `max-smtp-connections-per-network`
    Network,
    /// `smtp-connections-per-minute`
    Minute,
    /// The length of a command line.
    Line,
    /// `max-line-size`
    TextLine,
    /// The number of recipients.
    Recipients,
    /// `max-message-size`
    Size,
    /// `smtp-body-budget`
    Memory,
    /// `smtp-body-budget-per-address`
    MemoryOfAddress,
    /// `smtp-body-budget-per-network`
    MemoryOfNetwork,
    /// `max-hops`
    Hops,
}

impl Bound {
    const ALL: [Self; 12] = [
        Self::Connections,
        Self::Address,
        Self::Network,
        Self::Minute,
        Self::Line,
        Self::TextLine,
        Self::Recipients,
        Self::Size,
        Self::Memory,
        Self::MemoryOfAddress,
        Self::MemoryOfNetwork,
        Self::Hops,
    ];

    /// The word for counters.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Address => "connectionsPerAddress",
            Self::Network => "connectionsPerNetwork",
            Self::Minute => "connectionsPerMinute",
            Self::Line => "lineLength",
            Self::TextLine => "textLineLength",
            Self::Recipients => "recipients",
            Self::Size => "messageSize",
            Self::Memory => "memory",
            Self::MemoryOfAddress => "memoryPerAddress",
            Self::MemoryOfNetwork => "memoryPerNetwork",
            Self::Hops => "hops",
        }
    }
}

/// The classes of replies (RFC 5321 section 4.2.1) that a server gives.
const CLASSES: [&str; 4] = ["2yz", "3yz", "4yz", "5yz"];

/// What a session has said: how many replies of each class, and how many refusals by each bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    classes: [u64; CLASSES.len()],
    refused: [u64; Bound::ALL.len()],
}

impl Said {
    /// Counts a reply.
    pub(super) fn add(&mut self, reply: &Reply) {
        if let Some(class) = usize::from(reply.code() / 100).checked_sub(2).and_then(|at| self.classes.get_mut(at)) {
            *class += 1;
        }
        if let Some(bound) = reply.bound() {
            self.refused[bound as usize] += 1;
        }
    }
}

/// Counters of everything since the start. Each of them only grows, but for the connections that are open now or wait for
/// a place.
#[derive(Debug, Default)]
pub struct Counters {
    connections: AtomicU64,
    waiting: AtomicU64,
    sessions: AtomicU64,
    messages: AtomicU64,
    recipients: AtomicU64,
    octets: AtomicU64,
    tls_handshakes_failed: AtomicU64,
    proxy_headers_refused: AtomicU64,
    classes: [AtomicU64; CLASSES.len()],
    refused: [AtomicU64; Bound::ALL.len()],
    ended: [AtomicU64; End::ALL.len()],
}

impl Counters {
    pub(super) fn refuse(&self, bound: Bound) {
        self.refused[bound as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that has a place as open until what is returned is dropped.
    pub(super) fn connected(&self) -> Counted<'_> {
        Counted::of(&self.connections)
    }

    /// Counts a connection that waits for a place until what is returned is dropped.
    pub(super) fn waiting(&self) -> Counted<'_> {
        Counted::of(&self.waiting)
    }

    pub(super) fn tls_handshake_failed(&self) {
        self.tls_handshakes_failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn proxy_header_refused(&self) {
        self.proxy_headers_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a reply that no session has said.
    pub(super) fn say(&self, reply: &Reply) {
        let mut said = Said::default();
        said.add(reply);
        self.add(&said);
    }

    pub(super) fn add(&self, said: &Said) {
        let counts = said.classes.iter().zip(&self.classes).chain(said.refused.iter().zip(&self.refused));
        for (count, counter) in counts.filter(|(count, _)| **count > 0) {
            counter.fetch_add(*count, Ordering::Relaxed);
        }
    }
}

/// A connection, counted among others of its kind until this is dropped.
#[derive(Debug)]
pub(super) struct Counted<'a>(&'a AtomicU64);

impl<'a> Counted<'a> {
    fn of(kind: &'a AtomicU64) -> Self {
        kind.fetch_add(1, Ordering::Relaxed);
        Self(kind)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counts for Counters {
    fn read(&self) -> Vec<Count> {
        let one = |name, counter: &AtomicU64| Count::one(name, counter.load(Ordering::Relaxed));
        let mut counts = vec![
            one("sessions", &self.sessions),
            one("messages", &self.messages),
            one("recipients", &self.recipients),
            one("octets", &self.octets),
            one("tlsHandshakesFailed", &self.tls_handshakes_failed),
            one("proxyHeadersRefused", &self.proxy_headers_refused),
            one("connections", &self.connections),
            one("waiting", &self.waiting),
        ];
        counts.extend(Count::family("replies", CLASSES, &self.classes));
        counts.extend(Count::family("refused", Bound::ALL.map(Bound::as_str), &self.refused));
        counts.extend(Count::family("ended", End::ALL.map(End::label), &self.ended));
        counts
    }
}

/// What one session amounts to.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    counters: &'a Counters,
    client: IpAddr,
    began_at: Duration,
    messages: u64,
    recipients: u64,
    octets: u64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(counters: &'a Counters, client: IpAddr, now: Duration) -> Self {
        counters.sessions.fetch_add(1, Ordering::Relaxed);
        Self { counters, client, began_at: now, messages: 0, recipients: 0, octets: 0 }
    }

    /// A message was stored.
    pub(super) fn stored(&mut self, recipients: u64, octets: u64) {
        self.messages += 1;
        self.recipients += recipients;
        self.octets += octets;
        self.counters.messages.fetch_add(1, Ordering::Relaxed);
        self.counters.recipients.fetch_add(recipients, Ordering::Relaxed);
        self.counters.octets.fetch_add(octets, Ordering::Relaxed);
    }

    /// The session has ended.
    pub(super) fn end(&self, session: &Session<'_>, end: End, now: Duration) {
        self.counters.ended[end as usize].fetch_add(1, Ordering::Relaxed);
        tracing::info!(
            client = %self.client,
            helo = session.helo(),
            tls = session.tls().map_or("", |tls| &tls.version),
            messages = self.messages,
            recipients = self.recipients,
            octets = self.octets,
            refusals = session.refusals(),
            duration_ms = u64::try_from(now.saturating_sub(self.began_at).as_millis()).unwrap_or(u64::MAX),
            reason = end.as_str(),
            "smtp session ended"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(counters: &Counters, name: &str, label: Option<&str>) -> u64 {
        let counts = counters.read();
        let mut found = counts.iter().filter(|count| count.name == name && count.label() == label);
        let value = found.next().expect("a counter").value;
        assert!(found.next().is_none(), "{name} {label:?} is there twice");
        value
    }

    #[test]
    fn a_reply_counts_in_its_class_and_for_its_bound() {
        for (reply, class, bound) in [
            (Reply::OK, "2yz", None),
            (Reply::SEND_DATA, "3yz", None),
            (Reply::IDLE, "4yz", None),
            (Reply::STORE_FULL, "4yz", None),
            (Reply::NO_MEMORY, "4yz", Some(Bound::Memory)),
            (Reply::NO_MEMORY_OF_ADDRESS, "4yz", Some(Bound::MemoryOfAddress)),
            (Reply::NO_MEMORY_OF_NETWORK, "4yz", Some(Bound::MemoryOfNetwork)),
            (Reply::TOO_MANY_RECIPIENTS, "4yz", Some(Bound::Recipients)),
            (Reply::UNKNOWN_COMMAND, "5yz", None),
            (Reply::LINE_TOO_LONG, "5yz", Some(Bound::Line)),
            (Reply::AUTH_LINE_TOO_LONG, "5yz", Some(Bound::Line)),
            (Reply::LINE_TOO_LONG.without_status(), "5yz", Some(Bound::Line)),
            (Reply::message_too_large(1), "5yz", Some(Bound::Size)),
            (Reply::text_line_too_long(1), "5yz", Some(Bound::TextLine)),
            (Reply::TOO_MANY_HOPS, "5yz", Some(Bound::Hops)),
        ] {
            let (counters, mut said) = (Counters::default(), Said::default());
            said.add(&reply);
            counters.add(&said);
            assert_eq!(value(&counters, "replies", Some(class)), 1, "{reply:?}");
            let sum: u64 = counters.read().iter().map(|count| count.value).sum();
            assert_eq!(sum, 1 + u64::from(bound.is_some()), "{reply:?}");
            if let Some(bound) = bound {
                assert_eq!(value(&counters, "refused", Some(bound.as_str())), 1, "{reply:?}");
            }
        }
    }

    #[test]
    fn each_place_in_a_family_is_its_own() {
        assert!(Bound::ALL.iter().enumerate().all(|(at, bound)| *bound as usize == at));
        assert!(End::ALL.iter().enumerate().all(|(at, end)| *end as usize == at));
    }
}
