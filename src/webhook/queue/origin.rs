//! The webhooks of one origin that are ready for an attempt. Pure; `now` is an argument.
//!
//! A prompt webhook does not wait because other webhooks of its origin are slow or fail. Many webhooks can share an origin,
//! and a stranger can add one that always fails.

use std::collections::VecDeque;
use std::time::Duration;

use super::backoff::Backoff;
use super::slots::Class;
use crate::model::WebhookId;

/// The most attempts in flight at one origin.
pub(super) const PER_ORIGIN_MAX: usize = 4;
/// No attempt begins at an origin with so many attempts that have ended and are not recorded. A crash repeats these, and
/// those in flight.
pub(super) const UNRECORDED_PER_ORIGIN_MAX: usize = 8;

/// An origin of which something is in memory.
#[derive(Default)]
pub(super) struct OriginQueue {
    /// Webhooks that are ready, by [`Class`].
    ready: [VecDeque<WebhookId>; 2],
    /// Whether the origin waits for a turn, by [`Class`].
    is_queued: [bool; 2],
    /// Attempts in flight by the [`Class`] in which they began.
    in_flight: [usize; 2],
    unrecorded: usize,
    backoff: Backoff,
}

impl OriginQueue {
    /// Webhooks of class `Other` get one attempt at a time. Prompt webhooks leave room for it.
    fn can_begin(&self, class: Class, now: Duration) -> bool {
        let [prompt, other] = self.in_flight;
        let other_wants = other > 0 || (!self.ready[Class::Other as usize].is_empty() && self.backoff.is_over(now));
        let is_free = match class {
            Class::Prompt => prompt < PER_ORIGIN_MAX - usize::from(other_wants),
            Class::Other => other == 0 && self.backoff.is_over(now),
        };
        is_free && prompt + other < PER_ORIGIN_MAX && self.unrecorded < UNRECORDED_PER_ORIGIN_MAX
    }

    /// Adds a webhook that is ready.
    pub(super) fn push(&mut self, class: Class, webhook: WebhookId) {
        self.ready[class as usize].push_back(webhook);
    }

    /// The webhook that has the next turn, if an attempt can begin.
    pub(super) fn pop(&mut self, class: Class, now: Duration) -> Option<WebhookId> {
        self.can_begin(class, now).then(|| self.ready[class as usize].pop_front()).flatten()
    }

    /// Whether the origin has to be given a turn. If so, it counts as waiting for it.
    pub(super) fn enqueue(&mut self, class: Class, now: Duration) -> bool {
        let is_due =
            !self.is_queued[class as usize] && !self.ready[class as usize].is_empty() && self.can_begin(class, now);
        self.is_queued[class as usize] |= is_due;
        is_due
    }

    /// The origin no longer waits for a turn.
    pub(super) fn dequeue(&mut self, class: Class) {
        self.is_queued[class as usize] = false;
    }

    pub(super) fn begin(&mut self, class: Class) {
        self.in_flight[class as usize] += 1;
    }

    /// Ends an attempt that began in `class`. `is_to_record` says whether it is to be recorded.
    pub(super) fn end(&mut self, class: Class, is_to_record: bool) {
        self.in_flight[class as usize] -= 1;
        self.unrecorded += usize::from(is_to_record);
    }

    /// An attempt that ended is recorded in the store.
    pub(super) fn recorded(&mut self) {
        self.unrecorded = self.unrecorded.saturating_sub(1);
    }

    /// Counts a success or failure. If the origin backs off, returns until when.
    pub(super) fn record(&mut self, has_failed: bool, now: Duration) -> Option<Duration> {
        self.backoff.record(has_failed, now);
        self.backoff.ends_at(now)
    }

    /// Whether nothing is lost when the origin is forgotten. Its failures have to be remembered for a while.
    pub(super) fn is_forgettable(&self, now: Duration) -> bool {
        let is_empty = self.ready.iter().all(VecDeque::is_empty) && self.in_flight == [0; 2];
        is_empty && self.unrecorded == 0 && self.backoff.is_forgettable(now)
    }
}
