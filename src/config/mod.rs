//! The settings of the daemon: one struct, validated once.
//!
//! Flags > `TEMPMAIL_*` > the TOML file > the defaults of the revision. One table, [`SETTINGS`], makes the flags, the
//! variables, the keys of the file and the rows of the configuration guide: a new setting is a field of [`Config`], its
//! default, and one entry there.
//!
//! ```text
//! settings   the table, by subject      setting   one entry of it      args, file   flags and TOML to values
//! load       which source wins          check     values that depend on each other or contradict
//! value, parse   text to values         error     what can be wrong    paths        default places
//! ```

mod args;
mod check;
mod endpoint;
mod error;
mod file;
mod load;
mod parse;
mod paths;
mod setting;
mod settings;
pub mod value;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use crate::model::{Caps, DomainName, DomainPattern, LocalPartPattern, RoleAddresses, Subaddressing};

pub use args::ServeArgs;
pub use check::exposed;
pub use endpoint::Endpoint;
pub use error::{ConfigError, Contradiction, Origin, Place, Problem, Warning};
pub use load::{Loaded, Sources, load};
pub use paths::{default_data_dir, user_config_file};
pub use setting::{Setting, Shape};
pub use settings::{SETTINGS, SUBJECTS, Subject};

/// One of the two revisions of the interface: a preset of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Revision {
    /// No webhooks; 10 MB messages; the MX is verified daily.
    One,
    /// Webhooks; 300 KB messages; the MX is verified every 12 hours.
    #[default]
    Two,
}

impl Revision {
    /// 1 or 2.
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// The most recipients of one message. The store has room for the envelope of so many.
pub const SMTP_RECIPIENTS_MAX: usize = 100;

/// Whether SMTP offers AUTH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtpAuth {
    /// It does not.
    #[default]
    Off,
    /// It does, and takes any credentials.
    AcceptAny,
}

/// Every setting of `tempmail serve`, with its value in effect.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where everything that must last is kept.
    pub data_dir: PathBuf,
    /// Where SMTP listens.
    pub smtp_listen: Vec<SocketAddr>,
    /// Where SMTP with TLS from the first octet listens.
    pub smtps_listen: Vec<SocketAddr>,
    /// Where LMTP listens.
    pub lmtp_listen: Vec<Endpoint>,
    /// Mode of the files of LMTP's Unix sockets.
    pub lmtp_socket_mode: u32,
    /// PEM with the certificate, and the chain behind it.
    pub tls_certificate: Option<PathBuf>,
    /// PEM with its key; where a certificate is set, this is.
    pub tls_key: Option<PathBuf>,
    /// A certificate of our own is made at the start.
    pub tls_self_signed: bool,
    /// How long a TLS handshake may take.
    pub tls_handshake_timeout: Duration,
    /// Networks of proxies that tell of their clients by the PROXY protocol.
    pub proxy_from: Vec<IpNet>,
    /// Where HTTP listens.
    pub http_listen: Vec<SocketAddr>,
    /// Nobody named `smtp_listen`: an IPv6 address among them may be left out on a host without IPv6.
    pub smtp_listen_is_default: bool,
    /// Nobody named `http_listen`: an IPv6 address among them may be left out on a host without IPv6.
    pub http_listen_is_default: bool,
    /// Domains fixed by the administrator: active without DNS, never stored.
    pub domains: Vec<DomainPattern>,
    /// Wildcard domains are permitted although SMTP listens beyond loopback.
    pub accept_any_domain: bool,
    /// The names that a domain's MX record may point to. Empty: no domain can be registered or verified.
    pub mx_hosts: Vec<DomainName>,
    /// The name that the daemon gives itself in the banner and in `Received` fields.
    pub hostname: DomainName,
    /// The preset that the defaults came from.
    pub revision: Revision,
    /// How long an Email is readable.
    pub retention: Duration,
    /// The largest message, as RFC 1870 counts it.
    pub message_octets_max: u64,
    /// Page size when none is asked for.
    pub page_size_default: usize,
    /// The largest page.
    pub page_size_max: usize,
    /// How often each domain's MX is verified.
    pub verify_every: Duration,
    /// DNS servers to ask; empty: those of the system.
    pub resolvers: Vec<SocketAddr>,
    /// Addresses that are ours beside those that the `mx_hosts` resolve to.
    pub public_addresses: Vec<IpAddr>,
    /// The most domains that can be registered.
    pub domains_max: usize,
    /// Local parts that only the administrator may read.
    pub role_addresses: RoleAddresses,
    /// What `+tag` means.
    pub subaddressing: Subaddressing,
    /// Hosts besides loopback that HTTP answers for while it listens on loopback only: canonical domain names, and IP
    /// addresses without brackets; no ports.
    pub http_allowed_hosts: Vec<String>,
    /// Origins whose pages may read answers, as browsers send them, or `*` for any; `None`: any where HTTP listens beyond
    /// loopback, else loopback ones.
    pub http_allowed_origins: Option<Vec<String>>,
    /// HTTP requests per minute and client address; `None`: unlimited.
    pub rate_limit: Option<u32>,
    /// The most SMTP connections at once.
    pub smtp_connections_max: usize,
    /// The most HTTP connections at once.
    pub http_connections_max: usize,
    /// Memory in octets for all incoming messages.
    pub smtp_bodies_octets_max: u64,
    /// The longest line of a message after DATA in octets, CRLF included.
    pub smtp_text_line_octets_max: u64,
    /// AUTH on SMTP and SMTPS.
    pub smtp_auth: SmtpAuth,
    /// The most SMTP connections at once of one client.
    pub smtp_connections_per_client_max: usize,
    /// The most new SMTP connections of one client in a minute.
    pub smtp_connections_per_minute_max: usize,
    /// Networks whose SMTP clients are exempt from the limits of one client.
    pub smtp_exempt: Vec<IpNet>,
    /// How long an SMTP client may be silent, take for a command line, or take to read the replies.
    pub smtp_timeout: Duration,
    /// Networks whose SMTP clients are refused.
    pub refused_clients: Vec<IpNet>,
    /// Domains whose reverse-paths are refused.
    pub refused_senders: Vec<DomainPattern>,
    /// Local parts that mail is received for, beside postmaster; empty: all.
    pub accepted_local_parts: Vec<LocalPartPattern>,
    /// How many Emails a mailbox and a domain may have.
    pub caps: Caps,
    /// Networks that webhooks may be sent to although they are not public.
    pub webhook_allow: Vec<IpNet>,
    /// Ports that no webhook is sent to, beside those of mail.
    pub webhook_refused_ports: Vec<u16>,
    /// The waits between the attempts of an event, at least one; the last one repeats.
    pub webhook_schedule: Vec<Duration>,
    /// How long an attempt may take.
    pub webhook_timeout: Duration,
    /// How long after its Email has expired an event is still attempted.
    pub webhook_grace: Duration,
    /// How long a webhook is kept without any mail for it.
    pub webhook_idle: Duration,
    /// The most webhooks of one mailbox.
    pub webhooks_per_recipient_max: u32,
    /// The most webhooks that one client has registered.
    pub webhooks_per_client_max: u32,
    /// The most registrations of webhooks in a minute by one client.
    pub webhook_registrations_per_minute: u32,
    /// How long a webhook is kept whose receiver has never taken an event.
    pub webhook_unproven_life: Duration,
    /// The most webhooks in all.
    pub webhooks_max: u32,
    /// The most events that wait for one webhook.
    pub outbox_events_max: u32,
    /// The most octets of the messages that wait for one webhook.
    pub outbox_octets_per_webhook_max: u64,
    /// The most octets of the messages that wait for all webhooks.
    pub outbox_octets_max: u64,
    /// The most attempts under way at once, those left out that take long.
    pub webhook_in_flight_max: usize,
    /// Attempts that begin within a minute at one address and port that has taken an event.
    pub webhook_per_address_per_minute: usize,
    /// Size of a segment of the journal.
    pub segment_octets: u64,
    /// How much of the index may be held in memory.
    pub index_cache_octets: usize,
    /// How log lines are written.
    pub log_format: LogFormat,
}

impl Config {
    /// Whether no listener of HTTP can be reached from another machine.
    pub fn is_http_local(&self) -> bool {
        self.http_listen.iter().all(|address| address.ip().is_loopback())
    }

    /// Whether there is a certificate to secure connections with.
    pub fn has_tls(&self) -> bool {
        self.tls_self_signed || self.tls_certificate.is_some()
    }

    /// The defaults of a revision, with `data_dir` as the data directory.
    pub fn of_revision(revision: Revision, data_dir: PathBuf) -> Self {
        let hour = Duration::from_hours(1);
        let (message_octets_max, verify_every, rate_limit) = match revision {
            Revision::One => (10 * 1024 * 1024, 24 * hour, None),
            Revision::Two => (300 * 1024, 12 * hour, Some(10_000)),
        };
        Self {
            data_dir,
            smtp_listen: both_loopbacks(2525),
            smtps_listen: Vec::new(),
            lmtp_listen: Vec::new(),
            lmtp_socket_mode: 0o660,
            tls_certificate: None,
            tls_key: None,
            tls_self_signed: false,
            tls_handshake_timeout: Duration::from_secs(10),
            proxy_from: Vec::new(),
            http_listen: both_loopbacks(8080),
            smtp_listen_is_default: true,
            http_listen_is_default: true,
            domains: Vec::new(),
            accept_any_domain: false,
            mx_hosts: Vec::new(),
            hostname: "localhost".parse().expect("a constant domain name"),
            revision,
            retention: 2 * hour,
            message_octets_max,
            page_size_default: 20,
            page_size_max: 100,
            verify_every,
            resolvers: Vec::new(),
            public_addresses: Vec::new(),
            domains_max: 10_000,
            role_addresses: RoleAddresses::default(),
            subaddressing: Subaddressing::default(),
            http_allowed_hosts: Vec::new(),
            http_allowed_origins: None,
            rate_limit,
            smtp_connections_max: 1_000,
            http_connections_max: 1_000,
            smtp_bodies_octets_max: 256 << 20,
            smtp_text_line_octets_max: 128 << 10,
            smtp_auth: SmtpAuth::default(),
            smtp_connections_per_client_max: 50,
            smtp_connections_per_minute_max: 600,
            smtp_exempt: loopback(),
            smtp_timeout: Duration::from_mins(5),
            refused_clients: Vec::new(),
            refused_senders: Vec::new(),
            accepted_local_parts: Vec::new(),
            caps: Caps::default(),
            webhook_allow: Vec::new(),
            webhook_refused_ports: Vec::new(),
            webhook_schedule: [5, 30, 120, 600, 1_800, 3_600].map(Duration::from_secs).to_vec(),
            webhook_timeout: Duration::from_secs(15),
            webhook_grace: 24 * hour,
            webhook_idle: 30 * 24 * hour,
            webhooks_per_recipient_max: 10,
            webhooks_per_client_max: 100,
            webhook_registrations_per_minute: 60,
            webhook_unproven_life: 2 * 24 * hour,
            webhooks_max: 10_000,
            outbox_events_max: 1_000,
            outbox_octets_per_webhook_max: 64 << 20,
            outbox_octets_max: 1 << 30,
            webhook_in_flight_max: 128,
            webhook_per_address_per_minute: 6_000,
            segment_octets: 64 * 1024 * 1024,
            index_cache_octets: 32 * 1024 * 1024,
            log_format: LogFormat::default(),
        }
    }
}

fn both_loopbacks(port: u16) -> Vec<SocketAddr> {
    vec![SocketAddr::from(([127, 0, 0, 1], port)), SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port))]
}

fn loopback() -> Vec<IpNet> {
    ["127.0.0.0/8", "::1/128"].iter().filter_map(|network| network.parse().ok()).collect()
}
