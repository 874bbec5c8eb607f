//! Settings of HTTP.

use super::{each, one, or_none, texts};
use crate::config::parse::{allowed_host, listen_addresses, origins, rate_limit};
use crate::config::setting::{Setting, Shape};
use crate::config::value;

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "http-listen",
        Shape::Several,
        "IP:PORT",
        "Address that HTTP listens on; port 0 lets the system choose",
        |c, v| listen_addresses(v).map(|all| c.http_listen = all),
        |c| texts(&c.http_listen),
    ),
    Setting::new(
        "page-size-default",
        Shape::One,
        "N",
        "Messages on a page if the request has no limit, 1 to 300, at most page-size-max",
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
        "http-allowed-hosts",
        Shape::Several,
        "HOST",
        "Host name or address, without port, that HTTP also answers for while it listens on loopback only",
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
        "max-http-connections",
        Shape::One,
        "N",
        "Most HTTP connections at once, 1 to 100000",
        |c, v| one(v, |t| value::number(t, 1..=100_000)).map(|n| c.http_connections_max = n),
        |c| vec![c.http_connections_max.to_string()],
    ),
];
