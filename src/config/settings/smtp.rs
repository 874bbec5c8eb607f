//! Settings of SMTP.

use std::net::SocketAddr;
use std::time::Duration;

use ipnet::IpNet;

use super::{GB, KB, MB, both_loopbacks, each, one, texts};
use crate::config::parse::{domain_name, endpoint, file_mode, listen_address, listen_addresses, network};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_size};
use crate::config::words::smtp_auth;
use crate::config::{Endpoint, SmtpAuth};
use crate::model::{DomainName, DomainPattern, FaultRule, LocalPartPattern};

/// What the receiver of mail is set to.
#[derive(Clone, Debug)]
pub struct SmtpConfig {
    /// Where SMTP listens.
    pub listen: Vec<SocketAddr>,
    /// No source named `listen`: an IPv6 address in it may be left out on a host without IPv6.
    pub listen_is_default: bool,
    /// Where SMTP with TLS from the first octet listens.
    pub smtps_listen: Vec<SocketAddr>,
    /// Where LMTP listens.
    pub lmtp_listen: Vec<Endpoint>,
    /// Mode of the files of LMTP's Unix sockets.
    pub lmtp_socket_mode: u32,
    /// Networks of proxies in front of SMTP that name their clients by the PROXY protocol.
    pub proxy_from: Vec<IpNet>,
    /// The name that the daemon gives itself in the greeting and in `Received` fields.
    pub hostname: DomainName,
    /// The most connections at once.
    pub connections_max: usize,
    /// Memory in octets for all messages that are being received.
    pub bodies_octets_max: u64,
    /// The longest line of a message after DATA in octets, CRLF included.
    pub text_line_octets_max: u64,
    /// AUTH on SMTP and SMTPS.
    pub auth: SmtpAuth,
    /// The most connections at once of one client.
    pub connections_per_client_max: usize,
    /// The most new connections of one client in a minute.
    pub connections_per_minute_max: usize,
    /// Networks whose clients are exempt from the limits of one client.
    pub exempt: Vec<IpNet>,
    /// How long a client may be silent, take for a command line, or take to read the replies.
    pub timeout: Duration,
    /// Networks whose clients are refused.
    pub refused_clients: Vec<IpNet>,
    /// Domains whose reverse-paths are refused.
    pub refused_senders: Vec<DomainPattern>,
    /// Local parts that mail is received for, beside postmaster; empty: all.
    pub accepted_local_parts: Vec<LocalPartPattern>,
    /// Rules for faults on purpose.
    pub faults: Vec<FaultRule>,
    /// Whether such rules are permitted although SMTP listens beyond loopback.
    pub faults_anywhere: bool,
}

impl Default for SmtpConfig {
    fn default() -> Self {
        Self {
            listen: both_loopbacks(2525),
            listen_is_default: true,
            smtps_listen: Vec::new(),
            lmtp_listen: Vec::new(),
            lmtp_socket_mode: 0o660,
            proxy_from: Vec::new(),
            hostname: "localhost".parse().expect("a constant domain name"),
            connections_max: 1_000,
            bodies_octets_max: 256 * MB,
            text_line_octets_max: 128 * KB,
            auth: SmtpAuth::default(),
            connections_per_client_max: 50,
            connections_per_minute_max: 600,
            exempt: loopback(),
            timeout: Duration::from_mins(5),
            refused_clients: Vec::new(),
            refused_senders: Vec::new(),
            accepted_local_parts: Vec::new(),
            faults: Vec::new(),
            faults_anywhere: false,
        }
    }
}

fn loopback() -> Vec<IpNet> {
    ["127.0.0.0/8", "::1/128"].iter().filter_map(|network| network.parse().ok()).collect()
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "smtp-listen",
        Shape::Several,
        "IP:PORT",
        "Address that SMTP listens on; port 0 lets the system choose",
        |c, v| listen_addresses(v).map(|all| c.smtp.listen = all),
        |c| texts(&c.smtp.listen),
    ),
    Setting::new(
        "smtps-listen",
        Shape::Several,
        "IP:PORT",
        "Address that SMTP with TLS from the first octet listens on; needs a certificate",
        |c, v| each(v, listen_address).map(|all| c.smtp.smtps_listen = all),
        |c| texts(&c.smtp.smtps_listen),
    ),
    Setting::new(
        "lmtp-listen",
        Shape::Several,
        "IP:PORT|PATH",
        "Address or Unix socket that LMTP listens on, for an MTA in front; a path begins with '/'",
        |c, v| each(v, endpoint).map(|all| c.smtp.lmtp_listen = all),
        |c| texts(&c.smtp.lmtp_listen),
    ),
    Setting::new(
        "lmtp-socket-mode",
        Shape::One,
        "MODE",
        "Mode of the file of a Unix socket for LMTP, octal",
        |c, v| one(v, file_mode).map(|mode| c.smtp.lmtp_socket_mode = mode),
        |c| vec![format!("{:03o}", c.smtp.lmtp_socket_mode)],
    ),
    Setting::new(
        "proxy-from",
        Shape::Several,
        "CIDR",
        "Network of proxies in front of SMTP; each connection from there must begin with a PROXY header, which names the client",
        |c, v| each(v, network).map(|all| c.smtp.proxy_from = all),
        |c| texts(&c.smtp.proxy_from),
    ),
    Setting::new(
        "hostname",
        Shape::One,
        "NAME",
        "Name that SMTP greets with and that Received fields carry",
        |c, v| one(v, domain_name).map(|name| c.smtp.hostname = name),
        |c| vec![c.smtp.hostname.to_string()],
    )
    .with_default("the first mx-host, else the machine's name, else localhost"),
    Setting::new(
        "max-smtp-connections",
        Shape::One,
        "N",
        "Maximum SMTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp.connections_max = n),
        |c| vec![c.smtp.connections_max.to_string()],
    ),
    Setting::new(
        "smtp-body-budget",
        Shape::One,
        "SIZE",
        "Memory for all incoming messages, 1MB to 1024GB, at least max-message-size; one client may use a quarter",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.smtp.bodies_octets_max = octets),
        |c| vec![show_size(c.smtp.bodies_octets_max)],
    ),
    Setting::new(
        "max-line-size",
        Shape::One,
        "SIZE",
        "Longest line of a message after DATA, 1KB to 50MB; RFC 5321 asks for 1,000 octets",
        |c, v| one(v, |t| value::size(t, KB..=50 * MB)).map(|octets| c.smtp.text_line_octets_max = octets),
        |c| vec![show_size(c.smtp.text_line_octets_max)],
    ),
    Setting::new(
        "smtp-auth",
        Shape::One,
        "off|accept-any",
        "Whether SMTP offers AUTH and takes any credentials; only while it listens on loopback",
        |c, v| one(v, smtp_auth).map(|auth| c.smtp.auth = auth),
        |c| vec![if c.smtp.auth == SmtpAuth::Off { "off" } else { "accept-any" }.to_owned()],
    ),
];
