//! The catalogue of all metrics: their names, types, labels and help texts.

use crate::config::Revision;

/// Metrics of one name.
#[derive(Debug)]
pub(super) struct Family {
    /// The name of their source.
    pub(super) source: &'static str,
    /// Their name there.
    pub(super) name: &'static str,
    /// Their name in the exposition format: seconds and octets (`_bytes`) are in the name, and counters end with `_total`.
    pub(super) metric: &'static str,
    /// What they are.
    pub(super) kind: Kind,
    /// What tells them apart.
    pub(super) labels: &'static [&'static str],
    /// What they mean.
    pub(super) help: &'static str,
}

impl Family {
    /// Whether an interface of this revision has what it is about.
    pub(super) fn is_of(&self, revision: Revision) -> bool {
        match revision {
            Revision::One => !self.metric.starts_with("tempmail_webhook"),
            Revision::Two => true,
        }
    }
}

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows, until the daemon starts again.
    Counter,
    /// It is what is so now.
    Gauge,
    /// How long something took.
    Histogram,
}

const fn counter(
    source: &'static str,
    name: &'static str,
    metric: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Family {
    Family { source, name, metric, kind: Kind::Counter, labels, help }
}

const fn gauge(
    source: &'static str,
    name: &'static str,
    metric: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Family {
    Family { source, name, metric, kind: Kind::Gauge, labels, help }
}

const fn histogram(source: &'static str, name: &'static str, metric: &'static str, help: &'static str) -> Family {
    Family { source, name, metric, kind: Kind::Histogram, labels: &[], help }
}

/// All of them, in the order in which they are shown.
#[rustfmt::skip]
pub(super) const FAMILIES: &[Family] = &[
    gauge("process", "build", "tempmail_build_info", &["version", "revision"], "The program and the revision of its interface; always 1."),
    gauge("process", "startedAt", "tempmail_start_time_seconds", &[], "When the daemon started, in seconds since 1970."),
    counter("panics", "panics", "tempmail_panics_total", &["module"], "Panics, by the module of the program they happened in."),

    gauge("state", "acceptsMail", "tempmail_store_accepts_mail", &[], "1 while mail is accepted, 0 while the store would refuse it."),
    gauge("state", "trouble", "tempmail_store_trouble", &["cause"], "1 for the cause that /readyz reports now, 0 for the others."),
    gauge("stored", "emails", "tempmail_store_emails", &[], "Emails, one for each recipient, those included that have expired and wait to be removed."),
    gauge("stored", "mailboxes", "tempmail_store_mailboxes", &[], "Mailboxes with at least one Email."),
    gauge("stored", "messages", "tempmail_store_messages", &[], "Messages that an Email or an event needs; one with several recipients counts once."),
    gauge("stored", "liveOctets", "tempmail_store_live_bytes", &[], "Octets of these messages."),
    gauge("stored", "diskOctets", "tempmail_store_disk_bytes", &[], "Octets of all files of the store by their length."),
    gauge("stored", "indexOctets", "tempmail_store_index_bytes", &[], "Octets of the index's file among these."),
    gauge("stored", "heldOctets", "tempmail_store_held_bytes", &[], "Octets of removed segments that a reader still holds."),
    gauge("stored", "segments", "tempmail_store_segments", &[], "Segments of the journal."),
    gauge("store", "queued", "tempmail_store_queued_changes", &[], "Changes that wait for the writer or are being written."),
    histogram("store", "commit", "tempmail_store_commit_seconds", "How long the commit of a group of changes took until its senders could be answered."),
    counter("store", "removed", "tempmail_store_emails_removed_total", &["reason"], "Emails removed: deleted by a client, expired, or replaced by newer mail under a cap."),
    counter("store", "relocated", "tempmail_store_messages_relocated_total", &[], "Messages of pending events copied out of segments that no Email needs."),
    counter("store", "indexReopened", "tempmail_store_index_reopened_total", &[], "How often the index failed and could be opened again."),

    gauge("smtp", "connections", "tempmail_smtp_connections", &[], "Connections that have a slot now, including those in a handshake."),
    gauge("smtp", "waiting", "tempmail_smtp_connections_waiting", &[], "Further connections that wait for a slot or for their PROXY header."),
    gauge("limits", "smtpConnections", "tempmail_smtp_connections_max", &[], "The most connections at once: max-smtp-connections."),
    counter("smtp", "sessions", "tempmail_smtp_sessions_total", &[], "Sessions begun."),
    counter("smtp", "ended", "tempmail_smtp_sessions_ended_total", &["reason"], "Sessions ended."),
    counter("smtp", "messages", "tempmail_smtp_messages_total", &[], "Messages accepted with 250."),
    counter("smtp", "recipients", "tempmail_smtp_recipients_total", &[], "Recipients of these."),
    counter("smtp", "octets", "tempmail_smtp_received_bytes_total", &[], "Octets of these, each counted once."),
    counter("smtp", "replies", "tempmail_smtp_replies_total", &["class"], "Replies."),
    counter("smtp", "refused", "tempmail_smtp_refusals_total", &["limit"], "Refusals, by the limit that was reached."),
    counter("smtp", "tlsHandshakesFailed", "tempmail_smtp_tls_handshakes_failed_total", &[], "TLS handshakes that failed or took too long."),
    counter("smtp", "proxyHeadersRefused", "tempmail_smtp_proxy_headers_refused_total", &[], "Connections from proxies without a header of the PROXY protocol that is in order."),

    gauge("stored", "webhooks", "tempmail_webhooks", &[], "Webhooks, disabled ones included."),
    counter("store", "webhooksDisabled", "tempmail_webhooks_disabled_total", &[], "Webhooks disabled for what their receivers answered."),
    gauge("stored", "events", "tempmail_webhook_events_waiting", &[], "Pending events."),
    counter("webhooks", "attempts", "tempmail_webhook_attempts_total", &["result"], "Attempts to deliver an event: delivered, or the word for what went wrong."),
    counter("webhooks", "givenUp", "tempmail_webhook_events_given_up_total", &[], "Events that ended without being delivered."),
    counter("store", "eventsDropped", "tempmail_webhook_events_dropped_total", &[], "Events dropped because the outbox was full."),

    gauge("domains", "domains", "tempmail_domains", &["status"], "Domains, fixed and registered; a wildcard counts as one."),
    gauge("limits", "domains", "tempmail_domains_max", &[], "The most domains that can be registered: max-domains."),
    counter("domains", "checks", "tempmail_domain_checks_total", &["result"], "Questions for the MX of a domain: it points here, elsewhere, or there was no answer."),

    counter("http", "requests", "tempmail_http_requests_total", &["route", "class"], "Requests answered, by the template of their route and the class of their status."),
    gauge("http", "inFlight", "tempmail_http_requests_in_flight", &[], "Requests that are being answered now."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_form_and_are_there_once() {
        for (at, family) in FAMILIES.iter().enumerate() {
            let name = family.metric;
            assert!(
                name.starts_with("tempmail_") && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'),
                "{name}"
            );
            assert_eq!(name.ends_with("_total"), family.kind == Kind::Counter, "{name}");
            assert!(family.help.ends_with('.'), "{name}");
            for other in &FAMILIES[..at] {
                assert!(other.metric != name && (other.source, other.name) != (family.source, family.name), "{name}");
            }
        }
    }
}
