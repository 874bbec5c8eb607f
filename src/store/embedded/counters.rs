//! Counters of an embedded store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::EmbeddedStore;
use crate::counts::{Count, Counts, Durations, Stopwatch};
use crate::store::mail::Removals;

/// What the store did since it was opened, and how many changes are queued now.
#[derive(Debug, Default)]
pub(super) struct Counters {
    commits: Stopwatch,
    queued: AtomicU64,
    deleted: AtomicU64,
    expired: AtomicU64,
    evicted: AtomicU64,
    events_dropped: AtomicU64,
    webhooks_disabled: AtomicU64,
}

impl Counters {
    /// Counts a committed group with the time from its first change to its answers.
    pub(super) fn committed(&self, took: Duration) {
        self.commits.note(took);
    }

    /// Counts a queued change until the returned value is dropped.
    pub(super) fn queued(self: &Arc<Self>) -> Queued {
        self.queued.fetch_add(1, Ordering::Relaxed);
        Queued(Arc::clone(self))
    }

    /// Counts Emails that requests removed, and events that were dropped.
    pub(super) fn removed(&self, Removals { deleted, evicted }: Removals, events_dropped: u64) {
        self.deleted.fetch_add(deleted, Ordering::Relaxed);
        self.evicted.fetch_add(evicted, Ordering::Relaxed);
        self.events_dropped.fetch_add(events_dropped, Ordering::Relaxed);
    }

    pub(super) fn expired(&self, emails: usize) {
        self.expired.fetch_add(emails as u64, Ordering::Relaxed);
    }

    pub(super) fn webhooks_disabled(&self, webhooks: usize) {
        self.webhooks_disabled.fetch_add(webhooks as u64, Ordering::Relaxed);
    }
}

/// A queued change.
#[derive(Debug)]
pub(super) struct Queued(Arc<Counters>);

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.queued.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counts for EmbeddedStore {
    fn read(&self) -> Vec<Count> {
        let counters = &self.shared.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            Count::one("queued", read(&counters.queued)),
            Count::labelled("removed", "deleted", read(&counters.deleted)),
            Count::labelled("removed", "expired", read(&counters.expired)),
            Count::labelled("removed", "madeWay", read(&counters.evicted)),
            Count::one("eventsDropped", read(&counters.events_dropped)),
            Count::one("webhooksDisabled", read(&counters.webhooks_disabled)),
        ]
    }

    fn durations(&self) -> Vec<Durations> {
        vec![self.shared.counters.commits.read("commit")]
    }
}
