//! Settings of SMTP and of TLS.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use ipnet::IpNet;

use super::{List, Maybe};
use crate::config::Endpoint;
use crate::config::address::{any_listen_addresses, endpoint, listen_addresses, network};
use crate::config::list::{list, list_or_none};
use crate::config::parse::{
    certificate, connections, count, domain_name, faults, file_mode, octets, optional_file, refused_sender, time,
};
use crate::fault;
use crate::model::{DomainName, DomainPattern};

/// Whether SMTP offers AUTH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SmtpAuth {
    /// It does not.
    Off,
    /// It does, and takes any credentials.
    AcceptAny,
}

/// What the receiver of mail is set to.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "SMTP")]
pub struct SmtpConfig {
    /// Address that SMTP listens on; :2525 is that port of every address, port 0 lets the system choose
    #[arg(
        id = "smtp-listen",
        long,
        value_name = "IP:PORT",
        default_value = "127.0.0.1:2525,[::1]:2525",
        value_delimiter = ',',
        value_parser = listen_addresses
    )]
    pub listen: List<SocketAddr>,

    /// Address that SMTP with TLS from the first octet listens on; needs a certificate
    #[arg(long, value_name = "IP:PORT", value_delimiter = ',', value_parser = any_listen_addresses)]
    pub smtps_listen: List<SocketAddr>,

    /// Address or Unix socket that LMTP listens on, for an MTA in front; a path begins with '/'
    #[arg(long, value_name = "IP:PORT|PATH", value_delimiter = ',', value_parser = list(endpoint))]
    pub lmtp_listen: List<Endpoint>,

    /// Network of proxies in front of SMTP, which must begin each connection with a PROXY header
    #[arg(long, value_name = "CIDR", value_delimiter = ',', value_parser = list(network))]
    pub proxy_from: List<IpNet>,

    /// Name that SMTP greets with and that Received fields carry
    #[arg(long, value_name = "NAME", default_value = "localhost", value_parser = domain_name)]
    pub hostname: DomainName,

    /// Whether SMTP offers AUTH and takes any credentials; beyond loopback only with trusted-network
    #[arg(id = "smtp-auth", long, value_name = "off|accept-any", default_value = "off")]
    pub auth: SmtpAuth,

    /// Maximum SMTP connections at once, 1 to 100000
    #[arg(id = "max-smtp-connections", long, value_name = "N", default_value = "1000", value_parser = connections)]
    pub connections_max: usize,

    /// Network whose clients have no limits of a client on connections, mail, waiting and memory; 'none' for no network
    #[arg(
        long = "limit-exempt",
        value_name = "CIDR",
        default_value = "127.0.0.0/8,::1/128",
        value_delimiter = ',',
        value_parser = list_or_none(network)
    )]
    pub exempt: List<IpNet>,

    /// Network whose clients are refused with 554
    #[arg(long = "refuse-client", value_name = "CIDR", value_delimiter = ',', value_parser = list(network))]
    pub refused_clients: List<IpNet>,

    /// Domain whose mail is refused, by the reverse-path: a name, or '*.NAME' for all below it
    #[arg(
        long = "refuse-sender-domain",
        value_name = "DOMAIN",
        value_delimiter = ',',
        value_parser = list(refused_sender)
    )]
    pub refused_senders: List<DomainPattern>,

    /// Fault of SMTP on purpose, such as 'RCPT user4xx@* first 2 451 4.3.0'; see `tempmail help smtp`
    #[arg(long = "fault", value_name = "RULE", value_delimiter = ',', value_parser = faults)]
    pub faults: List<fault::Rule>,

    /// Permit where strangers may reach SMTP what is safe only among friends: a domain with '*', smtp-auth accept-any, faults
    #[arg(
        long,
        alias = "accept-any-domain",
        alias = "fault-anywhere",
        value_name = "BOOL",
        default_value = "false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    pub trusted_network: bool,

    /// Memory for all messages that are being received.
    #[arg(long = "smtp-body-budget", hide = true, default_value = "256MB", value_parser = octets)]
    pub bodies_octets_max: u64,

    /// The most connections at once of one client.
    #[arg(
        id = "max-smtp-connections-per-client",
        long,
        hide = true,
        default_value = "50",
        value_parser = count::<usize>
    )]
    pub connections_per_client_max: usize,

    /// The most new connections of one client in a minute.
    #[arg(long = "smtp-connections-per-minute", hide = true, default_value = "600", value_parser = count::<usize>)]
    pub connections_per_minute_max: usize,

    /// How long a client may be silent, take for a command line, or take to read the replies (RFC 5321 section 4.5.3.2.7).
    #[arg(id = "smtp-timeout", long, hide = true, default_value = "5m", value_parser = time)]
    pub timeout: Duration,

    /// Mode of the files of LMTP's Unix sockets, in octal.
    #[arg(long, hide = true, default_value = "660", value_parser = file_mode)]
    pub lmtp_socket_mode: u32,
}

/// Where the certificate of SMTP and HTTP comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// There is none, and no TLS.
    None,
    /// One is made at each start.
    SelfSigned,
    /// A file in PEM.
    File(PathBuf),
}

/// What secures SMTP and HTTP.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "TLS")]
pub struct TlsConfig {
    /// Certificate in PEM with the chain behind it, read again when it changes and at SIGHUP; 'self-signed' makes one at each start
    #[arg(long = "tls-cert", value_name = "FILE|self-signed", default_value = "none", value_parser = certificate)]
    pub certificate: Certificate,

    /// Private key of tls-cert in PEM: RSA, EC or Ed25519
    #[arg(long = "tls-key", value_name = "FILE", default_value = "none", value_parser = optional_file)]
    pub key: Maybe<PathBuf>,

    /// How long a TLS handshake may take.
    #[arg(long = "tls-handshake-timeout", hide = true, default_value = "10s", value_parser = time)]
    pub handshake_timeout: Duration,
}
