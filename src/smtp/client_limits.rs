//! Who is let in: connections at once by address and by network, and new ones per minute.
//!
//! Pure: `now` is an argument, time since some fixed point that never jumps. The tables have an entry for who has a
//! connection, and for a bounded number of addresses that had one within the last minute.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ipnet::IpNet;

use super::holdings::{Holdings, Whose, network_of};
use super::metrics::Bound;

const MINUTE: Duration = Duration::from_secs(60);
/// How many addresses without a connection are remembered for their rate. Beyond that all of these are forgotten: whoever
/// has so many addresses is not held by a bound on each of them.
const REMEMBERED_MAX: usize = 65_536;
/// How many there are at least before those that need not be remembered are looked for.
const SWEEP_AT_LEAST: usize = 1024;

/// How many connections a client may have and make.
#[derive(Clone, Debug)]
pub(super) struct AdmissionLimits {
    /// At once from one address.
    pub(super) per_address_max: usize,
    /// At once from one network: /24 of IPv4, /64 of IPv6.
    pub(super) per_network_max: usize,
    /// New ones in a minute, from an address of IPv4 or a network of IPv6, in which a host has every address. As many may
    /// come at once, and then as many in a minute.
    pub(super) per_minute_max: usize,
    /// Networks without any of these limits.
    pub(super) exempt: Vec<IpNet>,
}

/// What is known of the clients.
#[derive(Debug)]
pub(super) struct Admission {
    limits: AdmissionLimits,
    tables: Mutex<Tables>,
}

#[derive(Debug)]
struct Tables {
    /// Connections.
    open: Holdings,
    /// By whose rate it is: until when the connections so far are paid for, at the rate of a minute.
    paid_until: HashMap<IpAddr, Duration>,
    /// How large `paid_until` may grow before it is swept.
    sweep_at: usize,
}

/// A connection that was let in; its place is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Place(Option<(Arc<Admission>, IpAddr)>);

impl Place {
    /// A place that nobody counts.
    pub(super) const fn uncounted() -> Self {
        Self(None)
    }

    /// Whose it is, for whatever else the client may have a part of only; `None` for one that no limit holds for.
    pub(super) fn holder(&self) -> Option<IpAddr> {
        self.0.as_ref().map(|(_, client)| *client)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((admission, client)) = self.0.take() {
            admission.leave(client);
        }
    }
}

impl Admission {
    pub(super) fn new(limits: AdmissionLimits) -> Self {
        let open = Holdings::new(limits.per_address_max as u64, limits.per_network_max as u64);
        let tables = Tables { open, paid_until: HashMap::new(), sweep_at: SWEEP_AT_LEAST };
        Self { limits, tables: Mutex::new(tables) }
    }

    /// Lets a client in at `now`; the error is the limit that is reached. Who is turned away for having too many
    /// connections has made one all the same.
    pub(super) fn enter(self: &Arc<Self>, client: IpAddr, now: Duration) -> Result<Place, Bound> {
        let client = client.to_canonical();
        if self.limits.exempt.iter().any(|network| network.contains(&client)) {
            return Ok(Place::uncounted());
        }
        let mut tables = self.tables();
        self.pay(&mut tables, client, now)?;
        tables.open.take(client, 1).map_err(|whose| match whose {
            Whose::Address => Bound::Address,
            Whose::Network => Bound::Network,
        })?;
        Ok(Place(Some((Arc::clone(self), client))))
    }

    /// Counts a new connection, unless there were too many.
    fn pay(&self, tables: &mut Tables, client: IpAddr, now: Duration) -> Result<(), Bound> {
        let payer = if client.is_ipv6() { network_of(client) } else { client };
        if tables.paid_until.len() >= tables.sweep_at {
            tables.sweep(now);
        }
        let price = MINUTE / u32::try_from(self.limits.per_minute_max).unwrap_or(u32::MAX).max(1);
        let paid_until = tables.paid_until.get(&payer).map_or(now, |until| (*until).max(now)) + price;
        if paid_until > now + MINUTE {
            return Err(Bound::Minute);
        }
        tables.paid_until.insert(payer, paid_until);
        Ok(())
    }

    fn leave(&self, client: IpAddr) {
        self.tables().open.give_back(client, 1);
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    /// Forgets whose connections are paid for by now, and all if these were too few. What is left doubles before it is
    /// looked through again, so that a connection costs the same however many there are.
    fn sweep(&mut self, now: Duration) {
        self.paid_until.retain(|_, until| *until > now);
        if self.paid_until.len() >= REMEMBERED_MAX {
            self.paid_until.clear();
        }
        self.sweep_at = (self.paid_until.len() * 2).clamp(SWEEP_AT_LEAST, REMEMBERED_MAX);
        self.paid_until.shrink_to(self.sweep_at);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    fn admission(per_address_max: usize, per_network_max: usize, per_minute_max: usize) -> Arc<Admission> {
        let exempt = vec!["127.0.0.0/8".parse().expect("network"), "::1/128".parse().expect("network")];
        Arc::new(Admission::new(AdmissionLimits { per_address_max, per_network_max, per_minute_max, exempt }))
    }

    fn at(text: &str) -> IpAddr {
        text.parse().expect("address")
    }

    fn is_empty(admission: &Admission) -> bool {
        admission.tables().open.is_empty()
    }

    #[test]
    fn an_address_and_a_network_have_so_many_places_and_get_them_back() {
        for (clients, refusal) in [
            (&["192.0.2.1", "192.0.2.1", "192.0.2.1"][..], Some(Bound::Address)),
            (&["192.0.2.1", "192.0.2.1", "192.0.2.2"], None),
            (&["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.255"], Some(Bound::Network)),
            (&["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.3.1"], None),
            (&["192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"], Some(Bound::Address)),
            (&["2001:db8::1", "2001:db8::1", "2001:db8::1"], Some(Bound::Address)),
            (&["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::ffff:0:0:1"], Some(Bound::Network)),
            (&["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"], None),
            (&["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"], None),
            (&["::1", "::1", "::1", "::1", "::ffff:127.0.0.1"], None),
        ] {
            let admission = admission(2, 3, 1000);
            let mut entered: Vec<_> = clients.iter().map(|client| admission.enter(at(client), NOW)).collect();
            let last = entered.pop().expect("a client");
            assert!(entered.iter().all(Result::is_ok), "{clients:?}");
            assert_eq!(last.as_ref().err().copied(), refusal, "{clients:?}");
            drop((entered, last));
            assert!(is_empty(&admission), "{clients:?}");
            assert!(admission.enter(at(clients[0]), NOW).is_ok(), "{clients:?}");
        }
    }

    #[test]
    fn a_minute_has_so_many_new_connections() {
        let admission = admission(10, 10, 6);
        let enter =
            |client: &str, seconds: u64| admission.enter(at(client), NOW + Duration::from_secs(seconds)).is_ok();
        for _ in 0..6 {
            assert!(enter("192.0.2.1", 0));
        }
        assert!(!enter("192.0.2.1", 0));
        assert!(enter("192.0.2.2", 0), "another address has its own");
        assert!(!enter("192.0.2.1", 9));
        assert!(enter("192.0.2.1", 10), "one each ten seconds from then on");
        assert!(!enter("192.0.2.1", 10));
        for _ in 0..6 {
            assert!(enter("192.0.2.1", 100));
        }
        assert!(!enter("192.0.2.1", 100));
    }

    #[test]
    fn a_host_has_the_rate_of_its_network_in_ipv6() {
        let admission = admission(10, 10, 2);
        assert!(admission.enter(at("2001:db8::1"), NOW).is_ok());
        assert!(admission.enter(at("2001:db8::2"), NOW).is_ok());
        assert_eq!(admission.enter(at("2001:db8::3"), NOW).err(), Some(Bound::Minute));
        assert!(admission.enter(at("2001:db8:0:1::1"), NOW).is_ok());
    }

    #[test]
    fn however_many_addresses_come_a_bounded_number_is_remembered() {
        let admission = admission(2, 1000, 1);
        let mut most = 0;
        for number in 0..200_000_u32 {
            let client = IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number));
            drop(admission.enter(client, NOW));
            most = most.max(admission.tables().paid_until.len());
        }
        assert!(most <= REMEMBERED_MAX, "{most}");
        assert!(is_empty(&admission));
        // A minute later nobody need be remembered.
        for number in 0..SWEEP_AT_LEAST + REMEMBERED_MAX {
            let client = Ipv4Addr::from_bits(0x0b00_0000 + u32::try_from(number).expect("a small number"));
            drop(admission.enter(IpAddr::V4(client), NOW + MINUTE * 2 * u32::from(number >= REMEMBERED_MAX)));
        }
        assert!(admission.tables().paid_until.len() <= 2 * SWEEP_AT_LEAST, "{}", admission.tables().paid_until.len());
    }

    #[test]
    fn however_many_come_nobody_who_is_ahead_of_the_rate_is_forgotten() {
        let admission = admission(2, 1000, 1);
        let enter = |client: u32, now| admission.enter(IpAddr::V4(Ipv4Addr::from_bits(client)), now).is_ok();
        assert!(enter(0x0a00_0000, NOW));
        for number in 1..=2 * u32::try_from(SWEEP_AT_LEAST).expect("a small number") {
            enter(0x0a00_0000 + number, NOW);
        }
        assert!(!enter(0x0a00_0000, NOW));
        assert!(enter(0x0a00_0000, NOW + MINUTE));
    }
}
