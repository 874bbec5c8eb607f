//! Settings of HTTP.

use std::net::SocketAddr;

use clap::ValueEnum;
use ipnet::IpNet;

use super::{List, Maybe};
use crate::config::address::{allowed_host, any_listen_addresses, http_listen_addresses, network, origins};
use crate::config::list::list;
use crate::config::parse::{compat_api, connections, count, public, rate_limit};
use crate::value::number;

/// Whether each HTTP request has a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccessLog {
    /// None has.
    Off,
    /// Each has, with the network of its client: the /24 of an IPv4 address, the /48 of an IPv6 address.
    Masked,
    /// Each has, with the address of its client.
    Full,
}

/// Whose interface HTTP offers besides its own, for test suites that were written for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompatApi {
    /// Nobody's.
    Off,
    /// That of Mailpit, version 1.
    Mailpit,
}

/// What callers without a token may do over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part of the interface that is open or not")]
pub struct PublicConfig {
    /// Reading mail.
    pub read: bool,
    /// Deleting mail.
    pub delete: bool,
    /// Registering, listing and deleting webhooks.
    pub webhooks: bool,
    /// Registering domains.
    pub domains: bool,
    /// The inbox for browsers.
    pub web: bool,
}

/// What the HTTP interface is set to.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "HTTP")]
pub struct HttpConfig {
    /// Address that HTTP listens on
    #[arg(
        id = "http-listen",
        long,
        value_name = "IP:PORT",
        default_value = "127.0.0.1:8080,[::1]:8080",
        value_delimiter = ',',
        value_parser = http_listen_addresses
    )]
    pub listen: List<SocketAddr>,

    /// Address that HTTP with TLS from the first octet listens on; needs a certificate
    #[arg(long, value_name = "IP:PORT", value_delimiter = ',', value_parser = any_listen_addresses)]
    pub https_listen: List<SocketAddr>,

    /// Address of /metrics, /healthz and /readyz alone; with it, no other listener has /metrics
    #[arg(long, value_name = "IP:PORT", value_delimiter = ',', value_parser = any_listen_addresses)]
    pub metrics_listen: List<SocketAddr>,

    /// What callers without a token may do: read and delete mail, register webhooks and domains, use the page at / (web); 'none' for nothing
    #[arg(
        long,
        value_name = "PART",
        default_value = "read,delete,webhooks,domains,web",
        value_delimiter = ',',
        value_parser = public
    )]
    pub public: PublicConfig,

    /// Messages on a page if the request has no limit, 1 to 300, at most page-size-max
    #[arg(long, value_name = "N", default_value = "20", value_parser = number(1..=300_usize))]
    pub page_size_default: usize,

    /// Maximum messages on a page, 1 to 300, with revision 1 at most 100
    #[arg(long, value_name = "N", default_value = "100", value_parser = number(1..=300_usize))]
    pub page_size_max: usize,

    /// Host name or address, without port, that HTTP answers for beside loopback
    // Canonical domain names, and IP addresses without brackets.
    #[arg(long = "http-allowed-hosts", value_name = "HOST", value_delimiter = ',', value_parser = list(allowed_host))]
    pub allowed_hosts: List<String>,

    /// Origin whose web pages may read answers, such as `https://app.example`; '*' for any, 'none' for no other
    // As browsers send it.
    #[arg(long = "http-allowed-origins", value_name = "ORIGIN", value_delimiter = ',', value_parser = origins)]
    pub allowed_origins: Maybe<Vec<String>>,

    /// Network of reverse proxies, whose X-Forwarded-For names the client of a request
    #[arg(long, value_name = "CIDR", value_delimiter = ',', value_parser = list(network))]
    pub trusted_proxies: List<IpNet>,

    /// HTTP requests per minute of one client (IPv4 address or IPv6 /64), 1 to 10000000, or 'off'
    #[arg(long, value_name = "N|off", default_value = "10000", value_parser = rate_limit)]
    pub rate_limit: Maybe<u32>,

    /// Maximum HTTP connections at once, 1 to 100000
    #[arg(id = "max-http-connections", long, value_name = "N", default_value = "10000", value_parser = connections)]
    pub connections_max: usize,

    /// Log line for each HTTP request, with the client's /24 or /48 (masked) or its address (full)
    #[arg(long, value_name = "off|masked|full", default_value = "off")]
    pub access_log: AccessLog,

    /// Interface of another mail catcher for test suites: all mail, without a token only on loopback
    #[arg(long, value_name = "off|mailpit", default_value = "off", value_parser = compat_api)]
    pub compat_api: CompatApi,

    /// The most connections at once of one client.
    #[arg(
        id = "max-http-connections-per-client",
        long,
        hide = true,
        default_value = "250",
        value_parser = count::<usize>
    )]
    pub connections_per_client_max: usize,

    /// The most of the connections that may wait for mail; three quarters of them where that is less.
    #[arg(long = "max-http-waiting", hide = true, default_value = "7500", value_parser = count::<usize>)]
    pub waiting_max: usize,

    /// The most requests at once of one client that wait for mail.
    #[arg(long = "max-http-waiting-per-client", hide = true, default_value = "100", value_parser = count::<usize>)]
    pub waiting_per_client_max: usize,
}

impl HttpConfig {
    /// Whether no listener can be reached from another machine.
    pub fn is_local(&self) -> bool {
        self.listen.iter().chain(&self.https_listen).all(|address| address.ip().is_loopback())
    }
}
