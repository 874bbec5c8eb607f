//! Settings of domains and their verification.

use super::{DAY, SECOND, each, one, texts};
use crate::config::parse::{domain_name, domain_pattern, public_address, resolver};
use crate::config::setting::{Setting, Shape};
use crate::config::value::{self, show_duration};

/// In the order in which help lists them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "domain",
        Shape::Several,
        "DOMAIN",
        "Domain that receives mail without a check of DNS: a name, '*.NAME' for all below it, or '*' for every one",
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
        "Name that the MX record of a registered domain must point to; without it no domain can be registered",
        |c, v| each(v, domain_name).map(|all| c.mx_hosts = all),
        |c| texts(&c.mx_hosts),
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
        "Further address of this service, if it is behind NAT and its mx-host names do not resolve to it",
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
];
