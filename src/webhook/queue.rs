//! Whose turn is it? Round robin over origins and, inside one, over webhooks, for the events that are in memory.
//!
//! Pure; `now` is an argument, on the clock that never jumps. What is here is a hint: what is lost with it is in the store
//! and is found again. An event is held from when it is read until its attempt is recorded, so that nobody reads it twice.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::attempt::{Claim, Receiver};
use super::places::{Line, Place, Places, SLOW_AFTER};
use super::rest::Rest;
use super::target::Origin;
use crate::model::{PendingEvent, WebhookId};

/// Attempts under way at one origin.
const PER_ORIGIN_MAX: usize = 4;
/// Attempts at one origin that have ended and are not recorded: a crash repeats these as well.
const UNRECORDED_PER_ORIGIN_MAX: usize = 8;
/// Events of all webhooks that are read before their turn, and of one.
const READ_AHEAD_MAX: usize = 4_096;
const READ_AHEAD_PER_WEBHOOK_MAX: usize = 32;
/// Webhooks whose events are read at the same time.
const READS_MAX: usize = 4;
/// A body has about so many times the octets of its message: the message is in it as HTML and as text, with escapes.
const OCTETS_PER_OCTET: u64 = 3;
/// Origins that are looked at for one whose body there is room for.
const TRIES_MAX: usize = 64;

/// An event in the outbox: its webhook and its sequence.
pub(super) type EventKey = (WebhookId, u64);

/// What is to be read: events of this webhook without those, so many at most.
pub(super) struct Reading {
    pub(super) webhook: WebhookId,
    pub(super) without: HashSet<u64>,
    pub(super) limit: usize,
}

/// What was read.
pub(super) struct Page {
    pub(super) receiver: Arc<Receiver>,
    pub(super) events: Vec<PendingEvent>,
    /// Others are due.
    pub(super) has_more: bool,
    /// For how long the webhook is to be sent nothing: its receiver asked for it.
    pub(super) rest: Option<Duration>,
}

/// How an attempt ended.
pub(super) enum End {
    /// The receiver was called; the attempt is to be recorded.
    Called(Standing),
    /// It was not, and the event's end is to be recorded.
    Uncalled,
    /// There is nothing to be recorded, and the event is not in the outbox any more.
    Gone,
    /// It can't be said yet; [`Queue::again`] is told of the event later.
    Undecided,
    /// The event waits until it may be attempted at this origin.
    OriginRests(Claim, Duration),
    /// The event waits until it may be attempted for this webhook.
    WebhookRests(Claim, Duration),
}

/// What an attempt says of the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) is_delivered: bool,
    /// The origin is to blame: nobody answered, or the server failed.
    pub(super) is_of_origin: bool,
    /// For how long the receiver wants no other event of the webhook.
    pub(super) rest: Option<Duration>,
}

/// A webhook of which something is in memory.
#[derive(Default)]
struct Lane {
    receiver: Option<Arc<Receiver>>,
    events: VecDeque<PendingEvent>,
    /// Those in `events`, and all that are under way or not recorded.
    held: HashSet<u64>,
    in_flight: usize,
    rest: Rest,
    /// More may be in the store.
    has_more: bool,
    /// It is among those to be read, or being read.
    is_reading: bool,
    /// It is in its origin's `ready`.
    is_listed: bool,
}

/// An origin of which something is in memory.
#[derive(Default)]
struct AtOrigin {
    ready: VecDeque<WebhookId>,
    in_flight: usize,
    slow: usize,
    unrecorded: usize,
    rest: Rest,
    /// The last attempt was answered well, and before it was slow.
    is_good: bool,
    is_prompt: bool,
    is_listed: bool,
}

/// An attempt under way.
struct UnderWay {
    origin: Origin,
    place: Place,
    /// It is being cut off, and its place was given back.
    is_cut_off: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Resting {
    Origin(Origin),
    Webhook(WebhookId),
}

/// What is known in memory of the outbox.
pub(super) struct Queue {
    places: Places,
    lanes: HashMap<WebhookId, Lane>,
    origins: HashMap<Origin, AtOrigin>,
    /// Origins that can begin an attempt, by [`Line`].
    lines: [VecDeque<Origin>; 2],
    under_way: HashMap<EventKey, UnderWay>,
    /// Attempts in the order in which they began, as long as they may not be slow.
    begun: VecDeque<(Duration, EventKey)>,
    /// Slow attempts in the order in which they became slow; some have ended.
    slow: VecDeque<EventKey>,
    resting: BinaryHeap<Reverse<(Duration, Resting)>>,
    to_read: VecDeque<WebhookId>,
    reads: usize,
}

impl Lane {
    fn is_ready(&self, now: Duration) -> bool {
        let most = if self.rest.has_failed() { 1 } else { PER_ORIGIN_MAX };
        !self.events.is_empty() && self.in_flight < most && self.rest.is_over(now)
    }

    fn is_idle(&self, now: Duration) -> bool {
        self.held.is_empty() && !self.is_reading && self.rest.is_over(now)
    }
}

impl AtOrigin {
    fn line(&self) -> Line {
        if self.is_prompt { Line::Prompt } else { Line::Other }
    }

    fn can_begin(&self, now: Duration) -> bool {
        let most = if self.is_good { PER_ORIGIN_MAX } else { 1 };
        let has_room = self.in_flight < most && self.unrecorded < UNRECORDED_PER_ORIGIN_MAX;
        has_room && self.slow == 0 && self.rest.is_over(now)
    }

    /// Keeps what it knows of failures for a while: their next event is not sent sooner.
    fn is_idle(&self, now: Duration) -> bool {
        self.ready.is_empty() && self.in_flight + self.unrecorded == 0 && self.rest.is_forgotten(now)
    }
}

impl Queue {
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self {
            places: Places::new(in_flight_max),
            lanes: HashMap::new(),
            origins: HashMap::new(),
            lines: Default::default(),
            under_way: HashMap::new(),
            begun: VecDeque::new(),
            slow: VecDeque::new(),
            resting: BinaryHeap::new(),
            to_read: VecDeque::new(),
            reads: 0,
        }
    }

    /// A webhook has events that are due.
    pub(super) fn find(&mut self, webhook: WebhookId, now: Duration) {
        self.lanes.entry(webhook).or_default().has_more = true;
        self.list_lane(webhook, now);
    }

    /// Forgets what nothing is known of that matters.
    pub(super) fn forget_idle(&mut self, now: Duration) {
        self.lanes.retain(|_, lane| !lane.is_idle(now) || lane.has_more);
        self.origins.retain(|_, origin| !origin.is_idle(now));
    }

    /// What is to be read now; [`Queue::fill`] is given what was.
    pub(super) fn next_reading(&mut self) -> Option<Reading> {
        if self.reads >= READS_MAX {
            return None;
        }
        let webhook = self.to_read.pop_front()?;
        let limit = self.page();
        let lane = self.lanes.entry(webhook).or_default();
        lane.has_more = false;
        self.reads += 1;
        Some(Reading { webhook, without: lane.held.clone(), limit })
    }

    fn page(&self) -> usize {
        (READ_AHEAD_MAX / self.lanes.len().max(1)).clamp(1, READ_AHEAD_PER_WEBHOOK_MAX)
    }

    /// Takes what was read of a webhook's events; `None` if nothing can be sent.
    pub(super) fn fill(&mut self, webhook: WebhookId, page: Option<Page>, now: Duration) {
        self.reads -= 1;
        let lane = self.lanes.entry(webhook).or_default();
        lane.is_reading = false;
        if let Some(Page { receiver, events, has_more, rest }) = page {
            if lane.receiver.is_none() {
                lane.rest.begin(receiver.failures);
            }
            let known = AtOrigin { is_good: receiver.is_good, is_prompt: receiver.is_good, ..AtOrigin::default() };
            self.origins.entry(receiver.target.origin().clone()).or_insert(known);
            lane.receiver = Some(receiver);
            lane.has_more |= has_more;
            lane.held.extend(events.iter().map(|event| event.sequence));
            lane.events.extend(events);
            if let Some(rest) = rest {
                lane.rest.until(now + rest);
            }
        }
        self.list_lane(webhook, now);
    }

    /// The event whose turn it is, if one can be attempted.
    pub(super) fn next(&mut self, now: Duration) -> Option<Claim> {
        for line in [Line::Prompt, Line::Other] {
            let waiting = self.lines[line as usize].len().min(TRIES_MAX);
            for _ in 0..waiting {
                if !self.places.has_room(line) {
                    break;
                }
                let Some(name) = self.lines[line as usize].pop_front() else { break };
                if let Some(origin) = self.origins.get_mut(&name) {
                    origin.is_listed = false;
                }
                let claim = self.begin_at(&name, line, now);
                self.list_origin(&name, now);
                if claim.is_some() {
                    return claim;
                }
            }
        }
        None
    }

    fn begin_at(&mut self, name: &Origin, from: Line, now: Duration) -> Option<Claim> {
        let origin = self.origins.get_mut(name).filter(|origin| origin.can_begin(now))?;
        while let Some(webhook) = origin.ready.pop_front() {
            let Some(lane) = self.lanes.get_mut(&webhook) else { continue };
            lane.is_listed = false;
            let (true, Some(receiver)) = (lane.is_ready(now), &lane.receiver) else { continue };
            let receiver = Arc::clone(receiver);
            let octets = lane.events.front().map_or(0, |event| event.size_octets * OCTETS_PER_OCTET);
            let place = self.places.take(from, usize::try_from(octets).unwrap_or(usize::MAX));
            let event = place.and_then(|_| lane.events.pop_front());
            if let (Some(place), Some(event)) = (place, &event) {
                let key = (webhook, event.sequence);
                (lane.in_flight, origin.in_flight) = (lane.in_flight + 1, origin.in_flight + 1);
                self.under_way.insert(key, UnderWay { origin: name.clone(), place, is_cut_off: false });
                self.begun.push_back((now, key));
            }
            self.list_lane(webhook, now);
            return event.map(|event| Claim { event, receiver });
        }
        None
    }

    /// Takes note that an attempt has ended.
    pub(super) fn end(&mut self, key: EventKey, end: End, now: Duration) {
        let Some(UnderWay { origin: name, place, is_cut_off }) = self.under_way.remove(&key) else { return };
        if !is_cut_off {
            self.places.give_back(place);
        }
        let origin = self.origins.entry(name.clone()).or_default();
        let lane = self.lanes.entry(key.0).or_default();
        (origin.in_flight, lane.in_flight) = (origin.in_flight - 1, lane.in_flight - 1);
        origin.slow -= usize::from(place.is_slow);
        match end {
            End::Called(Standing { is_delivered, is_of_origin, rest }) => {
                origin.unrecorded += 1;
                origin.is_good = is_delivered || origin.is_good && !is_of_origin;
                origin.is_prompt = origin.is_good && !place.is_slow;
                origin.rest.note(is_of_origin, now);
                lane.rest.note(!is_delivered, now);
                lane.rest.until(now + rest.unwrap_or_default());
            }
            End::Uncalled => origin.unrecorded += 1,
            End::Gone => _ = lane.held.remove(&key.1),
            End::Undecided => {}
            End::OriginRests(claim, rest) => {
                origin.rest.until(now + rest);
                lane.events.push_front(claim.event);
            }
            End::WebhookRests(claim, rest) => {
                lane.rest.until(now + rest);
                lane.events.push_front(claim.event);
            }
        }
        self.list_lane(key.0, now);
        self.list_origin(&name, now);
    }

    /// An event that was undecided has another turn.
    pub(super) fn again(&mut self, claim: Claim, now: Duration) {
        let webhook = claim.event.webhook;
        self.lanes.entry(webhook).or_default().events.push_front(claim.event);
        self.list_lane(webhook, now);
    }

    /// Takes note that the ends of events were recorded.
    pub(super) fn recorded(&mut self, keys: Vec<EventKey>, now: Duration) {
        for (webhook, sequence) in keys {
            let Some(lane) = self.lanes.get_mut(&webhook) else { continue };
            lane.held.remove(&sequence);
            let Some(name) = lane.receiver.as_ref().map(|receiver| receiver.target.origin().clone()) else { continue };
            if let Some(origin) = self.origins.get_mut(&name) {
                origin.unrecorded = origin.unrecorded.saturating_sub(1);
            }
            self.list_lane(webhook, now);
            self.list_origin(&name, now);
        }
    }

    /// Slows down the attempts that have taken long, and wakes who has rested. What is returned is to be cut off.
    #[must_use]
    pub(super) fn wake(&mut self, now: Duration) -> Vec<EventKey> {
        while let Some((_, key)) = self.begun.pop_front_if(|(begun, _)| *begun + SLOW_AFTER <= now) {
            let Some(UnderWay { origin, place, .. }) = self.under_way.get_mut(&key) else { continue };
            self.places.slow_down(place);
            self.slow.push_back(key);
            if let Some(origin) = self.origins.get_mut(origin) {
                origin.slow += 1;
            }
        }
        let cut_off = self.cut_off();
        while let Some(Reverse((at, _))) = self.resting.peek()
            && *at <= now
            && let Some(Reverse((_, rested))) = self.resting.pop()
        {
            match rested {
                Resting::Origin(name) => self.list_origin(&name, now),
                Resting::Webhook(webhook) => self.list_lane(webhook, now),
            }
        }
        cut_off
    }

    /// Makes room for slow attempts: those that have been slow for longest have to go.
    fn cut_off(&mut self) -> Vec<EventKey> {
        let mut cut_off = Vec::new();
        while self.places.has_too_many_slow()
            && let Some(key) = self.slow.pop_front()
        {
            let Some(under_way) = self.under_way.get_mut(&key).filter(|it| it.place.is_slow && !it.is_cut_off) else {
                continue;
            };
            under_way.is_cut_off = true;
            self.places.give_back(under_way.place);
            cut_off.push(key);
        }
        // Those that have ended by themselves are not kept beyond as many as there can be.
        while self.slow.front().is_some_and(|key| !self.under_way.contains_key(key)) {
            self.slow.pop_front();
        }
        cut_off
    }

    /// When there is something to do although nothing happens.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        let slow_at = self.begun.front().map(|(begun, _)| *begun + SLOW_AFTER);
        let rested_at = self.resting.peek().map(|Reverse((at, _))| *at);
        slow_at.into_iter().chain(rested_at).min()
    }

    /// Puts a webhook among those of its origin that are ready, if it is, and among those to be read if little is in memory.
    fn list_lane(&mut self, webhook: WebhookId, now: Duration) {
        let page = self.page();
        let Some(lane) = self.lanes.get_mut(&webhook) else { return };
        if !lane.rest.is_over(now) && lane.rest.is_unheard() {
            self.resting.push(Reverse((lane.rest.over_at(), Resting::Webhook(webhook))));
        }
        if lane.has_more && !lane.is_reading && lane.events.len() <= page / 4 && lane.rest.is_over(now) {
            lane.is_reading = true;
            self.to_read.push_back(webhook);
        }
        if lane.is_listed || !lane.is_ready(now) {
            return;
        }
        let Some(name) = lane.receiver.as_ref().map(|receiver| receiver.target.origin().clone()) else { return };
        lane.is_listed = true;
        self.origins.entry(name.clone()).or_default().ready.push_back(webhook);
        self.list_origin(&name, now);
    }

    /// Puts an origin among those that can begin an attempt, if it can.
    fn list_origin(&mut self, name: &Origin, now: Duration) {
        let Some(origin) = self.origins.get_mut(name) else { return };
        if !origin.rest.is_over(now) && origin.rest.is_unheard() {
            self.resting.push(Reverse((origin.rest.over_at(), Resting::Origin(name.clone()))));
        }
        if !origin.is_listed && !origin.ready.is_empty() && origin.can_begin(now) {
            origin.is_listed = true;
            self.lines[origin.line() as usize].push_back(name.clone());
        }
    }
}

#[cfg(test)]
mod tests;
