//! The table of settings: one entry makes the flag, the variable, the key of the file and the line of `config show`.

use std::fmt::Display;
use std::time::Duration;

use super::LogFormat;
use super::parse::{
    allowed_host, data_dir, domain_name, domain_pattern, listen_addresses, log_format, network, origins,
    public_address, rate_limit, resolver, revision, roles, schedule, subaddressing,
};
use super::setting::{Setting, Shape};
use super::value::{self, ValueError, show_duration, show_size};
use crate::model::Subaddressing;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);
const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

/// Every setting, in the order in which help and `config show` list them.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "data-dir",
        Shape::One,
        "DIR",
        "Directory of everything that must last",
        |c, v| one(v, data_dir).map(|dir| c.data_dir = dir),
        |c| vec![c.data_dir.display().to_string()],
    )
    .global()
    .with_default("$STATE_DIRECTORY, else $XDG_DATA_HOME/tempmail, else ~/.local/share/tempmail"),
    Setting::new(
        "revision",
        Shape::One,
        "1|2",
        "Revision of the interface, which the defaults of the other settings come from",
        |c, v| one(v, revision).map(|revision| c.revision = revision),
        |c| vec![c.revision.number().to_string()],
    ),
    Setting::new(
        "smtp-listen",
        Shape::Several,
        "IP:PORT",
        "Address that SMTP listens on; port 0 lets the system choose",
        |c, v| listen_addresses(v).map(|all| c.smtp_listen = all),
        |c| texts(&c.smtp_listen),
    ),
    Setting::new(
        "http-listen",
        Shape::Several,
        "IP:PORT",
        "Address that HTTP listens on; port 0 lets the system choose",
        |c, v| listen_addresses(v).map(|all| c.http_listen = all),
        |c| texts(&c.http_listen),
    ),
    Setting::new(
        "domain",
        Shape::Several,
        "DOMAIN",
        "Domain that mail is received for without asking DNS: a name, '*.NAME' for all below it, or '*' for every one",
        |c, v| each(v, domain_pattern).map(|all| c.domains = all),
        |c| texts(&c.domains),
    )
    .with_default("none; example.test while there is neither a domain nor an mx-host"),
    Setting::new(
        "accept-any-domain",
        Shape::Switch,
        "BOOL",
        "Permit a domain with '*' although SMTP can be reached from other machines",
        |c, v| one(v, value::switch).map(|on| c.accept_any_domain = on),
        |c| vec![c.accept_any_domain.to_string()],
    ),
    Setting::new(
        "mx-host",
        Shape::Several,
        "NAME",
        "Name that the MX record of a registered domain must point to; without one no domain can be registered",
        |c, v| each(v, domain_name).map(|all| c.mx_hosts = all),
        |c| texts(&c.mx_hosts),
    ),
    Setting::new(
        "hostname",
        Shape::One,
        "NAME",
        "Name that SMTP greets with and that Received fields carry",
        |c, v| one(v, domain_name).map(|name| c.hostname = name),
        |c| vec![c.hostname.to_string()],
    )
    .with_default("the first mx-host, else the machine's name, else localhost"),
    Setting::new(
        "retention",
        Shape::One,
        "DURATION",
        "How long a message can be read, 1s to 365d; then it is deleted",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.retention = time),
        |c| vec![show_duration(c.retention)],
    ),
    Setting::new(
        "max-message-size",
        Shape::One,
        "SIZE",
        "Largest message, 1KB to 50MB; KB is 1,024 octets",
        |c, v| one(v, |t| value::size(t, KB..=50 * MB)).map(|octets| c.message_octets_max = octets),
        |c| vec![show_size(c.message_octets_max)],
    ),
    Setting::new(
        "page-size-default",
        Shape::One,
        "N",
        "Messages on a page when the caller names no limit, 1 to 300, at most page-size-max",
        |c, v| one(v, |t| value::number(t, 1..=300)).map(|n| c.page_size_default = n),
        |c| vec![c.page_size_default.to_string()],
    ),
    Setting::new(
        "page-size-max",
        Shape::One,
        "N",
        "Most messages on a page, 1 to 300, with revision 1 at most 100",
        |c, v| one(v, |t| value::number(t, 1..=300)).map(|n| c.page_size_max = n),
        |c| vec![c.page_size_max.to_string()],
    ),
    Setting::new(
        "subaddressing",
        Shape::One,
        "keep|strip",
        "Whether user+tag@ is an address of its own (keep) or arrives at user@ (strip)",
        |c, v| one(v, subaddressing).map(|meaning| c.subaddressing = meaning),
        |c| vec![if c.subaddressing == Subaddressing::Keep { "keep" } else { "strip" }.to_owned()],
    ),
    Setting::new(
        "role-addresses",
        Shape::Several,
        "LOCAL-PART",
        "Local part that only the administrator may read on a domain for which certificates exist; 'none' for no such",
        |c, v| roles(v).map(|all| c.role_addresses = all),
        |c| or_none(c.role_addresses.local_parts().into_iter().map(str::to_owned).collect()),
    ),
    Setting::new(
        "verify-every",
        Shape::One,
        "DURATION",
        "How often the MX record of each registered domain is verified, 1s to 30d",
        |c, v| one(v, |t| value::duration(t, SECOND..=30 * DAY)).map(|time| c.verify_every = time),
        |c| vec![show_duration(c.verify_every)],
    ),
    Setting::new(
        "resolver",
        Shape::Several,
        "IP[:PORT]",
        "DNS server to ask, port 53 if none is named",
        |c, v| each(v, resolver).map(|all| c.resolvers = all),
        |c| texts(&c.resolvers),
    )
    .with_default("those of the system"),
    Setting::new(
        "public-address",
        Shape::Several,
        "IP",
        "Address of this service beside those that its mx-host names resolve to, for hosts behind NAT",
        |c, v| each(v, public_address).map(|all| c.public_addresses = all),
        |c| texts(&c.public_addresses),
    ),
    Setting::new(
        "max-domains",
        Shape::One,
        "N",
        "Most domains that can be registered, 0 to 1000000",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.domains_max = n),
        |c| vec![c.domains_max.to_string()],
    ),
    Setting::new(
        "http-allowed-hosts",
        Shape::Several,
        "HOST",
        "Host name or address, without port, that HTTP answers to beside loopback ones while it listens on loopback only",
        |c, v| each(v, allowed_host).map(|all| c.http_allowed_hosts = all),
        |c| c.http_allowed_hosts.clone(),
    ),
    Setting::new(
        "http-allowed-origins",
        Shape::Several,
        "ORIGIN",
        "Origin whose web pages may read answers, such as https://app.example; '*' for any, 'none' for no other",
        |c, v| origins(v).map(|all| c.http_allowed_origins = all),
        |c| c.http_allowed_origins.clone().map_or_else(Vec::new, or_none),
    )
    .with_default("any, but only loopback ones while HTTP listens on loopback only"),
    Setting::new(
        "rate-limit",
        Shape::One,
        "N|off",
        "HTTP requests per minute and client address, 1 to 10000000, or 'off'",
        |c, v| one(v, rate_limit).map(|limit| c.rate_limit = limit),
        |c| vec![c.rate_limit.map_or_else(|| "off".to_owned(), |limit| limit.to_string())],
    ),
    Setting::new(
        "max-smtp-connections",
        Shape::One,
        "N",
        "Most SMTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp_connections_max = n),
        |c| vec![c.smtp_connections_max.to_string()],
    ),
    Setting::new(
        "max-http-connections",
        Shape::One,
        "N",
        "Most HTTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.http_connections_max = n),
        |c| vec![c.http_connections_max.to_string()],
    ),
    Setting::new(
        "smtp-idle-timeout",
        Shape::One,
        "DURATION",
        "How long an SMTP client may keep silent, 100ms to 1h",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_hours(1);
            one(v, |t| value::duration(t, bounds)).map(|time| c.smtp_idle_timeout = time)
        },
        |c| vec![show_duration(c.smtp_idle_timeout)],
    ),
    Setting::new(
        "smtp-body-budget",
        Shape::One,
        "SIZE",
        "Memory for all messages that are coming in over SMTP, 1MB to 1024GB, at least max-message-size",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.smtp_bodies_octets_max = octets),
        |c| vec![show_size(c.smtp_bodies_octets_max)],
    ),
    Setting::new(
        "webhook-allow",
        Shape::Several,
        "CIDR",
        "Network that webhooks may be sent to although it is not public, such as 10.0.0.0/8",
        |c, v| each(v, network).map(|all| c.webhook_allow = all),
        |c| texts(&c.webhook_allow),
    ),
    Setting::new(
        "webhook-refused-ports",
        Shape::Several,
        "PORT",
        "Port that no webhook is sent to, 1 to 65535; 25, 465 and 587 never are",
        |c, v| each(v, |t| value::number(t, 1..=u16::MAX)).map(|all| c.webhook_refused_ports = all),
        |c| texts(&c.webhook_refused_ports),
    ),
    Setting::new(
        "webhook-schedule",
        Shape::Several,
        "DURATION",
        "Waits between the attempts of an event, 10ms to 1d each, 1 to 20 of them; the last one repeats",
        |c, v| schedule(v).map(|waits| c.webhook_schedule = waits),
        |c| c.webhook_schedule.iter().copied().map(show_duration).collect(),
    ),
    Setting::new(
        "webhook-timeout",
        Shape::One,
        "DURATION",
        "How long an attempt may take, 100ms to 2m",
        |c, v| {
            let bounds = Duration::from_millis(100)..=Duration::from_mins(2);
            one(v, |t| value::duration(t, bounds)).map(|time| c.webhook_timeout = time)
        },
        |c| vec![show_duration(c.webhook_timeout)],
    ),
    Setting::new(
        "webhook-grace",
        Shape::One,
        "DURATION",
        "How long after its message has expired an event is still attempted, 0s to 30d",
        |c, v| one(v, |t| value::duration(t, Duration::ZERO..=30 * DAY)).map(|time| c.webhook_grace = time),
        |c| vec![show_duration(c.webhook_grace)],
    ),
    Setting::new(
        "webhook-idle",
        Shape::One,
        "DURATION",
        "How long a webhook is kept without any mail for it, 1s to 365d",
        |c, v| one(v, |t| value::duration(t, SECOND..=365 * DAY)).map(|time| c.webhook_idle = time),
        |c| vec![show_duration(c.webhook_idle)],
    ),
    Setting::new(
        "max-webhooks-per-recipient",
        Shape::One,
        "N",
        "Most webhooks of one address, 0 to 1000",
        |c, v| one(v, |t| value::number(t, 0..=1_000)).map(|n| c.webhooks_per_recipient_max = n),
        |c| vec![c.webhooks_per_recipient_max.to_string()],
    ),
    Setting::new(
        "max-webhooks",
        Shape::One,
        "N",
        "Most webhooks in all, 0 to 1000000",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.webhooks_max = n),
        |c| vec![c.webhooks_max.to_string()],
    ),
    Setting::new(
        "outbox-events",
        Shape::One,
        "N",
        "Most events that wait for one webhook, 1 to 100000; beyond, the oldest is dropped",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.outbox_events_max = n),
        |c| vec![c.outbox_events_max.to_string()],
    ),
    Setting::new(
        "outbox-size-per-webhook",
        Shape::One,
        "SIZE",
        "Most octets of the messages that wait for one webhook, 1MB to 10GB",
        |c, v| one(v, |t| value::size(t, MB..=10 * GB)).map(|octets| c.outbox_octets_per_webhook_max = octets),
        |c| vec![show_size(c.outbox_octets_per_webhook_max)],
    ),
    Setting::new(
        "outbox-size",
        Shape::One,
        "SIZE",
        "Most octets of the messages that wait for all webhooks, 1MB to 1024GB",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.outbox_octets_max = octets),
        |c| vec![show_size(c.outbox_octets_max)],
    ),
    Setting::new(
        "webhook-in-flight",
        Shape::One,
        "N",
        "Most attempts under way at once, 1 to 10000",
        |c, v| one(v, |t| value::number(t, 1..=10_000)).map(|n| c.webhook_in_flight_max = n),
        |c| vec![c.webhook_in_flight_max.to_string()],
    ),
    Setting::new(
        "webhook-per-origin-per-minute",
        Shape::One,
        "N",
        "Most attempts per minute at one scheme, host and port, 1 to 1000000",
        |c, v| one(v, |t| value::number(t, 1..=1_000_000)).map(|n| c.webhook_per_origin_per_minute = n),
        |c| vec![c.webhook_per_origin_per_minute.to_string()],
    ),
    Setting::new(
        "segment-size",
        Shape::One,
        "SIZE",
        "Size of a file of the journal, 1MB to 1GB, at least twice max-message-size",
        |c, v| one(v, |t| value::size(t, MB..=GB)).map(|octets| c.segment_octets = octets),
        |c| vec![show_size(c.segment_octets)],
    )
    .with_default("64MB, or twice max-message-size where that is more"),
    Setting::new(
        "index-cache-size",
        Shape::One,
        "SIZE",
        "Memory for parts of the index, 1MB to 2GB",
        |c, v| {
            let octets = one(v, |t| value::size(t, MB..=2 * GB))?;
            c.index_cache_octets = usize::try_from(octets).unwrap_or(usize::MAX);
            Ok(())
        },
        |c| vec![show_size(c.index_cache_octets as u64)],
    ),
    Setting::new(
        "log-format",
        Shape::One,
        "text|json",
        "Log lines for people (text) or for programs (json)",
        |c, v| one(v, log_format).map(|format| c.log_format = format),
        |c| vec![if c.log_format == LogFormat::Text { "text" } else { "json" }.to_owned()],
    ),
];

/// The one value that a setting takes.
fn one<T>(values: &[String], parse: impl FnOnce(&str) -> Result<T, ValueError>) -> Result<T, ValueError> {
    match values {
        [value] => parse(value),
        [] => Err(ValueError::Missing { accepted: "one value" }),
        more => Err(ValueError::Several { count: more.len() }),
    }
}

/// Any number of values, each kept once.
fn each<T: PartialEq>(values: &[String], parse: impl Fn(&str) -> Result<T, ValueError>) -> Result<Vec<T>, ValueError> {
    let mut all = Vec::new();
    for value in values {
        let parsed = parse(value)?;
        if !all.contains(&parsed) {
            all.push(parsed);
        }
    }
    Ok(all)
}

fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// An empty list that differs from no list is written `none`.
fn or_none(values: Vec<String>) -> Vec<String> {
    if values.is_empty() { vec!["none".to_owned()] } else { values }
}
