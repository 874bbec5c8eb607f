//! Counters of all sessions, and the totals of one session.
//!
//! No counter holds content, a sender or a recipient. Pure: nothing is logged here.

use serde_json::{Value, json};

use super::reasons::{End, Limit};
use super::reply::Reply;
use crate::metrics::{
    IntCounter, IntCounterVec, IntGauge, Measured, MetricFamily, by_label, collect, counter, counters, gauge,
};

/// The classes of replies (RFC 5321 section 4.2.1) that a server sends.
const CLASSES: [&str; 4] = ["2yz", "3yz", "4yz", "5yz"];

/// Counters of everything since the start. Each of them only grows, except the connections that are open now.
#[derive(Debug)]
pub struct Counters {
    connections: IntGauge,
    messages: IntCounter,
    octets: IntCounter,
    replies: IntCounterVec,
    refused: IntCounterVec,
    ended: IntCounterVec,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            connections: gauge("tempmail_smtp_connections", "Connections now, including those in a handshake."),
            messages: counter("tempmail_smtp_messages_total", "Messages accepted with 250."),
            octets: counter(
                "tempmail_smtp_received_bytes_total",
                "Octets of accepted messages; a message with several recipients counts once.",
            ),
            replies: counters("tempmail_smtp_replies_total", "Replies.", "class", CLASSES),
            refused: counters(
                "tempmail_smtp_refusals_total",
                "Connections, commands and messages refused because of a limit, a TLS handshake or a PROXY header.",
                "limit",
                Limit::ALL.iter().map(|limit| limit.as_str()),
            ),
            ended: counters(
                "tempmail_smtp_sessions_ended_total",
                "SMTP sessions that ended.",
                "reason",
                End::ALL.iter().map(|end| end.as_str()),
            ),
        }
    }
}

impl Counters {
    /// Counts what was refused without a reply.
    pub(super) fn refused(&self, limit: Limit) {
        self.refused.with_label_values(&[limit.as_str()]).inc();
    }

    /// Counts a connection as open until the guard is dropped.
    pub(super) fn connected(&self) -> Open<'_> {
        self.connections.inc();
        Open(&self.connections)
    }

    /// Counts a reply, and the limit that it reports.
    pub(super) fn replied(&self, reply: &Reply) {
        if let Some(class) = usize::from(reply.code() / 100).checked_sub(2).and_then(|at| CLASSES.get(at)) {
            self.replies.with_label_values(&[class]).inc();
        }
        reply.limit().into_iter().for_each(|limit| self.refused(limit));
    }

    /// How many messages were accepted so far, and how many replies were errors.
    pub fn received_and_refused(&self) -> (u64, u64) {
        let errors = ["4yz", "5yz"].map(|class| self.replies.with_label_values(&[class]).get());
        (self.messages.get(), errors.iter().sum())
    }

    /// The numbers of now, each counter with a label as an object by its values.
    pub fn to_json(&self) -> Value {
        json!({
            "connections": self.connections.get(),
            "messages": self.messages.get(),
            "octets": self.octets.get(),
            "replies": by_label(&self.replies),
            "refused": by_label(&self.refused),
            "ended": by_label(&self.ended),
        })
    }
}

impl Measured for Counters {
    fn metrics(&self) -> Vec<MetricFamily> {
        collect(&[&self.connections, &self.ended, &self.messages, &self.octets, &self.replies, &self.refused])
    }
}

/// A connection that counts as open until this is dropped.
#[derive(Debug)]
pub(super) struct Open<'a>(&'a IntGauge);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.dec();
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
    /// Those of a session that begins.
    pub(super) const fn begin(counters: &'a Counters) -> Self {
        Self { counters, messages: 0, recipients: 0, octets: 0 }
    }

    /// Counts a stored message.
    pub(super) fn stored(&mut self, recipients: u64, octets: u64) {
        self.messages += 1;
        self.recipients += recipients;
        self.octets += octets;
        self.counters.messages.inc();
        self.counters.octets.inc_by(octets);
    }

    /// Counts the end of the session.
    pub(super) fn ended(&self, end: End) {
        self.counters.ended.with_label_values(&[end.as_str()]).inc();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::admission::{Bound, Refused, What};

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
            let mut counted = counters.to_json();
            for (name, label) in [("replies", Some(class)), ("refused", limit.map(Limit::as_str))] {
                let of_name = counted[name].as_object_mut().expect("an object");
                of_name.retain(|_, value| *value != 0);
                assert_eq!(of_name.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(), Vec::from_iter(label));
                assert!(of_name.values().all(|value| *value == 1), "{reply:?}");
            }
        }
    }
}
