//! Settings of SMTP.

use super::{GB, KB, MB, each, one, texts};
use crate::config::SmtpAuth;
use crate::config::parse::{domain_name, endpoint, file_mode, listen_address, listen_addresses, network, smtp_auth};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_size};

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "smtp-listen",
        Shape::Several,
        "IP:PORT",
        "Address that SMTP listens on; port 0 lets the system choose",
        |c, v| listen_addresses(v).map(|all| c.smtp_listen = all),
        |c| texts(&c.smtp_listen),
    ),
    Setting::new(
        "smtps-listen",
        Shape::Several,
        "IP:PORT",
        "Address that SMTP with TLS from the first octet listens on; needs a certificate",
        |c, v| each(v, listen_address).map(|all| c.smtps_listen = all),
        |c| texts(&c.smtps_listen),
    ),
    Setting::new(
        "lmtp-listen",
        Shape::Several,
        "IP:PORT|PATH",
        "Address or Unix socket that LMTP listens on, for an MTA in front; a path begins with '/'",
        |c, v| each(v, endpoint).map(|all| c.lmtp_listen = all),
        |c| texts(&c.lmtp_listen),
    ),
    Setting::new(
        "lmtp-socket-mode",
        Shape::One,
        "MODE",
        "Mode of the file of a Unix socket for LMTP, octal",
        |c, v| one(v, file_mode).map(|mode| c.lmtp_socket_mode = mode),
        |c| vec![format!("{:03o}", c.lmtp_socket_mode)],
    ),
    Setting::new(
        "proxy-from",
        Shape::Several,
        "CIDR",
        "Network of proxies; each connection from there must begin with a PROXY header, which names the client",
        |c, v| each(v, network).map(|all| c.proxy_from = all),
        |c| texts(&c.proxy_from),
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
        "max-smtp-connections",
        Shape::One,
        "N",
        "Most SMTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.smtp_connections_max = n),
        |c| vec![c.smtp_connections_max.to_string()],
    ),
    Setting::new(
        "smtp-body-budget",
        Shape::One,
        "SIZE",
        "Memory for all incoming messages, 1MB to 1024GB, at least max-message-size; one client may use a quarter",
        |c, v| one(v, |t| value::size(t, MB..=1024 * GB)).map(|octets| c.smtp_bodies_octets_max = octets),
        |c| vec![show_size(c.smtp_bodies_octets_max)],
    ),
    Setting::new(
        "max-line-size",
        Shape::One,
        "SIZE",
        "Longest line of a message after DATA, 1KB to 50MB; RFC 5321 asks for 1,000 octets",
        |c, v| one(v, |t| value::size(t, KB..=50 * MB)).map(|octets| c.smtp_text_line_octets_max = octets),
        |c| vec![show_size(c.smtp_text_line_octets_max)],
    ),
    Setting::new(
        "smtp-auth",
        Shape::One,
        "off|accept-any",
        "Whether SMTP offers AUTH and takes any credentials; only while it listens on loopback",
        |c, v| one(v, smtp_auth).map(|auth| c.smtp_auth = auth),
        |c| vec![if c.smtp_auth == SmtpAuth::Off { "off" } else { "accept-any" }.to_owned()],
    ),
];
