//! The limits of receiving hosts, so that nobody can flood a third party by means of webhooks.
//!
//! A host is an IPv4 address or an IPv6 /64 that is dialled, with all its ports and whatever names lead there. Its limits are
//! rows of `admission`: a host that answered 2xx lately may be called more often. Networks of `webhook-allow` are the
//! administrator's own, so their hosts have none.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::time::Instant;

use super::guard::Guard;
use super::guard::ranges::carried;
use crate::admission::{Admission, Refused, What, Who};
use crate::model::Client;

/// How long a host is proven after it answered 2xx. The next 2xx proves it again.
const PROVEN_FOR: Duration = Duration::from_mins(10);
/// The most hosts that are known to be proven.
const PROVEN_MAX: usize = 10_000;

/// No request was sent, because a host is at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address is at its rate limit for this minute; try again later")]
pub struct Busy {
    /// How long to wait before trying again: at most a minute, unless a call was far larger than its limit.
    pub wait: Duration,
}

/// The limits of all hosts.
pub struct Hosts {
    admission: Arc<Admission>,
    guard: Arc<Guard>,
    /// Whether hosts of allowed networks have limits, too.
    limits_allowed: bool,
    proven: Cache<Client, Instant>,
}

impl Hosts {
    /// The rows of `admission` for hosts that the guard does not allow. With `limits_allowed` they are for these, too.
    pub fn new(admission: Arc<Admission>, guard: Arc<Guard>, limits_allowed: bool) -> Self {
        Self { admission, guard, limits_allowed, proven: Cache::new(PROVEN_MAX) }
    }

    /// Takes a call of so many octets from the limits of a host, which must have room for the call and for some octets.
    pub(super) fn admit(&self, address: IpAddr, octets: u64) -> Result<(), Busy> {
        let Some(host) = self.limited(address) else { return Ok(()) };
        let [calls, all_octets] = self.rows(host);
        let busy = |refused: Refused| Busy { wait: refused.retry_after };
        self.admission.spend(Who::Client(host), all_octets, 0).map_err(busy)?;
        self.admission.spend(Who::Client(host), calls, 1).map_err(busy)?;
        self.admission.charge(Who::Client(host), all_octets, octets);
        Ok(())
    }

    /// Charges octets beyond those that were admitted.
    pub(super) fn charge(&self, address: IpAddr, octets: u64) {
        if let Some(host) = self.limited(address) {
            self.admission.charge(Who::Client(host), self.rows(host)[1], octets);
        }
    }

    /// Records that a host answered 2xx.
    pub(super) fn prove(&self, address: IpAddr) {
        if let Some(host) = self.limited(address) {
            self.proven.insert(host, Instant::now());
        }
    }

    /// The host of an address, if it has limits. Behind a translator of addresses (RFC 6052) it is the IPv4 host.
    fn limited(&self, address: IpAddr) -> Option<Client> {
        let carried = match address {
            IpAddr::V6(address) => carried(address).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        let address = carried.unwrap_or(address);
        (self.limits_allowed || !self.guard.is_allowed(address)).then(|| Client::of(address))
    }

    /// The rows of its calls and of their octets.
    fn rows(&self, host: Client) -> [What; 2] {
        if self.proven.get(&host).is_some_and(|since| since.elapsed() < PROVEN_FOR) {
            [What::CallsToProven, What::OctetsToProven]
        } else {
            [What::CallsToUnproven, What::OctetsToUnproven]
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::super::guard::GuardSettings;
    use super::*;
    use crate::config::{Config, Revision};

    const SECOND: Duration = Duration::from_secs(1);
    const MB: u64 = 1_000_000;

    fn hosts(per_minute: usize) -> Hosts {
        let mut config = Config::of_revision(Revision::Two, "unused".into());
        config.webhooks.per_address_per_minute = per_minute;
        let allow = vec!["10.0.0.0/8".parse().expect("a network")];
        let guard = Guard::new(GuardSettings { allow, ..GuardSettings::default() });
        Hosts::new(Arc::new(Admission::new(&config)), Arc::new(guard), false)
    }

    fn host(last: u8) -> IpAddr {
        Ipv4Addr::new(198, 51, 100, last).into()
    }

    /// How many calls of so many octets are admitted in so many seconds.
    async fn calls(hosts: &Hosts, address: IpAddr, octets: u64, seconds: u32) -> usize {
        let mut admitted = 0;
        for _ in 0..seconds {
            while hosts.admit(address, octets).is_ok() {
                admitted += 1;
            }
            tokio::time::advance(SECOND).await;
        }
        admitted
    }

    #[tokio::test(start_paused = true)]
    async fn an_unproven_host_gets_few_calls_and_octets_in_any_minute() {
        let hosts = hosts(6_000);
        let first = calls(&hosts, host(1), 0, 60).await;
        assert!((115..=120).contains(&first), "{first} in the first minute");
        let later = calls(&hosts, host(1), 0, 60).await;
        assert!((95..=105).contains(&later), "{later} in the next one");
        for (octets, most) in [(MB / 2, 16), (5 * MB, 2)] {
            let admitted = calls(&hosts, host(octets.to_be_bytes()[6]), octets, 60).await;
            assert!(admitted <= most, "{admitted} of {octets}");
        }
        hosts.charge(host(4), 7 * MB);
        assert!(hosts.admit(host(4), 0).is_err(), "what was larger than its mail said");
    }

    /// A stranger can register URLs with every port of a host, and with every address of a network.
    #[tokio::test(start_paused = true)]
    async fn all_addresses_of_a_64_share_a_limit_and_a_network_has_four() {
        let hosts = hosts(6_000);
        let v6 = |subnet: u16, last: u16| IpAddr::from(Ipv6Addr::new(0x2001, 0xdb8, 7, subnet, 0, 0, 0, last));
        assert_eq!((0..1_000).filter(|last| hosts.admit(v6(0, *last), 0).is_ok()).count(), 20);
        assert_eq!((1..1_000).filter(|subnet| hosts.admit(v6(*subnet, 0), 0).is_ok()).count(), 60);
        let mapped = Ipv4Addr::new(198, 51, 100, 1).to_ipv6_mapped().into();
        assert_eq!((0..1_000).filter(|_| hosts.admit(mapped, 0).is_ok()).count(), 20);
        assert!(hosts.admit(host(1), 0).is_err(), "the same host");
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_is_proven_for_ten_minutes_after_a_2xx() {
        let hosts = hosts(60);
        hosts.prove(host(1));
        assert_eq!((0..100).filter(|_| hosts.admit(host(1), 0).is_ok()).count(), 60);
        assert!(hosts.admit(host(2), 0).is_ok(), "it has a limit of its own");
        tokio::time::advance(PROVEN_FOR).await;
        assert_eq!((0..100).filter(|_| hosts.admit(host(1), 0).is_ok()).count(), 20);
        hosts.prove(host(1));
        let admitted = (0..1_000).filter(|_| hosts.admit(host(1), 50 * MB).is_ok()).count();
        assert_eq!(admitted, 6, "256 MB and what goes beyond");
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_of_allowed_networks_have_no_limits() {
        let (mut hosts, own) = (hosts(1), IpAddr::from([10, 0, 0, 1]));
        assert!((0..1_000).all(|_| hosts.admit(own, MB).is_ok()));
        hosts.limits_allowed = true;
        assert_eq!((0..1_000).filter(|_| hosts.admit(own, 0).is_ok()).count(), 20);
    }
}
