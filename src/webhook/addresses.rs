//! How often, and with how much, each address is called, whatever names lead there.
//!
//! Pure; `now` is an argument. An address that has answered no 2xx yet is on probation: one attempt at a time, a few a minute.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::call::Busy;

/// The span that calls are counted over.
const MINUTE: Duration = Duration::from_mins(1);
/// Attempts and octets a minute at an address on probation.
const UNPROVEN: Bound = Bound { attempts: 6, octets: 2 << 20 };
/// Octets a minute at any other address.
const OCTETS_MAX: u64 = 256 << 20;
/// How long an attempt waits at least while another is under way at an address on probation.
const TURN_PAUSE: Duration = Duration::from_secs(1);
/// Addresses that are remembered before others are forgotten. Those that are proven are when they were not called for
/// [`FORGOTTEN_AFTER`].
const ADDRESSES_MIN: usize = 1024;
const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// What an address may be sent in a minute: twice as much in the first one after a quiet one.
#[derive(Clone, Copy, Debug)]
struct Bound {
    attempts: u32,
    octets: u64,
}

/// An address and port that was called.
#[derive(Debug, Default)]
struct Address {
    is_proven: bool,
    in_flight: usize,
    /// Up to when its attempts, and its octets, take up time.
    attempts_until: Duration,
    octets_until: Duration,
    used_at: Duration,
}

impl Address {
    /// Whether forgetting it would change what it may be sent.
    fn matters(&self, now: Duration) -> bool {
        let is_charged = self.attempts_until.max(self.octets_until) > now;
        self.in_flight > 0 || is_charged || (self.is_proven && self.used_at + FORGOTTEN_AFTER > now)
    }
}

/// The addresses that are called.
#[derive(Debug)]
pub(super) struct Addresses {
    proven: Bound,
    has_probation: bool,
    known: HashMap<SocketAddr, Address>,
    sweep_from: usize,
}

impl Addresses {
    /// So many attempts a minute at an address that has answered a 2xx; 0 is taken as 1.
    /// Without a probation all count as if they had.
    pub(super) fn new(per_minute: usize, has_probation: bool) -> Self {
        let attempts = u32::try_from(per_minute).unwrap_or(u32::MAX).max(1);
        let proven = Bound { attempts, octets: OCTETS_MAX };
        Self { proven, has_probation, known: HashMap::new(), sweep_from: ADDRESSES_MIN }
    }

    /// Begins an attempt, or says when there may be one. It ends with [`Addresses::end`].
    pub(super) fn begin(&mut self, address: SocketAddr, now: Duration) -> Result<(), Busy> {
        if self.known.len() >= self.sweep_from {
            self.known.retain(|_, known| known.matters(now));
            self.sweep_from = (2 * self.known.len()).max(ADDRESSES_MIN);
        }
        let fresh = Address { is_proven: !self.has_probation, ..Address::default() };
        let known = self.known.entry(address).or_insert(fresh);
        let bound = if known.is_proven { self.proven } else { UNPROVEN };
        if !known.is_proven && known.in_flight > 0 {
            return Err(Busy { wait: TURN_PAUSE });
        }
        let price = MINUTE / bound.attempts;
        // The next attempt must fit, and the octets must have some room left: they are only known when they are sent.
        let free_at = (known.attempts_until + price).max(known.octets_until);
        if let Some(wait) = free_at.checked_sub(now + MINUTE).filter(|wait| !wait.is_zero()) {
            return Err(Busy { wait });
        }
        known.attempts_until = known.attempts_until.max(now) + price;
        known.in_flight += 1;
        known.used_at = now;
        Ok(())
    }

    /// Notes that an attempt that has begun sends so many octets.
    pub(super) fn send(&mut self, address: SocketAddr, octets: usize, now: Duration) {
        let Some(known) = self.known.get_mut(&address) else { return };
        let bound = if known.is_proven { self.proven } else { UNPROVEN };
        let nanos = u128::from(octets as u64) * MINUTE.as_nanos() / u128::from(bound.octets);
        let taken = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        known.octets_until = known.octets_until.max(now) + taken;
    }

    /// Notes that an attempt was answered with a 2xx. What the address was charged on probation counts no more.
    pub(super) fn prove(&mut self, address: SocketAddr) {
        if let Some(known) = self.known.get_mut(&address).filter(|known| !known.is_proven) {
            *known =
                Address { is_proven: true, in_flight: known.in_flight, used_at: known.used_at, ..Address::default() };
        }
    }

    /// Ends an attempt.
    pub(super) fn end(&mut self, address: SocketAddr) {
        if let Some(known) = self.known.get_mut(&address) {
            known.in_flight = known.in_flight.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1000);
    const SECOND: Duration = Duration::from_secs(1);
    const MB: usize = 1 << 20;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    /// How many attempts with bodies of so many octets there are in so many seconds, one after another.
    fn attempts(addresses: &mut Addresses, octets: usize, from: Duration, seconds: u32) -> usize {
        let begins = |second: u32| {
            let now = from + SECOND * second;
            let mut begun = 0;
            while addresses.begin(address(80), now).is_ok() {
                addresses.send(address(80), octets, now);
                addresses.end(address(80));
                begun += 1;
            }
            begun
        };
        (0..seconds).map(begins).sum()
    }

    #[test]
    fn an_address_on_probation_has_one_attempt_at_a_time_and_few_a_minute() {
        let mut addresses = Addresses::new(6_000, true);
        assert_eq!(addresses.begin(address(80), NOW), Ok(()));
        assert_eq!(addresses.begin(address(80), NOW), Err(Busy { wait: SECOND }));
        assert_eq!(addresses.begin(address(81), NOW), Ok(()), "another port is another address");
        addresses.end(address(80));
        assert_eq!(attempts(&mut addresses, 0, NOW, 1), 5);
        assert_eq!(addresses.begin(address(80), NOW), Err(Busy { wait: Duration::from_secs(10) }));
        assert_eq!(attempts(&mut addresses, 0, NOW + SECOND, 600), 60, "an even pace from then on");
    }

    #[test]
    fn an_address_on_probation_is_sent_few_octets_a_minute() {
        let mut addresses = Addresses::new(6_000, true);
        assert_eq!(attempts(&mut addresses, MB / 2, NOW, 1), 5, "2 MB and a body");
        let more = attempts(&mut addresses, MB / 2, NOW + SECOND, 600);
        assert!((39..=40).contains(&more), "{more}: 2 MB a minute");
        let wait = addresses.begin(address(80), NOW + 600 * SECOND).map_err(|busy| busy.wait > Duration::ZERO);
        assert_eq!(wait, Err(true));
    }

    #[test]
    fn a_proven_address_has_its_bounds_in_attempts_and_octets() {
        let mut addresses = Addresses::new(60, true);
        assert_eq!(attempts(&mut addresses, 0, NOW, 1), 6);
        addresses.prove(address(80));
        assert_eq!(attempts(&mut addresses, 0, NOW, 1), 60);
        assert_eq!(attempts(&mut addresses, 0, NOW + SECOND, 60), 60);
        let mut addresses = Addresses::new(1_000_000, false);
        assert_eq!(attempts(&mut addresses, MB, NOW, 1), 257, "256 MB and a body");
        let more = attempts(&mut addresses, MB, NOW + SECOND, 60);
        assert!((255..=257).contains(&more), "{more}: 256 MB a minute");
        assert!(addresses.begin(address(80), NOW + SECOND).is_err());
    }

    /// With as many others as make it forget, an address was sent as much as it could take.
    #[test]
    fn what_an_address_has_been_sent_is_remembered_as_long_as_it_counts() {
        let mut addresses = Addresses::new(1, true);
        addresses.begin(address(80), NOW).expect("a turn");
        addresses.send(address(80), 60 * MB, NOW);
        addresses.end(address(80));
        let later = NOW + FORGOTTEN_AFTER + MINUTE;
        for port in 1_000..3_000 {
            addresses.begin(address(port), later).expect("a turn");
            addresses.end(address(port));
        }
        assert!(addresses.begin(address(80), later).is_err());
    }

    #[test]
    fn addresses_that_were_not_called_for_long_are_forgotten() {
        let mut addresses = Addresses::new(1, true);
        for port in 0..5000 {
            let now = NOW + FORGOTTEN_AFTER * 2 * u32::from(port / 1000);
            addresses.begin(address(port), now).expect("a turn");
            addresses.end(address(port));
        }
        assert!(addresses.known.len() <= 2 * ADDRESSES_MIN, "{}", addresses.known.len());
    }
}
