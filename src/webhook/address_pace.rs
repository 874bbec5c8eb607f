//! How often an address may be called: any number of names, each with a share of its own, can lead to the same one.
//!
//! Pure; `now` is an argument.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

/// The span that calls are counted over.
const MINUTE: Duration = Duration::from_mins(1);
/// Addresses that are remembered before those are looked for that need not be.
const ADDRESSES_MIN: usize = 1024;

/// Calls at each address and port: after a quiet minute as many as a minute has, then at an even pace.
#[derive(Debug)]
pub(super) struct AddressPace {
    /// Of the span; what a call takes up of it.
    price: Duration,
    /// Up to when the calls of each address take up time.
    taken_until: HashMap<SocketAddr, Duration>,
    sweep_from: usize,
}

impl AddressPace {
    /// So many a minute; 0 is taken as 1.
    pub(super) fn new(per_minute: usize) -> Self {
        let price = MINUTE / u32::try_from(per_minute).unwrap_or(u32::MAX).max(1);
        Self { price, taken_until: HashMap::new(), sweep_from: ADDRESSES_MIN }
    }

    /// How long to wait before `address` may be called; `None` if it may be at `now`.
    pub(super) fn wait(&self, address: SocketAddr, now: Duration) -> Option<Duration> {
        let until = self.taken_until.get(&address)?.saturating_add(self.price);
        until.checked_sub(now + MINUTE).filter(|wait| !wait.is_zero())
    }

    /// Notes a call at `now`.
    pub(super) fn note(&mut self, address: SocketAddr, now: Duration) {
        if self.taken_until.len() >= self.sweep_from {
            self.taken_until.retain(|_, until| *until > now);
            self.sweep_from = (2 * self.taken_until.len()).max(ADDRESSES_MIN);
        }
        let until = self.taken_until.entry(address).or_default();
        *until = (*until).max(now) + self.price;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    fn address(last: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, last], port))
    }

    #[test]
    fn an_address_has_a_minutes_share_at_once_and_then_an_even_pace() {
        let mut pace = AddressPace::new(60);
        for _ in 0..60 {
            assert_eq!(pace.wait(address(1, 80), NOW), None);
            pace.note(address(1, 80), NOW);
        }
        assert_eq!(pace.wait(address(1, 80), NOW), Some(Duration::from_secs(1)));
        assert_eq!((pace.wait(address(1, 81), NOW), pace.wait(address(2, 80), NOW)), (None, None));
        let later = NOW + Duration::from_secs(1);
        assert_eq!(pace.wait(address(1, 80), later), None);
        pace.note(address(1, 80), later);
        assert_eq!(pace.wait(address(1, 80), later), Some(Duration::from_secs(1)));
        assert_eq!(pace.wait(address(1, 80), later + MINUTE), None);
    }

    #[test]
    fn addresses_that_have_their_whole_share_again_are_forgotten() {
        let mut pace = AddressPace::new(1);
        for port in 0..5000 {
            pace.note(address(1, port), NOW + 2 * MINUTE * u32::from(port / 1000));
        }
        assert!(pace.taken_until.len() <= 2 * ADDRESSES_MIN, "{}", pace.taken_until.len());
    }
}
