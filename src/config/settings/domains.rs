//! Settings of domains and their verification.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::{DAY, SECOND, each, one, texts};
use crate::config::Revision;
use crate::config::parse::{domain_name, domain_pattern, public_address, resolver};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration};
use crate::model::{DomainName, DomainPattern};

/// Which domains receive mail, and how registered ones are verified.
#[derive(Clone, Debug)]
pub struct DomainsConfig {
    /// Domains fixed by the administrator: active without DNS, never stored.
    pub fixed: Vec<DomainPattern>,
    /// Whether wildcard domains are permitted although SMTP listens beyond loopback.
    pub accept_any: bool,
    /// The names that a domain's MX record may point to. Empty: no domain can be registered or verified.
    pub mx_hosts: Vec<DomainName>,
    /// How often each domain's MX is verified.
    pub verify_every: Duration,
    /// DNS servers to ask; empty: those of the system.
    pub resolvers: Vec<SocketAddr>,
    /// Addresses of this service beside those that the `mx_hosts` resolve to.
    pub public_addresses: Vec<IpAddr>,
    /// The most domains that can be registered.
    pub registered_max: usize,
    /// The most domains that one client can have registered.
    pub registered_per_client_max: usize,
}

impl DomainsConfig {
    /// The defaults of a revision.
    pub fn of_revision(revision: Revision) -> Self {
        Self {
            fixed: Vec::new(),
            accept_any: false,
            mx_hosts: Vec::new(),
            verify_every: match revision {
                Revision::One => DAY,
                Revision::Two => DAY / 2,
            },
            resolvers: Vec::new(),
            public_addresses: Vec::new(),
            registered_max: 10_000,
            registered_per_client_max: 100,
        }
    }
}

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "domain",
        Shape::Several,
        "DOMAIN",
        "Domain that receives mail without a check of DNS: a name, '*.NAME' for all below it, or '*' for every one",
        |c, v| each(v, domain_pattern).map(|all| c.domains.fixed = all),
        |c| texts(&c.domains.fixed),
    )
    .with_default("none; example.test while there is neither a domain nor an mx-host"),
    Setting::new(
        "accept-any-domain",
        Shape::Switch,
        "BOOL",
        "Permit a domain with '*' although SMTP can be reached from other machines",
        |c, v| one(v, value::switch).map(|on| c.domains.accept_any = on),
        |c| vec![c.domains.accept_any.to_string()],
    ),
    Setting::new(
        "mx-host",
        Shape::Several,
        "NAME",
        "Name that the MX record of a registered domain must point to; without it no domain can be registered",
        |c, v| each(v, domain_name).map(|all| c.domains.mx_hosts = all),
        |c| texts(&c.domains.mx_hosts),
    ),
    Setting::new(
        "verify-every",
        Shape::One,
        "DURATION",
        "How often the MX record of each registered domain is verified, 1s to 30d",
        |c, v| one(v, |t| value::duration(t, SECOND..=30 * DAY)).map(|time| c.domains.verify_every = time),
        |c| vec![show_duration(c.domains.verify_every)],
    ),
    Setting::new(
        "resolver",
        Shape::Several,
        "IP[:PORT]",
        "DNS server to ask, port 53 if none is named",
        |c, v| each(v, resolver).map(|all| c.domains.resolvers = all),
        |c| texts(&c.domains.resolvers),
    )
    .with_default("those of the system"),
    Setting::new(
        "public-address",
        Shape::Several,
        "IP",
        "Further address of this service, if it is behind NAT and its mx-host names do not resolve to it",
        |c, v| each(v, public_address).map(|all| c.domains.public_addresses = all),
        |c| texts(&c.domains.public_addresses),
    ),
    Setting::new(
        "max-domains",
        Shape::One,
        "N",
        "Maximum domains that can be registered, 0 to 1000000",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.domains.registered_max = n),
        |c| vec![c.domains.registered_max.to_string()],
    ),
    Setting::new(
        "max-domains-per-client",
        Shape::One,
        "N",
        "Maximum registered domains of one client (an IPv4 address or an IPv6 /64), 0 to 1000000; the administrator has none",
        |c, v| one(v, |t| value::number(t, 0..=1_000_000)).map(|n| c.domains.registered_per_client_max = n),
        |c| vec![c.domains.registered_per_client_max.to_string()],
    ),
];
