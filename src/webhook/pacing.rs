//! Whose turn it is: fair order between endpoints, and bounds on what one of them and all of them get at once.
//!
//! An endpoint is prompt once it has taken several events in time, until it leaves an attempt hanging: for more than a
//! second, which counts from that second on and not when the attempt ends. All that are not prompt (they hang, or nothing is
//! known of them) have one turn each and half of the places in all, those that hang half of these; and the prompt ones never
//! take more than half of the places that are left, so that those that turn out to hang leave some to the others
//! (`pacing/places.rs`). An endpoint that fails several times running rests between its attempts.
//!
//! What was told and not noted is told again after a crash. So an attempt counts as one of its endpoint's until it is noted,
//! and only one in a hundred of the events that the endpoint took may go beyond that: after a crash it is told no more than
//! these again, however slow the disk is.
//!
//! Pure and in memory; `now` is an argument. Adding, taking and finishing cost the same however much is queued, and the
//! logarithm of what is in flight; what is queued is the caller's to bound.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use slab::Slab;

use super::target::Endpoint;
use crate::model::WebhookId;

mod places;
mod rotation;
mod standing;

pub use places::Place;
use places::Places;
use rotation::Rotation;
use standing::{Class, Standing};
pub use standing::{End, Known};

/// For each so many events that an endpoint took, one more may be told that is not noted, beyond those that may be in flight.
const TAKEN_PER_UNNOTED: usize = 100;
/// The most of these.
const UNNOTED_BEYOND_MAX: usize = 128;
/// The span that [`PacingLimits::per_minute`] is counted over.
const MINUTE: Duration = Duration::from_mins(1);

/// What is permitted at once. A bound of 0 is taken as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingLimits {
    /// Attempts in flight at one endpoint that is prompt; at one that is not, or is thought so from its past alone, 1. At any of
    /// them as many may be in flight or not noted, before it took any.
    pub in_flight_per_endpoint: usize,
    /// Attempts in flight in all; of those half (at least 1) at endpoints that are prompt, and half at those that are not.
    pub in_flight: usize,
    /// Attempts started at one endpoint within any 60 s.
    pub per_minute: usize,
}

impl PacingLimits {
    /// [`PacingLimits::in_flight_per_endpoint`] unless there is a reason for another.
    pub const IN_FLIGHT_PER_ENDPOINT: usize = 4;
}

/// Queues of items, one per endpoint and in it one per webhook, from which turns are taken in rotation.
///
/// Each item that [`Lanes::next`] gives out is in flight until its place is given to [`Lanes::over`] or [`Lanes::done`].
#[derive(Debug)]
pub struct Lanes<T> {
    limits: PacingLimits,
    /// A number is given to another lane only once its own is forgotten, and none is forgotten that is listed or of which
    /// something is in flight or not noted: so no ticket, place or note outlives its lane.
    by_number: Slab<Lane<T>>,
    /// The number of each endpoint's lane.
    lane_numbers: HashMap<Endpoint, LaneNumber>,
    /// Lanes that may have a turn, in the order of their turns, by their class. One stands in one of the queues at most, and
    /// there once.
    ready: [VecDeque<Ticket>; Class::COUNT],
    /// The number of the next ticket: by these the queues make one order.
    next_ticket: u64,
    /// Lanes that have had their minute's share or rest after failures, by when they may have the next turn. One stands here
    /// at most once, and never here and in `ready`.
    resting: BinaryHeap<Reverse<(Duration, LaneNumber)>>,
    places: Places,
    queued: usize,
    /// Since the last note began, an endpoint had no turn only because of what is not noted. It may have one again by now.
    wants_note: bool,
    swept_at: Duration,
}

/// The place of a lane in [`Lanes`].
type LaneNumber = usize;

/// A place in the order of turns.
#[derive(Debug)]
struct Ticket {
    number: u64,
    lane: LaneNumber,
}

/// An attempt that is over, until that is noted: [`Lanes::noted`] is told.
#[derive(Debug)]
#[must_use = "its endpoint waits until it is noted"]
pub struct Unnoted {
    lane: LaneNumber,
}

#[derive(Debug)]
struct Lane<T> {
    queue: Rotation<T>,
    in_flight: usize,
    /// Attempts that are over, but not noted.
    unnoted: usize,
    /// Events that were taken and noted as such since it is remembered.
    taken: usize,
    standing: Standing,
    /// When the attempts of the last minute were started, at most `per_minute`.
    starts: VecDeque<Duration>,
    /// It stands in `ready` or in `resting`. Its queue is not empty then.
    is_listed: bool,
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
            by_number: Slab::new(),
            lane_numbers: HashMap::new(),
            ready: Default::default(),
            next_ticket: 0,
            resting: BinaryHeap::new(),
            places: Places::new(limits.in_flight),
            queued: 0,
            wants_note: false,
            swept_at: Duration::ZERO,
        }
    }

    /// Queues items behind those of the same endpoint and webhook. `known` is what is known of an endpoint that is not
    /// remembered.
    pub fn add(
        &mut self,
        endpoint: Endpoint,
        webhook: WebhookId,
        known: Known,
        items: impl IntoIterator<Item = T>,
        now: Duration,
    ) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            return;
        }
        let lane_number =
            *self.lane_numbers.entry(endpoint).or_insert_with(|| self.by_number.insert(Lane::of(known, now)));
        let queue = &mut self.by_number[lane_number].queue;
        let before = queue.len();
        queue.extend(webhook, items);
        self.queued += queue.len() - before;
        self.list(lane_number);
    }

    /// The next item whose turn it is at `now`, a time since some fixed point that never goes back; `None` if every item
    /// waits for what is in flight or not noted or for [`Lanes::wakes_at`].
    pub fn next(&mut self, now: Duration) -> Option<(Place, T)> {
        self.sweep(now);
        self.note_hanging(now);
        self.wake(now);
        while let Some((class, lane_number)) = self.pop_turn() {
            let lane = &mut self.by_number[lane_number];
            lane.is_listed = false;
            let is_free = lane.in_flight < lane.standing.slots(&self.limits) && lane.may_tell(&self.limits);
            if lane.standing.class() != class || !is_free {
                // Its standing has changed since it was put there.
                self.list(lane_number);
                continue;
            }
            if let Some(until) = lane.rests_until(now, self.limits.per_minute) {
                lane.is_listed = true;
                self.resting.push(Reverse((until, lane_number)));
                continue;
            }
            let Some(item) = lane.queue.pop() else { continue };
            lane.in_flight += 1;
            lane.starts.push_back(now);
            self.queued -= 1;
            self.list(lane_number);
            return Some((self.places.take(lane_number, class, now), item));
        }
        None
    }

    /// The attempt in `place` is over at `now`; `end` is `None` if the endpoint was not called.
    pub fn over(&mut self, place: Place, end: Option<End>, now: Duration) -> Unnoted {
        let lane_number = place.lane();
        let lane = &mut self.by_number[lane_number];
        if self.places.give_back(&place) {
            lane.standing.note_over();
        }
        lane.in_flight -= 1;
        lane.unnoted += 1;
        match end {
            Some(end) => lane.standing.note(end, now),
            None => lane.forget_start(place.started_at()),
        }
        self.list(lane_number);
        Unnoted { lane: lane_number }
    }

    /// An attempt is noted; `is_taken` says whether the event was.
    pub fn noted(&mut self, attempt: Unnoted, is_taken: bool) {
        let lane = &mut self.by_number[attempt.lane];
        lane.unnoted -= 1;
        lane.taken += usize::from(is_taken);
        self.list(attempt.lane);
    }

    /// Whether an endpoint waited for a note since the last one began.
    pub fn wants_note(&self) -> bool {
        self.wants_note
    }

    /// All attempts that are over are about to be noted.
    pub fn begin_note(&mut self) {
        self.wants_note = false;
    }

    /// The attempt in `place` is over at `now`, and there is nothing to be noted of it.
    pub fn done(&mut self, place: Place, end: Option<End>, now: Duration) {
        let attempt = self.over(place, end, now);
        self.noted(attempt, false);
    }

    /// Notes the attempts that hang by now, long before they end.
    fn note_hanging(&mut self, now: Duration) {
        while let Some(lane_number) = self.places.pop_hanging(now) {
            self.by_number[lane_number].standing.note_hanging();
        }
    }

    /// Gives a lane its place in the order of turns, if it has something to do and none yet.
    fn list(&mut self, lane_number: LaneNumber) {
        let lane = &mut self.by_number[lane_number];
        if lane.is_listed || lane.queue.is_empty() || lane.in_flight >= lane.standing.slots(&self.limits) {
            return;
        }
        if !lane.may_tell(&self.limits) {
            self.wants_note = true;
            return;
        }
        lane.is_listed = true;
        self.ready[lane.standing.class() as usize].push_back(Ticket { number: self.next_ticket, lane: lane_number });
        self.next_ticket += 1;
    }

    /// Whether an endpoint has a turn as far as is known: [`Lanes::next`] may still have nothing.
    pub fn has_turn(&self) -> bool {
        Class::ALL.into_iter().any(|class| !self.ready[class as usize].is_empty() && self.places.is_open(class))
    }

    /// The lane whose turn it is, and the class of the queue that it stood in.
    fn pop_turn(&mut self) -> Option<(Class, LaneNumber)> {
        let open = Class::ALL.into_iter().filter(|class| self.places.is_open(*class));
        let turns = open.filter_map(|class| Some((self.ready[class as usize].front()?.number, class)));
        let (_, class) = turns.min_by_key(|(number, _)| *number)?;
        self.ready[class as usize].pop_front().map(|ticket| (class, ticket.lane))
    }

    /// When [`Lanes::next`] may have an item although nothing is added or done; `None` if it has to be one of these.
    pub fn wakes_at(&self) -> Option<Duration> {
        let rested_at = self.resting.peek().map(|Reverse((until, _))| *until);
        // What hangs leaves the prompt ones half of what is left then.
        let is_any_ready = self.ready.iter().any(|turns| !turns.is_empty());
        rested_at.into_iter().chain(self.places.hangs_at().filter(|_| is_any_ready)).min()
    }

    /// How many items are queued for `endpoint`, without those in flight.
    pub fn queued_at(&self, endpoint: &Endpoint) -> usize {
        self.lane_numbers.get(endpoint).map_or(0, |lane_number| self.by_number[*lane_number].queue.len())
    }

    /// How many items are queued in all, without those in flight.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// How many attempts are in flight in all.
    pub fn in_flight(&self) -> usize {
        self.places.taken()
    }

    /// How many endpoints are remembered: those with items, in flight or not noted, or called within the last two minutes.
    pub fn endpoints(&self) -> usize {
        self.by_number.len()
    }

    fn wake(&mut self, now: Duration) {
        while self.resting.peek().is_some_and(|Reverse((until, _))| *until <= now) {
            let Some(Reverse((_, lane_number))) = self.resting.pop() else { return };
            self.by_number[lane_number].is_listed = false;
            self.list(lane_number);
        }
    }

    /// Forgets, once a minute, the endpoints that have nothing to do and were not called within the last one. Not sooner:
    /// else an endpoint could have its share again by emptying its queue.
    fn sweep(&mut self, now: Duration) {
        if now.saturating_sub(self.swept_at) < MINUTE {
            return;
        }
        self.swept_at = now;
        self.by_number.retain(|_, lane| {
            let is_recent = lane.starts.back().is_some_and(|start| *start + MINUTE > now);
            let is_busy = !lane.queue.is_empty() || lane.in_flight + lane.unnoted > 0;
            is_busy || is_recent || lane.standing.is_suspect(now)
        });
        self.lane_numbers.retain(|_, lane_number| self.by_number.contains(*lane_number));
    }
}

impl<T> Lane<T> {
    fn of(known: Known, now: Duration) -> Self {
        Self {
            queue: Rotation::default(),
            in_flight: 0,
            unnoted: 0,
            taken: 0,
            standing: Standing::new(known, now),
            starts: VecDeque::new(),
            is_listed: false,
        }
    }

    /// Whether another event may be told although what was told before is not noted.
    fn may_tell(&self, limits: &PacingLimits) -> bool {
        let beyond = (self.taken / TAKEN_PER_UNNOTED).min(UNNOTED_BEYOND_MAX);
        self.in_flight + self.unnoted < limits.in_flight_per_endpoint + beyond
    }

    /// Gives back what an attempt took of the minute's share that was not made.
    fn forget_start(&mut self, started_at: Duration) {
        let place = self.starts.partition_point(|start| *start < started_at);
        if self.starts.get(place) == Some(&started_at) {
            self.starts.remove(place);
        }
    }

    /// Until when the endpoint rests, for its share or its failures; `None` if it may be called at `now`.
    fn rests_until(&mut self, now: Duration, per_minute: usize) -> Option<Duration> {
        while self.starts.front().is_some_and(|start| *start + MINUTE <= now) {
            self.starts.pop_front();
        }
        let has_share = self.starts.len() < per_minute;
        let next_share = self.starts.front().filter(|_| !has_share).map(|start| *start + MINUTE);
        next_share.max(self.standing.rests_until().filter(|until| *until > now))
    }
}

#[cfg(test)]
mod tests;
