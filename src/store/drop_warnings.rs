//! Warnings in the log about dropped events: at most one a minute for each webhook, however many events it is about.
//!
//! Otherwise a dead receiver with much mail would fill the log.
//!
//! Events that are not reported within a minute are reported with a later change, or when the store closes.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::model::WebhookId;

/// The shortest time between two warnings about one webhook.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// The webhooks whose events were dropped.
#[derive(Debug, Default)]
pub(super) struct DropWarnings {
    by_webhook: HashMap<WebhookId, Dropped>,
    /// When all webhooks were checked last.
    checked_at: Option<Instant>,
}

#[derive(Debug)]
struct Dropped {
    /// Dropped events that no warning has reported.
    unreported: u64,
    reported_at: Option<Instant>,
}

impl DropWarnings {
    /// Adds dropped events. Returns the warnings that are due at `now`: webhooks with numbers of events.
    pub(super) fn add(&mut self, dropped: &BTreeMap<WebhookId, u64>, now: Instant) -> Vec<(WebhookId, u64)> {
        for (webhook, events) in dropped {
            self.by_webhook.entry(*webhook).or_insert(Dropped { unreported: 0, reported_at: None }).unreported +=
                events;
        }
        let mut due: Vec<_> = dropped.keys().filter_map(|webhook| self.report(*webhook, now)).collect();
        if !self.by_webhook.is_empty() && is_over(self.checked_at, now) {
            self.checked_at = Some(now);
            let others: Vec<_> = self.by_webhook.keys().copied().collect();
            due.extend(others.into_iter().filter_map(|webhook| self.report(webhook, now)));
            self.by_webhook.retain(|_, dropped| !is_over(dropped.reported_at, now));
        }
        due
    }

    /// Returns everything that was not reported yet.
    pub(super) fn into_unreported(self) -> Vec<(WebhookId, u64)> {
        let rest = self.by_webhook.into_iter().map(|(webhook, dropped)| (webhook, dropped.unreported));
        rest.filter(|(_, unreported)| *unreported > 0).collect()
    }

    fn report(&mut self, webhook: WebhookId, now: Instant) -> Option<(WebhookId, u64)> {
        let dropped = self
            .by_webhook
            .get_mut(&webhook)
            .filter(|dropped| dropped.unreported > 0 && is_over(dropped.reported_at, now))?;
        dropped.reported_at = Some(now);
        Some((webhook, std::mem::take(&mut dropped.unreported)))
    }
}

/// Writes the warnings to the log.
pub(super) fn warn(due: Vec<(WebhookId, u64)>) {
    for (webhook, events) in due {
        tracing::warn!(
            %webhook,
            events,
            "events were dropped since the last such line: more would wait than the outbox holds"
        );
    }
}

/// Whether a minute has passed since then, or there was no warning.
fn is_over(since: Option<Instant>, now: Instant) -> bool {
    since.is_none_or(|since| now.saturating_duration_since(since) >= REPORT_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_has_a_line_a_minute_and_none_of_its_events_is_left_out() {
        let (a, b) = (WebhookId::from_octets([1; 16]), WebhookId::from_octets([2; 16]));
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut drop_warnings = DropWarnings::default();
        let none = BTreeMap::new();
        assert_eq!(drop_warnings.add(&none, at(0)), []);
        assert_eq!(drop_warnings.add(&[(a, 3)].into(), at(0)), [(a, 3)]);
        for second in 1..60 {
            let due = drop_warnings.add(&[(a, 2), (b, 1)].into(), at(second));
            assert_eq!(due, if second == 1 { vec![(b, 1)] } else { vec![] }, "{second}");
        }
        assert_eq!(drop_warnings.add(&[(a, 1)].into(), at(60)), [(a, 119)]);
        assert_eq!(drop_warnings.add(&none, at(121)), [(b, 58)], "without another one");
        assert_eq!(drop_warnings.add(&[(b, 7)].into(), at(122)), []);
        assert_eq!(drop_warnings.add(&none, at(200)), [(b, 7)]);
        assert_eq!(drop_warnings.add(&none, at(300)), []);
        assert!(drop_warnings.by_webhook.is_empty(), "{drop_warnings:?}");
        drop_warnings.add(&[(a, 1)].into(), at(301));
        drop_warnings.add(&[(a, 5)].into(), at(302));
        assert_eq!(drop_warnings.into_unreported(), [(a, 5)]);
    }
}
