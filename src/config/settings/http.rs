//! Settings of HTTP.

use std::net::SocketAddr;

use ipnet::IpNet;

use super::{both_loopbacks, each, one, or_none, texts};
use crate::config::parse::{allowed_host, http_listen_addresses, listen_address, network, origins, rate_limit};
use crate::config::setting::{Setting, Shape};
use crate::config::value;
use crate::config::words::{access_log, compat_api, on_or_off};
use crate::config::{AccessLog, CompatApi, Revision};

/// What the HTTP interface is set to.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Where HTTP listens.
    pub listen: Vec<SocketAddr>,
    /// Where HTTP with TLS from the first octet listens.
    pub https_listen: Vec<SocketAddr>,
    /// Where only metrics and health are. No other listener has metrics then.
    pub metrics_listen: Vec<SocketAddr>,
    /// No source named `listen`: an IPv6 address in it may be left out on a host without IPv6.
    pub listen_is_default: bool,
    /// Page size when a request asks for none.
    pub page_size_default: usize,
    /// The largest page.
    pub page_size_max: usize,
    /// The only hosts besides loopback that HTTP answers for: canonical domain names, and IP addresses without brackets; no
    /// ports. Empty: any host where HTTP listens beyond loopback, else none.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may read answers, as browsers send them, or `*` for any; `None`: any where HTTP listens beyond
    /// loopback, else loopback ones.
    pub allowed_origins: Option<Vec<String>>,
    /// Networks of reverse proxies that name the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Requests per minute and client address; `None`: unlimited.
    pub rate_limit: Option<u32>,
    /// Whether each request has a line in the log.
    pub access_log: AccessLog,
    /// Whether browsers get a page.
    pub web: bool,
    /// Whose interface there is for test suites that were written for it.
    pub compat_api: CompatApi,
    /// The most connections at once.
    pub connections_max: usize,
    /// The most connections at once of one client.
    pub connections_per_client_max: usize,
    /// The most requests at once that wait for mail, beside the connections.
    pub waiting_max: usize,
    /// The most such requests of one client.
    pub waiting_per_client_max: usize,
}

impl HttpConfig {
    /// The defaults of a revision.
    pub fn of_revision(revision: Revision) -> Self {
        Self {
            listen: both_loopbacks(8080),
            https_listen: Vec::new(),
            metrics_listen: Vec::new(),
            listen_is_default: true,
            page_size_default: 20,
            page_size_max: 100,
            allowed_hosts: Vec::new(),
            allowed_origins: None,
            trusted_proxies: Vec::new(),
            rate_limit: match revision {
                Revision::One => None,
                Revision::Two => Some(10_000),
            },
            access_log: AccessLog::default(),
            web: revision == Revision::Two,
            compat_api: CompatApi::default(),
            connections_max: 1_000,
            connections_per_client_max: 250,
            waiting_max: 10_000,
            waiting_per_client_max: 100,
        }
    }

    /// Whether no listener can be reached from another machine.
    pub fn is_local(&self) -> bool {
        self.listen.iter().chain(&self.https_listen).all(|address| address.ip().is_loopback())
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "http-listen",
        Shape::Several,
        "IP:PORT",
        "Address that HTTP listens on",
        |c, v| http_listen_addresses(v).map(|all| c.http.listen = all),
        |c| texts(&c.http.listen),
    ),
    Setting::new(
        "https-listen",
        Shape::Several,
        "IP:PORT",
        "Address that HTTP with TLS from the first octet listens on; needs a certificate",
        |c, v| each(v, listen_address).map(|all| c.http.https_listen = all),
        |c| texts(&c.http.https_listen),
    ),
    Setting::new(
        "metrics-listen",
        Shape::Several,
        "IP:PORT",
        "Address of /metrics, /healthz and /readyz alone; with it, no other listener has /metrics",
        |c, v| each(v, listen_address).map(|all| c.http.metrics_listen = all),
        |c| texts(&c.http.metrics_listen),
    ),
    Setting::new(
        "page-size-default",
        Shape::One,
        "N",
        "Messages on a page if the request has no limit, 1 to 300, at most page-size-max",
        |c, v| one(v, |t| value::number(t, 1..=300)).map(|n| c.http.page_size_default = n),
        |c| vec![c.http.page_size_default.to_string()],
    ),
    Setting::new(
        "page-size-max",
        Shape::One,
        "N",
        "Maximum messages on a page, 1 to 300, with revision 1 at most 100",
        |c, v| one(v, |t| value::number(t, 1..=300)).map(|n| c.http.page_size_max = n),
        |c| vec![c.http.page_size_max.to_string()],
    ),
    Setting::new(
        "http-allowed-hosts",
        Shape::Several,
        "HOST",
        "Host name or address, without port, that HTTP answers for beside loopback",
        |c, v| each(v, allowed_host).map(|all| c.http.allowed_hosts = all),
        |c| c.http.allowed_hosts.clone(),
    )
    .with_default("any, but only loopback while HTTP listens on loopback only"),
    Setting::new(
        "http-allowed-origins",
        Shape::Several,
        "ORIGIN",
        "Origin whose web pages may read answers, such as https://app.example; '*' for any, 'none' for no other",
        |c, v| origins(v).map(|all| c.http.allowed_origins = all),
        |c| c.http.allowed_origins.clone().map_or_else(Vec::new, or_none),
    )
    .with_default("any, but only loopback ones while HTTP listens on loopback only"),
    Setting::new(
        "trusted-proxies",
        Shape::Several,
        "CIDR",
        "Network of reverse proxies, whose X-Forwarded-For names the client of a request",
        |c, v| each(v, network).map(|all| c.http.trusted_proxies = all),
        |c| texts(&c.http.trusted_proxies),
    ),
    Setting::new(
        "rate-limit",
        Shape::One,
        "N|off",
        "HTTP requests per minute of one client (IPv4 address or IPv6 /64), 1 to 10000000, or 'off'",
        |c, v| one(v, rate_limit).map(|limit| c.http.rate_limit = limit),
        |c| vec![c.http.rate_limit.map_or_else(|| "off".to_owned(), |limit| limit.to_string())],
    ),
    Setting::new(
        "access-log",
        Shape::One,
        "off|masked|full",
        "Log line for each HTTP request, with the client's /24 or /48 (masked) or its address (full)",
        |c, v| one(v, access_log).map(|log| c.http.access_log = log),
        |c| vec![c.http.access_log.to_string()],
    ),
    Setting::new(
        "web",
        Shape::One,
        "on|off",
        "Inbox for browsers at /",
        |c, v| one(v, on_or_off).map(|is_on| c.http.web = is_on),
        |c| vec![if c.http.web { "on" } else { "off" }.to_owned()],
    ),
    Setting::new(
        "compat-api",
        Shape::One,
        "off|mailpit",
        "Interface of another mail catcher for test suites: all mail, without a token only on loopback",
        |c, v| one(v, compat_api).map(|api| c.http.compat_api = api),
        |c| vec![c.http.compat_api.to_string()],
    ),
    Setting::new(
        "max-http-connections",
        Shape::One,
        "N",
        "Maximum HTTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.http.connections_max = n),
        |c| vec![c.http.connections_max.to_string()],
    ),
    Setting::new(
        "max-http-connections-per-client",
        Shape::One,
        "N",
        "Maximum HTTP connections at once of one client (IPv4 address or IPv6 /64), 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.http.connections_per_client_max = n),
        |c| vec![c.http.connections_per_client_max.to_string()],
    ),
    Setting::new(
        "max-http-waiting",
        Shape::One,
        "N",
        "Maximum HTTP requests at once that wait for mail, beside max-http-connections, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.http.waiting_max = n),
        |c| vec![c.http.waiting_max.to_string()],
    ),
    Setting::new(
        "max-http-waiting-per-client",
        Shape::One,
        "N",
        "Maximum HTTP requests at once that wait for mail, of one client (IPv4 address or IPv6 /64), 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.http.waiting_per_client_max = n),
        |c| vec![c.http.waiting_per_client_max.to_string()],
    ),
];
