//! Counters of a store: what this process did since it was opened.

use std::time::Duration;

use crate::metrics::{
    Histogram, IntCounter, IntCounterVec, Measured, MetricFamily, collect, counter, counters, durations,
};

/// The counters. None of them names an address.
#[derive(Debug)]
pub(super) struct Counters {
    commits: Histogram,
    removed: IntCounterVec,
    events_dropped: IntCounter,
}

/// Why Emails were removed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Removed {
    /// A client deleted them.
    Deleted,
    /// Their time was over.
    Expired,
    /// Newer mail replaced them under a cap.
    MadeWay,
}

impl Removed {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::MadeWay => "madeWay",
        }
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            commits: durations(
                "tempmail_store_commit_seconds",
                "How long the commit of a group of changes took until its senders could be answered.",
            ),
            removed: counters(
                "tempmail_store_emails_removed_total",
                "Emails removed because a client deleted them, they expired, or newer mail replaced them under a cap.",
                "reason",
                [Removed::Deleted, Removed::Expired, Removed::MadeWay].map(Removed::as_str),
            ),
            events_dropped: counter(
                "tempmail_webhook_events_dropped_total",
                "Events dropped because the outbox was full.",
            ),
        }
    }
}

impl Counters {
    /// Counts a commit with the time from its first change to its answers.
    pub(super) fn committed(&self, took: Duration) {
        self.commits.observe(took.as_secs_f64());
    }

    /// Counts Emails that were removed.
    pub(super) fn removed(&self, why: Removed, emails: u64) {
        self.removed.with_label_values(&[why.as_str()]).inc_by(emails);
    }

    /// Counts events that were dropped.
    pub(super) fn events_dropped(&self, events: u64) {
        self.events_dropped.inc_by(events);
    }
}

impl Measured for Counters {
    fn metrics(&self) -> Vec<MetricFamily> {
        collect(&[&self.commits, &self.removed, &self.events_dropped])
    }
}
