//! Warnings in the log about dropped events: at most one a minute for each webhook, however many events it is about.
//!
//! Otherwise a dead receiver with much mail would fill the log.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::model::WebhookId;

/// The shortest time between two warnings about one webhook.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// Dropped events that no warning has reported, by webhook. They are reported with a change a minute after the last warnings,
/// or when this is dropped.
#[derive(Debug, Default)]
pub(super) struct DropWarnings {
    unreported: BTreeMap<WebhookId, u64>,
    reported_at: Option<Instant>,
}

impl DropWarnings {
    /// Adds dropped events, and writes the warnings that are due at `now`.
    pub(super) fn add(&mut self, dropped: &BTreeMap<WebhookId, u64>, now: Instant) {
        for (webhook, events) in dropped {
            *self.unreported.entry(*webhook).or_default() += events;
        }
        let is_due = self.reported_at.is_none_or(|at| now.saturating_duration_since(at) >= REPORT_EVERY);
        if is_due && !self.unreported.is_empty() {
            self.reported_at = Some(now);
            self.report();
        }
    }

    fn report(&mut self) {
        for (webhook, events) in std::mem::take(&mut self.unreported) {
            tracing::warn!(
                %webhook,
                events,
                "events were dropped since the last such line: more would wait than the outbox holds"
            );
        }
    }
}

impl Drop for DropWarnings {
    fn drop(&mut self) {
        self.report();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_webhooks_have_a_line_a_minute_and_none_of_their_events_is_left_out() {
        let (a, b) = (WebhookId::from_octets([1; 16]), WebhookId::from_octets([2; 16]));
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut warnings = DropWarnings::default();
        warnings.add(&[].into(), at(0));
        assert_eq!(warnings.reported_at, None);
        warnings.add(&[(a, 3)].into(), at(0));
        assert_eq!((warnings.reported_at, warnings.unreported.len()), (Some(at(0)), 0));
        for second in 1..60 {
            warnings.add(&[(a, 2), (b, 1)].into(), at(second));
            assert_eq!(warnings.unreported, [(a, 2 * second), (b, second)].into());
        }
        warnings.add(&[].into(), at(60));
        assert_eq!((warnings.reported_at, warnings.unreported.len()), (Some(at(60)), 0));
    }
}
