//! The table of settings: one entry makes the flag, the variable, the key of the file and the line of `config show`.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::parse::{
    allowed_host, data_dir, domain_name, domain_pattern, listen_address, log_format, origins, public_address,
    rate_limit, resolver, revision, roles, subaddressing,
};
use super::value::{self, ValueError, show_duration, show_size};
use super::{Config, LogFormat, Revision};
use crate::model::Subaddressing;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);
const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

/// How many values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `true` or `false`; the bare flag means `true`.
    Switch,
    /// One value.
    One,
    /// Any number: a flag repeated or with commas, a variable with commas, an array in the file.
    Several,
}

/// One setting of `serve`.
#[derive(Debug)]
pub struct Setting {
    /// The key in the file; with `--` before it the flag.
    pub key: &'static str,
    /// How many values it takes.
    pub shape: Shape,
    /// What stands for the value in help texts.
    pub value_name: &'static str,
    /// What it means, with unit and bounds, without the default.
    pub help: &'static str,
    /// The flag is one of the whole program, not of `serve`.
    pub is_global: bool,
    default: Option<&'static str>,
    set: fn(&mut Config, &[String]) -> Result<(), ValueError>,
    show: fn(&Config) -> Vec<String>,
}

impl Setting {
    const fn new(
        key: &'static str,
        shape: Shape,
        value_name: &'static str,
        help: &'static str,
        set: fn(&mut Config, &[String]) -> Result<(), ValueError>,
        show: fn(&Config) -> Vec<String>,
    ) -> Self {
        Self { key, shape, value_name, help, is_global: false, default: None, set, show }
    }

    /// Describes a default that is no constant of the revision.
    const fn with_default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    const fn global(mut self) -> Self {
        self.is_global = true;
        self
    }

    /// The setting with this key.
    pub fn find(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }

    /// The environment variable: `TEMPMAIL_` and the key in upper case with underscores.
    pub fn variable(&self) -> String {
        variable(self.key)
    }

    /// Puts a value from any source into `config`. `config` is as before after an error.
    pub fn set(&self, config: &mut Config, values: &[String]) -> Result<(), ValueError> {
        (self.set)(config, values)
    }

    /// The value in effect, as [`Setting::set`] takes it.
    pub fn show(&self, config: &Config) -> Vec<String> {
        (self.show)(config)
    }

    /// The default in words, where the revisions differ with both values.
    pub fn default_text(&self) -> String {
        let of = |revision| {
            let shown = self.show(&Config::of_revision(revision, PathBuf::new())).join(",");
            if shown.is_empty() { "none".to_owned() } else { shown }
        };
        match self.default {
            Some(text) => text.to_owned(),
            None if self.key == "revision" => of(Revision::default()),
            None => match (of(Revision::One), of(Revision::Two)) {
                (one, two) if one == two => one,
                (one, two) => format!("{two}; revision 1: {one}"),
            },
        }
    }
}

/// The environment variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("TEMPMAIL_{}", key.to_ascii_uppercase().replace('-', "_"))
}

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

/// At least one address to listen on. Port 0 may be there more than once.
fn listen_addresses(values: &[String]) -> Result<Vec<SocketAddr>, ValueError> {
    if values.is_empty() {
        return Err(ValueError::Missing { accepted: "an IP address with a port, such as 127.0.0.1:2525" });
    }
    values.iter().map(|value| listen_address(value)).collect()
}

fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// An empty list that differs from no list is written `none`.
fn or_none(values: Vec<String>) -> Vec<String> {
    if values.is_empty() { vec!["none".to_owned()] } else { values }
}
