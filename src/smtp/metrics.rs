//! Counters of all sessions, and the totals of one session.
//!
//! No counter holds content, a sender or a recipient. Pure: nothing is logged here.

use std::sync::atomic::{AtomicU64, Ordering};

use super::reasons::{End, Limit};
use super::reply::Reply;
use crate::counts::{Count, Counts};

/// The classes of replies (RFC 5321 section 4.2.1) that a server sends.
const CLASSES: [&str; 4] = ["2yz", "3yz", "4yz", "5yz"];

/// Counters of everything since the start. Each of them only grows, except the connections that are open now.
#[derive(Debug, Default)]
pub struct Counters {
    connections: AtomicU64,
    sessions: AtomicU64,
    messages: AtomicU64,
    recipients: AtomicU64,
    octets: AtomicU64,
    tls_handshakes_failed: AtomicU64,
    proxy_headers_refused: AtomicU64,
    classes: [AtomicU64; CLASSES.len()],
    refused: [AtomicU64; Limit::ALL.len()],
    ended: [AtomicU64; End::ALL.len()],
}

impl Counters {
    /// Counts a connection that was refused without a reply.
    pub(super) fn refused(&self, limit: Limit) {
        self.refused[limit as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection as open until the guard is dropped.
    pub(super) fn connected(&self) -> Gauge<'_> {
        Gauge::raise(&self.connections)
    }

    /// Counts a TLS handshake that failed.
    pub(super) fn tls_handshake_failed(&self) {
        self.tls_handshakes_failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection without a valid PROXY header.
    pub(super) fn proxy_header_refused(&self) {
        self.proxy_headers_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a reply, and the limit that it reports.
    pub(super) fn replied(&self, reply: &Reply) {
        let class = usize::from(reply.code() / 100).checked_sub(2).and_then(|at| self.classes.get(at));
        for counter in class.into_iter().chain(reply.limit().map(|limit| &self.refused[limit as usize])) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// One connection in a counter, until this is dropped.
#[derive(Debug)]
pub(super) struct Gauge<'a>(&'a AtomicU64);

impl<'a> Gauge<'a> {
    fn raise(counter: &'a AtomicU64) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Gauge<'_> {
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
        ];
        counts.extend(Count::family("replies", CLASSES, &self.classes));
        counts.extend(Count::family("refused", Limit::ALL.iter().map(|limit| limit.as_str()), &self.refused));
        counts.extend(Count::family("ended", End::ALL.iter().map(|end| end.as_str()), &self.ended));
        counts
    }
}

/// The totals of one session, which are counted for all sessions too.
#[derive(Debug)]
pub(super) struct SessionTotals<'a> {
    counters: &'a Counters,
    /// Messages that were stored.
    pub(super) messages: u64,
    /// Recipients of these messages.
    pub(super) recipients: u64,
    /// Octets of these messages.
    pub(super) octets: u64,
}

impl<'a> SessionTotals<'a> {
    /// Counts a session that begins.
    pub(super) fn begin(counters: &'a Counters) -> Self {
        counters.sessions.fetch_add(1, Ordering::Relaxed);
        Self { counters, messages: 0, recipients: 0, octets: 0 }
    }

    /// Counts a stored message.
    pub(super) fn stored(&mut self, recipients: u64, octets: u64) {
        self.messages += 1;
        self.recipients += recipients;
        self.octets += octets;
        self.counters.messages.fetch_add(1, Ordering::Relaxed);
        self.counters.recipients.fetch_add(recipients, Ordering::Relaxed);
        self.counters.octets.fetch_add(octets, Ordering::Relaxed);
    }

    /// Counts the end of the session.
    pub(super) fn ended(&self, end: End) {
        self.counters.ended[end as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::admission::{Bound, Refused, What};

    fn value(counters: &Counters, name: &str, label: Option<&str>) -> u64 {
        let counts = counters.read();
        let mut found = counts.iter().filter(|count| count.name == name && count.label() == label);
        let value = found.next().expect("a counter").value;
        assert!(found.next().is_none(), "{name} {label:?} is there twice");
        value
    }

    #[test]
    fn a_reply_counts_in_its_class_and_for_its_limit() {
        let memory = |by| Reply::of_refused(Refused { what: What::MailOctets, by, retry_after: Duration::ZERO });
        for (reply, class, limit) in [
            (Reply::OK, "2yz", None),
            (Reply::SEND_DATA, "3yz", None),
            (Reply::IDLE, "4yz", None),
            (Reply::STORE_FULL, "4yz", None),
            (memory(Bound::All), "4yz", Some(Limit::Memory)),
            (memory(Bound::Client), "4yz", Some(Limit::ClientMemory)),
            (Reply::TOO_MANY_RECIPIENTS, "4yz", Some(Limit::Recipients)),
            (Reply::UNKNOWN_COMMAND, "5yz", None),
            (Reply::LINE_TOO_LONG, "5yz", Some(Limit::LineLength)),
            (Reply::AUTH_LINE_TOO_LONG, "5yz", Some(Limit::LineLength)),
            (Reply::LINE_TOO_LONG.without_status(), "5yz", Some(Limit::LineLength)),
            (Reply::message_too_large(1), "5yz", Some(Limit::MessageSize)),
        ] {
            let counters = Counters::default();
            counters.replied(&reply);
            assert_eq!(value(&counters, "replies", Some(class)), 1, "{reply:?}");
            let sum: u64 = counters.read().iter().map(|count| count.value).sum();
            assert_eq!(sum, 1 + u64::from(limit.is_some()), "{reply:?}");
            if let Some(limit) = limit {
                assert_eq!(value(&counters, "refused", Some(limit.as_str())), 1, "{reply:?}");
            }
        }
    }
}
