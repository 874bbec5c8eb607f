//! The events of one webhook that are in memory. Pure; `now` is an argument.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::backoff::Backoff;
use super::origin::PER_ORIGIN_MAX;
use super::slots::Class;
use super::{AttemptResult, EventPage};
use crate::model::PendingEvent;
use crate::webhook::attempt::Receiver;
use crate::webhook::target::Origin;

/// A webhook in memory.
#[derive(Default)]
pub(super) struct WebhookQueue {
    pub(super) receiver: Option<Arc<Receiver>>,
    pub(super) events: VecDeque<PendingEvent>,
    /// The sequence numbers of `events`, of events in flight, and of events whose attempt is not recorded yet.
    pub(super) taken: HashSet<u64>,
    pub(super) in_flight: usize,
    pub(super) backoff: Backoff,
    /// The last attempt was delivered before it was slow.
    pub(super) is_prompt: bool,
    /// The store may have more due events.
    pub(super) has_more: bool,
    /// Its next page is being read, or waits to be read.
    pub(super) is_reading: bool,
    /// It is among the ready webhooks of its origin.
    pub(super) is_queued: bool,
}

impl WebhookQueue {
    pub(super) fn class(&self) -> Class {
        if self.is_prompt { Class::Prompt } else { Class::Other }
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        self.receiver.as_ref().map(|receiver| receiver.target.origin())
    }

    /// Whether an attempt can begin, as far as the webhook is concerned.
    pub(super) fn is_ready(&self, now: Duration) -> bool {
        let most = if self.is_prompt { PER_ORIGIN_MAX } else { 1 };
        !self.events.is_empty() && self.in_flight < most && self.backoff.is_over(now)
    }

    /// Whether a page of so many events has to be read.
    pub(super) fn wants_page(&self, events: usize, now: Duration) -> bool {
        self.has_more && !self.is_reading && self.events.len() <= events / 4 && self.backoff.is_over(now)
    }

    pub(super) fn is_forgettable(&self, now: Duration) -> bool {
        self.taken.is_empty() && !self.is_reading && !self.has_more && self.backoff.is_over(now)
    }

    /// Adds a page that was read.
    pub(super) fn add(&mut self, page: EventPage, now: Duration) {
        if self.receiver.is_none() {
            self.backoff.set_failures(page.receiver.failures);
            self.is_prompt = page.receiver.was_delivered;
        }
        self.receiver = Some(page.receiver);
        self.has_more |= page.has_more;
        self.taken.extend(page.events.iter().map(|event| event.email.sequence));
        self.events.extend(page.events);
        self.backoff.extend(now + page.back_off.unwrap_or_default());
    }

    /// Counts the result of an attempt.
    pub(super) fn record(&mut self, result: AttemptResult, is_slow: bool, now: Duration) {
        self.is_prompt = result.is_delivered && !is_slow;
        self.backoff.record(!result.is_delivered, now);
        self.backoff.extend(now + result.back_off.unwrap_or_default());
    }
}
