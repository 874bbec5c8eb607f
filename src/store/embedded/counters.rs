//! Counters of an embedded store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::EmbeddedStore;
use crate::counts::{Count, Counts, Durations, Stopwatch};
use crate::store::index::GroupCounts;

/// What the store did since it was opened, and how many changes are queued now.
#[derive(Debug, Default)]
pub(super) struct Counters {
    commits: Stopwatch,
    queued: AtomicU64,
    deleted: AtomicU64,
    expired: AtomicU64,
    evicted: AtomicU64,
    relocated: AtomicU64,
    events_dropped: AtomicU64,
    webhooks_disabled: AtomicU64,
    index_reopened: AtomicU64,
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

    pub(super) fn index_reopened(&self) {
        self.index_reopened.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add(&self, counts: &GroupCounts) {
        let GroupCounts { deleted, expired, evicted, relocated, events_dropped, webhooks_disabled } = counts;
        for (counter, count) in [
            (&self.deleted, deleted),
            (&self.expired, expired),
            (&self.evicted, evicted),
            (&self.relocated, relocated),
            (&self.events_dropped, &events_dropped.values().sum()),
            (&self.webhooks_disabled, webhooks_disabled),
        ] {
            counter.fetch_add(*count, Ordering::Relaxed);
        }
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
        let counters = self.state.counters();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            Count::one("queued", read(&counters.queued)),
            Count::labelled("removed", "deleted", read(&counters.deleted)),
            Count::labelled("removed", "expired", read(&counters.expired)),
            Count::labelled("removed", "madeWay", read(&counters.evicted)),
            Count::one("relocated", read(&counters.relocated)),
            Count::one("eventsDropped", read(&counters.events_dropped)),
            Count::one("webhooksDisabled", read(&counters.webhooks_disabled)),
            Count::one("indexReopened", read(&counters.index_reopened)),
        ]
    }

    fn durations(&self) -> Vec<Durations> {
        vec![self.state.counters().commits.read("commit")]
    }
}
