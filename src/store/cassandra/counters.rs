//! Counters of a store in a cluster, each of what this node did.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::CassandraStore;
use crate::counts::{Count, Counts, Durations, Stopwatch};
use crate::model::WebhookId;
use crate::store::drop_warnings::DropWarnings;

#[derive(Debug, Default)]
pub(super) struct Counters {
    commits: Stopwatch,
    deleted: AtomicU64,
    evicted: AtomicU64,
    events_dropped: AtomicU64,
    webhooks_disabled: AtomicU64,
    drop_warnings: Mutex<DropWarnings>,
}

impl Counters {
    /// Counts a stored message with the time that the cluster took.
    pub(super) fn committed(&self, took: Duration) {
        self.commits.note(took);
    }

    pub(super) fn deleted(&self, emails: u64) {
        self.deleted.fetch_add(emails, Ordering::Relaxed);
    }

    pub(super) fn evicted(&self, emails: u64) {
        self.evicted.fetch_add(emails, Ordering::Relaxed);
    }

    pub(super) fn webhook_disabled(&self) {
        self.webhooks_disabled.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn events_dropped(&self, dropped: &BTreeMap<WebhookId, u64>) {
        self.events_dropped.fetch_add(dropped.values().sum(), Ordering::Relaxed);
        let mut warnings = self.drop_warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.add(dropped, Instant::now());
    }
}

impl Counts for CassandraStore {
    fn read(&self) -> Vec<Count> {
        let counters = &self.shared.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            Count::labelled("removed", "deleted", read(&counters.deleted)),
            Count::labelled("removed", "madeWay", read(&counters.evicted)),
            Count::one("eventsDropped", read(&counters.events_dropped)),
            Count::one("webhooksDisabled", read(&counters.webhooks_disabled)),
        ]
    }

    fn durations(&self) -> Vec<Durations> {
        vec![self.shared.counters.commits.read("commit")]
    }
}
