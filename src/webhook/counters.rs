//! Counters of attempts and events. None of them names a webhook, a URL or a recipient.

use super::outcome::{ErrorClass, Outcome};
use crate::metrics::{IntCounter, IntCounterVec, Measured, MetricFamily, by_label, collect, counter, counters};
use crate::model::Verdict;

/// The label of attempts that succeeded.
const DELIVERED: &str = "delivered";

/// Counters since the start of the process. Sample events do not count.
#[derive(Debug)]
pub struct Counters {
    attempts: IntCounterVec,
    given_up: IntCounter,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            attempts: counters(
                "tempmail_webhook_attempts_total",
                "Attempts to deliver an event, by result: delivered, or the code of the error.",
                "result",
                [DELIVERED].into_iter().chain(ErrorClass::ALL.map(ErrorClass::as_str)),
            ),
            given_up: counter("tempmail_webhook_events_given_up_total", "Events that ended without being delivered."),
        }
    }
}

impl Counters {
    /// Counts an attempt.
    pub(super) fn attempted(&self, outcome: &Outcome) {
        self.attempts.with_label_values(&[outcome.error.map_or(DELIVERED, ErrorClass::as_str)]).inc();
    }

    /// Counts an event that is given up.
    pub(super) fn decided(&self, verdict: &Verdict) {
        if *verdict == Verdict::GivenUp {
            self.given_up.inc();
        }
    }
}

impl Counters {
    /// How many attempts succeeded so far, and how many failed.
    pub fn delivered_and_failed(&self) -> (u64, u64) {
        let all = by_label(&self.attempts);
        let delivered = all.get(DELIVERED).copied().unwrap_or(0);
        (delivered, all.values().sum::<u64>() - delivered)
    }
}

impl Measured for Counters {
    fn metrics(&self) -> Vec<MetricFamily> {
        collect(&[&self.attempts, &self.given_up])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_attempt_counts_under_its_error_or_as_delivered() {
        for class in ErrorClass::ALL.map(Some).into_iter().chain([None]) {
            let outcome = class.map_or_else(
                || Outcome::answered(200, b"", None, Duration::ZERO),
                |class| Outcome::unanswered(class, "", Duration::ZERO),
            );
            let counters = Counters::default();
            counters.attempted(&outcome);
            let mut counted = by_label(&counters.attempts);
            counted.retain(|_, value| *value > 0);
            assert_eq!(counted, [(class.map_or(DELIVERED, ErrorClass::as_str).to_owned(), 1)].into());
        }
    }

    #[test]
    fn only_an_event_that_ends_without_a_delivery_is_given_up() {
        let counters = Counters::default();
        for verdict in [Verdict::Delivered, Verdict::Retry(crate::model::Timestamp::from_millis(0))] {
            counters.decided(&verdict);
        }
        assert_eq!(counters.given_up.get(), 0);
        counters.decided(&Verdict::GivenUp);
        assert_eq!(counters.given_up.get(), 1);
    }
}
