//! The webhooks of one origin that are ready for an attempt. Pure; `now` is an argument.
//!
//! A prompt webhook does not wait because other webhooks of its origin are slow or fail. Many webhooks can share an origin,
//! and a stranger can add one that always fails.

use std::collections::VecDeque;
use std::time::Duration;

use super::AttemptResult;
use super::backoff::Backoff;
use super::slots::Class;
use crate::model::WebhookId;

/// The most attempts in flight at one origin that are not slow.
pub(super) const PER_ORIGIN_MAX: usize = 4;
/// No attempt begins at an origin with so many attempts that have ended and are not recorded. A crash repeats these and the
/// attempts in flight.
pub(super) const UNRECORDED_PER_ORIGIN_MAX: usize = 8;
/// No attempt begins at an origin with so many slow attempts.
const SLOW_PER_ORIGIN_MAX: usize = 16;

/// An origin of which something is in memory.
#[derive(Default)]
pub(super) struct OriginQueue {
    /// Webhooks that are ready, by [`Class`].
    ready: [VecDeque<WebhookId>; 2],
    /// Whether the origin is queued, by [`Class`].
    is_queued: [bool; 2],
    /// Attempts in flight that are not slow, by the [`Class`] in which they began.
    in_flight: [usize; 2],
    slow: usize,
    /// An attempt was delivered, and the origin has not failed since.
    is_good: bool,
    unrecorded: usize,
    backoff: Backoff,
}

impl OriginQueue {
    /// An origin without a record of answers.
    pub(super) fn new(is_good: bool) -> Self {
        Self { is_good, ..Self::default() }
    }

    /// Prompt webhooks leave room for an attempt of class `Other`. Those get more than one at a time while the origin answers.
    fn can_begin(&self, class: Class, now: Duration) -> bool {
        let [prompt, other] = self.in_flight;
        let other_wants = other > 0 || (!self.ready[Class::Other as usize].is_empty() && self.backoff.is_over(now));
        let is_free = match class {
            Class::Prompt => prompt < PER_ORIGIN_MAX - usize::from(other_wants),
            Class::Other if self.is_good => other < PER_ORIGIN_MAX - 1 && self.backoff.is_over(now),
            Class::Other => other + self.slow == 0 && self.backoff.is_over(now),
        };
        is_free
            && prompt + other < PER_ORIGIN_MAX
            && self.slow < SLOW_PER_ORIGIN_MAX
            && self.unrecorded < UNRECORDED_PER_ORIGIN_MAX
    }

    /// Adds a webhook that is ready.
    pub(super) fn push(&mut self, class: Class, webhook: WebhookId) {
        self.ready[class as usize].push_back(webhook);
    }

    /// The next webhook, if an attempt can begin.
    pub(super) fn pop(&mut self, class: Class, now: Duration) -> Option<WebhookId> {
        self.can_begin(class, now).then(|| self.ready[class as usize].pop_front()).flatten()
    }

    /// Whether the origin has to be queued. If so, it counts as queued.
    pub(super) fn enqueue(&mut self, class: Class, now: Duration) -> bool {
        let is_due =
            !self.is_queued[class as usize] && !self.ready[class as usize].is_empty() && self.can_begin(class, now);
        self.is_queued[class as usize] |= is_due;
        is_due
    }

    /// The origin is no longer queued.
    pub(super) fn dequeue(&mut self, class: Class) {
        self.is_queued[class as usize] = false;
    }

    pub(super) fn begin(&mut self, class: Class) {
        self.in_flight[class as usize] += 1;
    }

    /// An attempt that began in `class` has become slow: others need not wait for it.
    pub(super) fn slow_down(&mut self, class: Class) {
        self.in_flight[class as usize] -= 1;
        self.slow += 1;
    }

    /// Ends an attempt that began in `class`. `is_to_record` says whether it is to be recorded.
    pub(super) fn end(&mut self, class: Class, is_slow: bool, is_to_record: bool) {
        let count = if is_slow { &mut self.slow } else { &mut self.in_flight[class as usize] };
        *count -= 1;
        self.unrecorded += usize::from(is_to_record);
    }

    /// An attempt that ended is recorded in the store.
    pub(super) fn recorded(&mut self) {
        self.unrecorded = self.unrecorded.saturating_sub(1);
    }

    /// Counts an result. If the origin backs off, returns until when.
    pub(super) fn record(&mut self, result: AttemptResult, now: Duration) -> Option<Duration> {
        self.is_good = result.is_delivered || self.is_good && !result.is_origin_failure;
        self.backoff.record(result.is_origin_failure, now);
        self.backoff.ends_at(now)
    }

    /// No webhook of class `Other` begins an attempt before then.
    pub(super) fn defer(&mut self, until: Duration) {
        self.backoff.extend(until);
    }

    /// Whether nothing is lost when the origin is forgotten. Its failures have to be remembered for a while.
    pub(super) fn is_forgettable(&self, now: Duration) -> bool {
        let is_empty = self.ready.iter().all(VecDeque::is_empty) && self.in_flight == [0; 2] && self.slow == 0;
        is_empty && self.unrecorded == 0 && self.backoff.is_forgettable(now)
    }
}
