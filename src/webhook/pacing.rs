//! Whose turn it is: fair order between endpoints, and bounds on what one of them and all of them get at once.
//!
//! Pure and in memory; `now` is an argument. Adding, taking and finishing cost the same however much is queued; what is
//! queued is the caller's to bound.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use super::target::Endpoint;

/// The span that [`PacingLimits::per_minute`] is counted over.
const MINUTE: Duration = Duration::from_mins(1);

/// What is permitted at once. A bound of 0 is taken as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingLimits {
    /// Attempts in flight at one endpoint.
    pub in_flight_per_endpoint: usize,
    /// Attempts in flight in all.
    pub in_flight: usize,
    /// Attempts started at one endpoint within any 60 s.
    pub per_minute: usize,
}

impl Default for PacingLimits {
    /// 4 at one endpoint, 256 in all, 1,200 per endpoint and minute.
    fn default() -> Self {
        Self { in_flight_per_endpoint: 4, in_flight: 256, per_minute: 1200 }
    }
}

/// Queues of items, one per endpoint, from which turns are taken in rotation.
///
/// Each item that [`Lanes::next`] gives out is in flight until [`Lanes::done`] is called for its endpoint, once.
#[derive(Debug)]
pub struct Lanes<T> {
    limits: PacingLimits,
    by_endpoint: HashMap<Endpoint, Lane<T>>,
    /// Endpoints that may have a turn, in the order of their turns. A lane stands here at most once.
    ready: VecDeque<Endpoint>,
    /// Endpoints that have had their minute's share, by when they may have the next turn. A lane stands here at most once,
    /// and never here and in `ready`.
    resting: BinaryHeap<Reverse<(Duration, Endpoint)>>,
    in_flight: usize,
    queued: usize,
    swept_at: Duration,
}

#[derive(Debug)]
struct Lane<T> {
    queue: VecDeque<T>,
    in_flight: usize,
    /// When the attempts of the last minute were started, at most `per_minute`.
    starts: VecDeque<Duration>,
    /// It stands in `ready` or in `resting`. Its queue is not empty then.
    is_listed: bool,
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), in_flight: 0, starts: VecDeque::new(), is_listed: false }
    }
}

impl<T> Lanes<T> {
    /// No lane at all.
    pub fn new(limits: PacingLimits) -> Self {
        let limits = PacingLimits {
            in_flight_per_endpoint: limits.in_flight_per_endpoint.max(1),
            in_flight: limits.in_flight.max(1),
            per_minute: limits.per_minute.max(1),
        };
        Self {
            limits,
            by_endpoint: HashMap::new(),
            ready: VecDeque::new(),
            resting: BinaryHeap::new(),
            in_flight: 0,
            queued: 0,
            swept_at: Duration::ZERO,
        }
    }

    /// Queues an item behind those of the same endpoint.
    pub fn add(&mut self, endpoint: Endpoint, item: T) {
        let lane = self.by_endpoint.entry(endpoint.clone()).or_default();
        lane.queue.push_back(item);
        self.queued += 1;
        if !lane.is_listed && lane.in_flight < self.limits.in_flight_per_endpoint {
            lane.is_listed = true;
            self.ready.push_back(endpoint);
        }
    }

    /// The next item whose turn it is at `now`, a time since some fixed point that never goes back; `None` if every item
    /// waits for [`Lanes::done`] or for [`Lanes::wakes_at`].
    pub fn next(&mut self, now: Duration) -> Option<(Endpoint, T)> {
        self.sweep(now);
        self.wake(now);
        if self.in_flight >= self.limits.in_flight {
            return None;
        }
        while let Some(endpoint) = self.ready.pop_front() {
            let Some(lane) = self.by_endpoint.get_mut(&endpoint) else { continue };
            lane.is_listed = false;
            if let Some(until) = lane.rests_until(now, self.limits.per_minute) {
                lane.is_listed = true;
                self.resting.push(Reverse((until, endpoint)));
                continue;
            }
            let Some(item) = lane.queue.pop_front() else { continue };
            lane.in_flight += 1;
            lane.starts.push_back(now);
            if !lane.queue.is_empty() && lane.in_flight < self.limits.in_flight_per_endpoint {
                lane.is_listed = true;
                self.ready.push_back(endpoint.clone());
            }
            self.in_flight += 1;
            self.queued -= 1;
            return Some((endpoint, item));
        }
        None
    }

    /// An attempt at `endpoint` is over.
    pub fn done(&mut self, endpoint: &Endpoint) {
        let Some(lane) = self.by_endpoint.get_mut(endpoint) else { return };
        if lane.in_flight == 0 {
            return;
        }
        lane.in_flight -= 1;
        self.in_flight -= 1;
        if !lane.is_listed && !lane.queue.is_empty() {
            lane.is_listed = true;
            self.ready.push_back(endpoint.clone());
        }
    }

    /// When [`Lanes::next`] may have an item although nothing is added or done; `None` if it has to be one of these.
    pub fn wakes_at(&self) -> Option<Duration> {
        self.resting.peek().map(|Reverse((until, _))| *until)
    }

    /// How many items are queued for `endpoint`, without those in flight.
    pub fn queued_at(&self, endpoint: &Endpoint) -> usize {
        self.by_endpoint.get(endpoint).map_or(0, |lane| lane.queue.len())
    }

    /// How many items are queued in all, without those in flight.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// How many attempts are in flight in all.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// How many endpoints are remembered: those with items, in flight, or called within the last two minutes.
    pub fn endpoints(&self) -> usize {
        self.by_endpoint.len()
    }

    fn wake(&mut self, now: Duration) {
        while self.resting.peek().is_some_and(|Reverse((until, _))| *until <= now) {
            if let Some(Reverse((_, endpoint))) = self.resting.pop() {
                self.ready.push_back(endpoint);
            }
        }
    }

    /// Forgets, once a minute, the endpoints that have nothing to do and were not called within the last one. Not sooner:
    /// else an endpoint could have its share again by emptying its queue.
    fn sweep(&mut self, now: Duration) {
        if now.saturating_sub(self.swept_at) < MINUTE {
            return;
        }
        self.swept_at = now;
        self.by_endpoint.retain(|_, lane| {
            let is_recent = lane.starts.back().is_some_and(|start| *start + MINUTE > now);
            !lane.queue.is_empty() || lane.in_flight > 0 || is_recent
        });
    }
}

impl<T> Lane<T> {
    /// Until when the endpoint has had its share; `None` if it may be called at `now`.
    fn rests_until(&mut self, now: Duration, per_minute: usize) -> Option<Duration> {
        while self.starts.front().is_some_and(|start| *start + MINUTE <= now) {
            self.starts.pop_front();
        }
        if self.starts.len() < per_minute { None } else { self.starts.front().map(|start| *start + MINUTE) }
    }
}

#[cfg(test)]
mod tests;
