//! The catalogue of all metrics: their names, types, labels and help texts.

use crate::config::Revision;

/// The metrics with one name.
#[derive(Debug)]
pub(super) struct Family {
    /// The name of the source of the numbers.
    pub(super) source: &'static str,
    /// The name of the numbers in their source.
    pub(super) name: &'static str,
    /// The name in the exposition format. It contains the unit, seconds or `_bytes`, and counters end with `_total`.
    pub(super) metric: &'static str,
    /// The type of the metrics.
    pub(super) kind: Kind,
    /// The names of the labels.
    pub(super) labels: &'static [&'static str],
    /// The help text.
    pub(super) help: &'static str,
}

impl Family {
    /// Whether a service of this revision has these metrics.
    pub(super) fn is_of(&self, revision: Revision) -> bool {
        match revision {
            Revision::One => !self.metric.starts_with("tempmail_webhook"),
            Revision::Two => true,
        }
    }
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number that only grows while the daemon runs.
    Counter,
    /// A number that can go up and down.
    Gauge,
    /// A distribution of durations.
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

/// All metrics, in the order of the answer.
#[rustfmt::skip]
pub(super) const FAMILIES: &[Family] = &[
    gauge("process", "build", "tempmail_build_info", &["version", "revision"], "The program and the revision of its interface; always 1."),
    gauge("process", "startedAt", "tempmail_start_time_seconds", &[], "When the daemon started, in seconds since 1970."),
    counter("panics", "panics", "tempmail_panics_total", &["module"], "Panics, by the module of the program in which they happened."),

    gauge("state", "acceptsMail", "tempmail_store_accepts_mail", &[], "1 while mail is accepted, 0 while the store would refuse it."),
    gauge("state", "trouble", "tempmail_store_trouble", &["cause"], "1 for the cause that /readyz reports now, 0 for the others."),
    gauge("stored", "emails", "tempmail_store_emails", &[], "Emails, one for each recipient, including expired Emails that are not removed yet."),
    gauge("stored", "mailboxes", "tempmail_store_mailboxes", &[], "Mailboxes with at least one Email."),
    gauge("stored", "messages", "tempmail_store_messages", &[], "Messages that an Email or an event needs; a message with several recipients counts once."),
    gauge("stored", "liveOctets", "tempmail_store_live_bytes", &[], "Octets of the messages that tempmail_store_messages counts."),
    gauge("stored", "diskOctets", "tempmail_store_disk_bytes", &[], "Octets of all files of the store by their length."),
    gauge("stored", "registryOctets", "tempmail_store_registry_bytes", &[], "Octets of the registry's file, as a part of tempmail_store_disk_bytes."),
    gauge("stored", "heldOctets", "tempmail_store_held_bytes", &[], "Octets of removed segments that a reader still holds."),
    gauge("stored", "segments", "tempmail_store_segments", &[], "Segments of the journal."),
    gauge("store", "queued", "tempmail_store_queued_changes", &[], "Changes that are queued for the writer or being written."),
    histogram("store", "commit", "tempmail_store_commit_seconds", "How long the commit of a group of changes took until its senders could be answered."),
    counter("store", "removed", "tempmail_store_emails_removed_total", &["reason"], "Emails removed because a client deleted them, they expired, or newer mail replaced them under a cap."),

    gauge("cluster", "nodes", "tempmail_cluster_nodes", &[], "Nodes of the service that live and share the store; 1 without a cluster."),
    gauge("cluster", "leads", "tempmail_cluster_leads", &[], "1 if this node does the work that one node does for all; 0 without a cluster."),

    gauge("smtp", "connections", "tempmail_smtp_connections", &[], "Connections now, including those in a handshake."),
    gauge("limits", "smtpConnections", "tempmail_smtp_connections_max", &[], "The most connections at once: max-smtp-connections."),
    counter("smtp", "sessions", "tempmail_smtp_sessions_total", &[], "SMTP sessions that began."),
    counter("smtp", "ended", "tempmail_smtp_sessions_ended_total", &["reason"], "SMTP sessions that ended."),
    counter("smtp", "messages", "tempmail_smtp_messages_total", &[], "Messages accepted with 250."),
    counter("smtp", "recipients", "tempmail_smtp_recipients_total", &[], "Recipients of accepted messages."),
    counter("smtp", "octets", "tempmail_smtp_received_bytes_total", &[], "Octets of accepted messages; a message with several recipients counts once."),
    counter("smtp", "replies", "tempmail_smtp_replies_total", &["class"], "Replies."),
    counter("smtp", "refused", "tempmail_smtp_refusals_total", &["limit"], "Connections, commands and messages refused because of a limit."),
    counter("smtp", "tlsHandshakesFailed", "tempmail_smtp_tls_handshakes_failed_total", &[], "TLS handshakes that failed or took too long."),
    counter("smtp", "proxyHeadersRefused", "tempmail_smtp_proxy_headers_refused_total", &[], "Connections from proxies without a valid PROXY header."),
    counter("faults", "injected", "tempmail_smtp_faults_total", &["stage"], "Faults on purpose, by the stage of the session."),

    gauge("stored", "webhooks", "tempmail_webhooks", &[], "Webhooks, disabled ones included."),
    counter("store", "webhooksDisabled", "tempmail_webhooks_disabled_total", &[], "Webhooks disabled because of a receiver's answer or days of failures."),
    gauge("stored", "events", "tempmail_webhook_events_waiting", &[], "Pending events."),
    counter("webhooks", "attempts", "tempmail_webhook_attempts_total", &["result"], "Attempts to deliver an event, by result: delivered, or the code of the error."),
    counter("webhooks", "givenUp", "tempmail_webhook_events_given_up_total", &[], "Events that ended without being delivered."),
    counter("store", "eventsDropped", "tempmail_webhook_events_dropped_total", &[], "Events dropped because the outbox was full."),

    gauge("domains", "domains", "tempmail_domains", &["status"], "Domains, fixed and registered; a wildcard counts as one."),
    gauge("limits", "domains", "tempmail_domains_max", &[], "The most domains that can be registered: max-domains."),
    counter("domains", "checks", "tempmail_domain_checks_total", &["result"], "MX checks of domains, by result: the MX points here, it points elsewhere, or DNS gave no answer."),

    counter("http", "requests", "tempmail_http_requests_total", &["route", "class"], "HTTP requests answered, by the template of their route and the class of their status."),
    gauge("http", "inFlight", "tempmail_http_requests_in_flight", &[], "HTTP requests that are being answered now."),
    gauge("waiting", "waiting", "tempmail_http_requests_waiting", &[], "HTTP requests that wait for mail now, as a part of tempmail_http_requests_in_flight."),
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
