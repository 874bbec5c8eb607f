//! Which endpoints may keep connections for their next event, so that all of them together keep a bounded number.
//!
//! Pure. An endpoint that finds no place has a connection of its own for each attempt until others have been quiet for a
//! while.

use std::collections::HashMap;
use std::time::Duration;

use super::target::Endpoint;

/// How long an unused connection is kept for the next event.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(10);
/// Unused connections that are kept of an endpoint.
pub(super) const IDLE_PER_ENDPOINT_MAX: usize = 4;
/// Endpoints that connections are kept of.
const ENDPOINTS_MAX: usize = 64;
/// Unused connections in all.
pub const IDLE_CONNECTIONS_MAX: usize = ENDPOINTS_MAX * IDLE_PER_ENDPOINT_MAX;
/// How long after an endpoint's last attempt a connection of it may still be open: the pool looks for those that are idle
/// for too long as often as they may be idle.
const QUIET_AFTER: Duration = IDLE_MAX.saturating_mul(2);

/// The endpoints that have a place.
#[derive(Debug, Default)]
pub(super) struct Kept {
    places: HashMap<Endpoint, Place>,
}

#[derive(Debug)]
struct Place {
    in_flight: usize,
    used_at: Duration,
}

impl Kept {
    /// Begins an attempt at `now`; whether its connection may be kept. If so, [`Kept::end`] must follow.
    pub(super) fn begin(&mut self, endpoint: &Endpoint, now: Duration) -> bool {
        if !self.places.contains_key(endpoint) && self.places.len() >= ENDPOINTS_MAX {
            self.places.retain(|_, place| place.in_flight > 0 || now.saturating_sub(place.used_at) <= QUIET_AFTER);
            if self.places.len() >= ENDPOINTS_MAX {
                return false;
            }
        }
        let place = self.places.entry(endpoint.clone()).or_insert(Place { in_flight: 0, used_at: now });
        place.in_flight += 1;
        true
    }

    /// Ends an attempt whose connection may be kept.
    pub(super) fn end(&mut self, endpoint: &Endpoint, now: Duration) {
        if let Some(place) = self.places.get_mut(endpoint) {
            place.in_flight = place.in_flight.saturating_sub(1);
            place.used_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::Target;
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn endpoint(number: usize) -> Endpoint {
        Target::parse(&format!("https://h{number}.example/")).expect("url").endpoint().clone()
    }

    #[test]
    fn an_endpoint_has_its_place_until_its_connections_are_gone() {
        let mut kept = Kept::default();
        for number in 0..ENDPOINTS_MAX {
            assert!(kept.begin(&endpoint(number), at(0)), "{number}");
        }
        let late = endpoint(ENDPOINTS_MAX);
        assert!(!kept.begin(&late, at(1000)), "attempts hang at all of them");
        assert!(kept.begin(&endpoint(0), at(1000)), "it has its place");
        kept.end(&endpoint(0), at(1001));
        assert!(!kept.begin(&late, at(1100)), "another attempt is in flight there");
        kept.end(&endpoint(0), at(1101));
        assert!(!kept.begin(&late, at(1121)), "its connections may still be there");
        assert!(kept.begin(&late, at(1122)));
        assert!(!kept.begin(&endpoint(0), at(1122)));
    }
}
