//! Settings of domains and their verification.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::{DAY, List, SECOND};
use crate::config::address::{public_address, resolver};
use crate::config::list::list;
use crate::config::parse::{domain_name, domain_pattern};
use crate::model::{DomainName, DomainPattern};
use crate::value::{duration, number};

/// Which domains receive mail, and how registered ones are verified.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Domains")]
pub struct DomainsConfig {
    /// Domain that receives mail without a check of DNS: a name, '*.NAME' for all below it, or '*' for every one
    // Active without DNS, never stored.
    #[arg(long = "domain", value_name = "DOMAIN", value_delimiter = ',', value_parser = list(domain_pattern))]
    pub fixed: List<DomainPattern>,

    /// Name that the MX record of a registered domain must point to; without it no domain can be registered
    #[arg(long = "mx-host", value_name = "NAME", value_delimiter = ',', value_parser = list(domain_name))]
    pub mx_hosts: List<DomainName>,

    /// How often the MX record of each registered domain is verified, 1s to 30d
    #[arg(long, value_name = "DURATION", default_value = "12h", value_parser = duration(SECOND..=30 * DAY))]
    pub verify_every: Duration,

    /// DNS server to ask, port 53 if none is named
    #[arg(long = "resolver", value_name = "IP[:PORT]", value_delimiter = ',', value_parser = list(resolver))]
    pub resolvers: List<SocketAddr>,

    /// Further address of this service, if it is behind NAT and its mx-host names do not resolve to it
    #[arg(long = "public-address", value_name = "IP", value_delimiter = ',', value_parser = list(public_address))]
    pub public_addresses: List<IpAddr>,

    /// Maximum domains that can be registered, 0 to 1000000
    #[arg(long = "max-domains", value_name = "N", default_value = "10000", value_parser = number(0..=1_000_000_usize))]
    pub registered_max: usize,

    /// The most domains that one client can have registered; the administrator has no limit.
    #[arg(long = "max-domains-per-client", hide = true, default_value = "100", value_parser = number(0..=1_000_000_usize))]
    pub registered_per_client_max: usize,
}
