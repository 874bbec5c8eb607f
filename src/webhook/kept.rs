//! The connections that are kept for the next event: so many of an endpoint, so many in all, for so long.
//!
//! Pure; a connection is whatever the caller keeps.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::target::Endpoint;

/// How long an unused connection is kept for the next event.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(10);
/// Unused connections that are kept of an endpoint.
const IDLE_PER_ENDPOINT_MAX: usize = 4;
/// Unused connections in all. Where there is one more, the one goes that was unused for longest.
pub const IDLE_CONNECTIONS_MAX: usize = 256;

/// Endpoints that are remembered: all that have an unused connection, and as many that had one.
const ENDPOINTS_MAX: usize = 2 * IDLE_CONNECTIONS_MAX;

/// Connections that nobody uses.
#[derive(Debug)]
pub(super) struct Kept<C> {
    /// Of each endpoint those that are unused for longest first. One that has none left stays for a while: most have some
    /// again soon.
    by_endpoint: HashMap<Endpoint, VecDeque<Unused<C>>>,
    count: usize,
}

#[derive(Debug)]
struct Unused<C> {
    since: Duration,
    connection: C,
}

impl<C> Default for Kept<C> {
    fn default() -> Self {
        Self { by_endpoint: HashMap::new(), count: 0 }
    }
}

impl<C> Kept<C> {
    /// The connection to `endpoint` that was used last, unless that is too long ago at `now`.
    pub(super) fn take(&mut self, endpoint: &Endpoint, now: Duration) -> Option<C> {
        let of_endpoint = self.by_endpoint.get_mut(endpoint)?;
        let taken = of_endpoint.pop_back_if(|unused| !unused.is_over(now))?;
        self.count -= 1;
        Some(taken.connection)
    }

    /// Keeps a connection that is unused from `now` on; one that is dropped for it, if there is.
    pub(super) fn put(&mut self, endpoint: &Endpoint, connection: C, now: Duration) -> Option<C> {
        let unused = Unused { since: now, connection };
        let mut dropped = None;
        if let Some(of_endpoint) = self.by_endpoint.get_mut(endpoint) {
            if of_endpoint.len() >= IDLE_PER_ENDPOINT_MAX {
                dropped = of_endpoint.pop_front();
            }
            of_endpoint.push_back(unused);
        } else {
            if self.by_endpoint.len() >= ENDPOINTS_MAX {
                self.by_endpoint.retain(|_, of_endpoint| !of_endpoint.is_empty());
            }
            self.by_endpoint.insert(endpoint.clone(), VecDeque::from([unused]));
        }
        self.count += 1 - usize::from(dropped.is_some());
        if self.count > IDLE_CONNECTIONS_MAX {
            dropped = self.drop_oldest();
        }
        dropped.map(|unused| unused.connection)
    }

    fn drop_oldest(&mut self) -> Option<Unused<C>> {
        let since = |of_endpoint: &&mut VecDeque<Unused<C>>| of_endpoint.front().map(|unused| unused.since);
        let some = self.by_endpoint.values_mut().filter(|of_endpoint| !of_endpoint.is_empty());
        let dropped = some.min_by_key(since)?.pop_front()?;
        self.count -= 1;
        Some(dropped)
    }

    /// Takes out the connections that are unused for too long at `now`, and forgets endpoints that have none left.
    pub(super) fn expire(&mut self, now: Duration) -> Vec<C> {
        let mut expired = Vec::new();
        self.by_endpoint.retain(|_, of_endpoint| {
            while let Some(unused) = of_endpoint.pop_front_if(|unused| unused.is_over(now)) {
                expired.push(unused.connection);
            }
            !of_endpoint.is_empty()
        });
        self.count -= expired.len();
        expired
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<C> Unused<C> {
    fn is_over(&self, now: Duration) -> bool {
        now.saturating_sub(self.since) >= IDLE_MAX
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
    fn the_connection_that_was_used_last_is_used_first_until_it_is_too_old() {
        let mut kept = Kept::default();
        for (number, now) in [(1, at(0)), (2, at(1)), (3, at(2))] {
            assert_eq!(kept.put(&endpoint(0), number, now), None);
        }
        assert_eq!(kept.take(&endpoint(1), at(2)), None, "another endpoint's");
        assert_eq!(kept.take(&endpoint(0), at(3)), Some(3));
        assert_eq!(kept.take(&endpoint(0), at(11)), None, "2 is unused for ten seconds");
        assert_eq!(kept.expire(at(10)), [1]);
        assert_eq!(kept.expire(at(11)), [2]);
        assert!(kept.is_empty() && kept.by_endpoint.is_empty());
    }

    #[test]
    fn an_endpoint_keeps_four_and_all_keep_256() {
        let mut kept = Kept::default();
        for number in 0..IDLE_PER_ENDPOINT_MAX {
            assert_eq!(kept.put(&endpoint(0), number, at(0)), None);
        }
        assert_eq!(kept.put(&endpoint(0), 4, at(1)), Some(0));
        for number in IDLE_PER_ENDPOINT_MAX..IDLE_CONNECTIONS_MAX {
            assert_eq!(kept.put(&endpoint(number), number, at(2)), None, "{number}");
        }
        for first in [1, 2, 3, 4] {
            assert_eq!(kept.put(&endpoint(999 + first), 0, at(3)), Some(first));
        }
        assert_eq!(kept.take(&endpoint(0), at(3)), None);
        assert_eq!(kept.by_endpoint.values().map(VecDeque::len).sum::<usize>(), IDLE_CONNECTIONS_MAX);
        for number in 0..4 * ENDPOINTS_MAX {
            kept.put(&endpoint(number), number, at(4));
            assert!(kept.by_endpoint.len() <= ENDPOINTS_MAX, "{number}");
        }
        assert_eq!(kept.expire(at(100)).len(), IDLE_CONNECTIONS_MAX);
        assert!(kept.is_empty());
    }
}
