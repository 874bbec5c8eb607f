//! Decides which webhook is attempted next: round robin over origins and, within an origin, over its webhooks.
//!
//! Pure; `now` is an argument, on a clock that never jumps. The queue is a hint: the store has everything. An event stays in
//! the queue from when it is read until its attempt is recorded, so it is not read twice.

mod backoff;
mod in_flight;
mod origin;
mod slots;
mod webhook;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use self::in_flight::InFlight;
use self::origin::OriginQueue;
use self::slots::Class;
use self::webhook::WebhookQueue;
use super::attempt::{Claim, Receiver};
use super::target::Origin;
use crate::model::{PendingEvent, WebhookId};

pub use self::slots::SLOW_MAX;

/// The most events in memory that have not been attempted, of all webhooks.
const READ_AHEAD_MAX: usize = 4_096;
/// The most events that are read of one webhook at once.
const READ_AHEAD_PER_WEBHOOK_MAX: usize = 32;
/// The most webhooks whose events are read at the same time.
const READS_MAX: usize = 4;
/// A body has about so many octets for each octet of its message: it has the message as HTML and as text, with escapes.
const OCTETS_PER_OCTET: u64 = 3;
/// The most origins that are tried in a row when there is no memory for the body of the first.
const TRIES_MAX: usize = 64;

/// Identifies an event in the outbox: its webhook and its sequence number.
pub(super) type EventKey = (WebhookId, u64);

/// A page of a webhook's events that is to be read: those that are not in `without`, at most `limit`.
pub(super) struct EventPageRequest {
    pub(super) webhook: WebhookId,
    pub(super) without: HashSet<u64>,
    pub(super) limit: usize,
}

/// A page that was read.
pub(super) struct EventPage {
    pub(super) receiver: Arc<Receiver>,
    pub(super) events: Vec<PendingEvent>,
    /// More events are due.
    pub(super) has_more: bool,
    /// How long the webhook backs off because its receiver asked for that.
    pub(super) back_off: Option<Duration>,
}

/// How an attempt ended.
pub(super) enum Ended {
    /// A request was sent, or connecting failed. The attempt is to be recorded.
    Called(AttemptResult),
    /// The event ended without a request, which is to be recorded.
    Uncalled,
    /// The event is no longer pending, and there is nothing to record.
    Gone,
    /// The event is attempted later; its webhook backs off for so long.
    Deferred(Claim, Duration),
}

/// What an attempt says about the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptResult {
    pub(super) is_delivered: bool,
    /// The whole origin failed: there was no answer, or a server error.
    pub(super) is_origin_failure: bool,
    /// How long the webhook backs off because its receiver asked for that.
    pub(super) back_off: Option<Duration>,
}

/// An origin or a webhook that backs off.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum BackingOff {
    Origin(Origin),
    Webhook(WebhookId),
}

/// The part of the outbox that is in memory.
pub(super) struct Queue {
    webhooks: HashMap<WebhookId, WebhookQueue>,
    origins: HashMap<Origin, OriginQueue>,
    /// Origins that can begin an attempt, in the order of the round robin, by [`Class`].
    ready: [VecDeque<Origin>; 2],
    in_flight: InFlight,
    /// The origins and webhooks that back off, and until when.
    backing_off: BinaryHeap<Reverse<(Duration, BackingOff)>>,
    to_read: VecDeque<WebhookId>,
    reads: usize,
}

impl Queue {
    /// A queue with `in_flight_max` slots for attempts that are not slow.
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self {
            webhooks: HashMap::new(),
            origins: HashMap::new(),
            ready: Default::default(),
            in_flight: InFlight::new(in_flight_max),
            backing_off: BinaryHeap::new(),
            to_read: VecDeque::new(),
            reads: 0,
        }
    }

    /// Adds a webhook that has due events.
    pub(super) fn add_webhook(&mut self, webhook: WebhookId, now: Duration) {
        self.webhooks.entry(webhook).or_default().has_more = true;
        self.queue_webhook(webhook, now);
    }

    /// Forgets webhooks and origins without events.
    pub(super) fn forget_idle(&mut self, now: Duration) {
        self.webhooks.retain(|_, webhook| !webhook.is_forgettable(now));
        self.origins.retain(|_, origin| !origin.is_forgettable(now));
    }

    /// The next page to read, if one is wanted. [`Queue::add_page`] takes the page.
    pub(super) fn next_page(&mut self) -> Option<EventPageRequest> {
        if self.reads >= READS_MAX {
            return None;
        }
        let webhook = self.to_read.pop_front()?;
        let limit = self.page_events();
        let queue = self.webhooks.entry(webhook).or_default();
        queue.has_more = false;
        self.reads += 1;
        Some(EventPageRequest { webhook, without: queue.taken.clone(), limit })
    }

    fn page_events(&self) -> usize {
        (READ_AHEAD_MAX / self.webhooks.len().max(1)).clamp(1, READ_AHEAD_PER_WEBHOOK_MAX)
    }

    /// Adds a page of a webhook's events. `None` means that nothing can be sent.
    pub(super) fn add_page(&mut self, webhook: WebhookId, page: Option<EventPage>, now: Duration) {
        self.reads -= 1;
        let queue = self.webhooks.entry(webhook).or_default();
        queue.is_reading = false;
        if let Some(page) = page {
            queue.add(page, now);
            self.wake_later(webhook, now);
        }
        self.queue_webhook(webhook, now);
    }

    /// The next event, if one can be attempted.
    pub(super) fn next_claim(&mut self, now: Duration) -> Option<Claim> {
        for class in [Class::Prompt, Class::Other] {
            for _ in 0..self.ready[class as usize].len().min(TRIES_MAX) {
                if !self.in_flight.has_slot(class) {
                    break;
                }
                let Some(name) = self.ready[class as usize].pop_front() else { break };
                if let Some(origin) = self.origins.get_mut(&name) {
                    origin.dequeue(class);
                }
                let claim = self.begin_at(&name, class, now);
                self.queue_origin(&name, now);
                if claim.is_some() {
                    return claim;
                }
            }
        }
        None
    }

    fn begin_at(&mut self, name: &Origin, class: Class, now: Duration) -> Option<Claim> {
        while let Some(webhook) = self.origins.get_mut(name)?.pop(class, now) {
            let Some(queue) = self.webhooks.get_mut(&webhook) else { continue };
            queue.is_queued = false;
            if queue.class() == class && queue.is_ready(now) {
                let claim = self.begin(webhook, name, class, now);
                self.queue_webhook(webhook, now);
                return claim;
            }
            self.queue_webhook(webhook, now);
        }
        None
    }

    /// Begins an attempt at the first event of a webhook; `None` if there is no slot for it.
    fn begin(&mut self, webhook: WebhookId, name: &Origin, class: Class, now: Duration) -> Option<Claim> {
        let queue = self.webhooks.get_mut(&webhook)?;
        let (event, receiver) = (queue.events.front()?, Arc::clone(queue.receiver.as_ref()?));
        let octets = usize::try_from(event.email.size_octets * OCTETS_PER_OCTET).unwrap_or(usize::MAX);
        if !self.in_flight.begin((webhook, event.email.sequence), name, class, octets, now) {
            return None;
        }
        queue.in_flight += 1;
        self.origins.get_mut(name)?.begin(class);
        queue.events.pop_front().map(|event| Claim { event, receiver })
    }

    /// Ends an attempt.
    pub(super) fn end(&mut self, key: EventKey, ended: Ended, now: Duration) {
        let Some(attempt) = self.in_flight.end(key) else { return };
        let is_to_record = matches!(ended, Ended::Called(_) | Ended::Uncalled);
        let origin = self.origins.entry(attempt.origin.clone()).or_default();
        origin.end(attempt.class, attempt.is_slow(), is_to_record);
        let queue = self.webhooks.entry(key.0).or_default();
        queue.in_flight -= 1;
        match ended {
            Ended::Called(result) => {
                queue.record(result, attempt.is_slow(), now);
                if let Some(until) = origin.record(result, now) {
                    self.backing_off.push(Reverse((until, BackingOff::Origin(attempt.origin.clone()))));
                }
            }
            Ended::Uncalled => {}
            Ended::Gone => _ = queue.taken.remove(&key.1),
            Ended::Deferred(claim, wait) => {
                queue.backoff.extend(now + wait);
                queue.events.push_front(claim.event);
                // So the webhooks of the origin keep their order while its address is at its limit.
                if attempt.class == Class::Other {
                    origin.defer(now + wait);
                    self.backing_off.push(Reverse((now + wait, BackingOff::Origin(attempt.origin.clone()))));
                }
            }
        }
        self.wake_later(key.0, now);
        self.queue_webhook(key.0, now);
        self.queue_origin(&attempt.origin, now);
    }

    /// The attempts at these events are recorded in the store.
    pub(super) fn recorded(&mut self, keys: Vec<EventKey>, now: Duration) {
        for (webhook, sequence) in keys {
            let Some(queue) = self.webhooks.get_mut(&webhook) else { continue };
            queue.taken.remove(&sequence);
            let Some(name) = queue.origin().cloned() else { continue };
            if let Some(origin) = self.origins.get_mut(&name) {
                origin.recorded();
            }
            self.queue_webhook(webhook, now);
            self.queue_origin(&name, now);
        }
    }

    /// Marks attempts that have become slow, and queues origins and webhooks whose backoff is over. The attempts at the
    /// returned events have to be cut off.
    #[must_use]
    pub(super) fn wake(&mut self, now: Duration) -> Vec<EventKey> {
        while let Some(((webhook, _), attempt)) = self.in_flight.next_slow(now) {
            if let Some(queue) = self.webhooks.get_mut(&webhook) {
                queue.is_prompt = false;
            }
            let name = attempt.origin.clone();
            if let Some(origin) = self.origins.get_mut(&name) {
                origin.slow_down(attempt.class);
            }
            self.queue_origin(&name, now);
        }
        while let Some(Reverse((at, _))) = self.backing_off.peek()
            && *at <= now
            && let Some(Reverse((_, name))) = self.backing_off.pop()
        {
            match name {
                BackingOff::Origin(name) => self.queue_origin(&name, now),
                BackingOff::Webhook(webhook) => self.queue_webhook(webhook, now),
            }
        }
        self.in_flight.cut_off()
    }

    /// When [`Queue::wake`] has something to do.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        let over_at = self.backing_off.peek().map(|Reverse((at, _))| *at);
        self.in_flight.next_slow_at().into_iter().chain(over_at).min()
    }

    /// If a webhook backs off, [`Queue::wake`] queues it afterwards.
    fn wake_later(&mut self, webhook: WebhookId, now: Duration) {
        if let Some(until) = self.webhooks.get(&webhook).and_then(|queue| queue.backoff.ends_at(now)) {
            self.backing_off.push(Reverse((until, BackingOff::Webhook(webhook))));
        }
    }

    /// Adds a webhook to its origin's ready webhooks, if it is ready, and has it read if few of its events are in memory.
    fn queue_webhook(&mut self, webhook: WebhookId, now: Duration) {
        let page_events = self.page_events();
        let Some(queue) = self.webhooks.get_mut(&webhook) else { return };
        if queue.wants_page(page_events, now) {
            queue.is_reading = true;
            self.to_read.push_back(webhook);
        }
        if queue.is_queued || !queue.is_ready(now) {
            return;
        }
        let Some(receiver) = &queue.receiver else { return };
        let (name, is_good) = (receiver.target.origin().clone(), receiver.was_delivered);
        queue.is_queued = true;
        let class = queue.class();
        self.origins.entry(name.clone()).or_insert_with(|| OriginQueue::new(is_good)).push(class, webhook);
        self.queue_origin(&name, now);
    }

    /// Queues an origin, if it can begin an attempt.
    fn queue_origin(&mut self, name: &Origin, now: Duration) {
        let Some(origin) = self.origins.get_mut(name) else { return };
        for class in [Class::Prompt, Class::Other] {
            if origin.enqueue(class, now) {
                self.ready[class as usize].push_back(name.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
