//! Counters of attempts and events. None of them names a webhook, a URL or a recipient.

use std::sync::atomic::{AtomicU64, Ordering};

use super::outcome::{ErrorClass, Outcome};
use crate::counts::{Count, Counts};
use crate::model::Verdict;

/// The label of attempts that succeeded.
const DELIVERED: &str = "delivered";

/// Counters since the start of the process. Sample events do not count.
#[derive(Debug, Default)]
pub struct Counters {
    delivered: AtomicU64,
    failed: [AtomicU64; ErrorClass::ALL.len()],
    given_up: AtomicU64,
}

impl Counters {
    /// Counts an attempt.
    pub(super) fn attempted(&self, outcome: &Outcome) {
        let counter = outcome.error.map_or(&self.delivered, |class| &self.failed[class as usize]);
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an event that is given up.
    pub(super) fn decided(&self, verdict: &Verdict) {
        if *verdict == Verdict::GivenUp {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Counts for Counters {
    fn read(&self) -> Vec<Count> {
        let mut counts = vec![
            Count::one("givenUp", self.given_up.load(Ordering::Relaxed)),
            Count::labelled("attempts", DELIVERED, self.delivered.load(Ordering::Relaxed)),
        ];
        counts.extend(Count::family("attempts", ErrorClass::ALL.map(ErrorClass::as_str), &self.failed));
        counts
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
            let counted: Vec<Count> = counters.read().into_iter().filter(|count| count.value > 0).collect();
            assert_eq!(counted, [Count::labelled("attempts", class.map_or(DELIVERED, ErrorClass::as_str), 1)]);
        }
    }

    #[test]
    fn only_an_event_that_ends_without_a_delivery_is_given_up() {
        let counters = Counters::default();
        for verdict in [Verdict::Delivered, Verdict::Retry(crate::model::Timestamp::from_millis(0))] {
            counters.decided(&verdict);
        }
        assert_eq!(counters.read()[0], Count::one("givenUp", 0));
        counters.decided(&Verdict::GivenUp);
        assert_eq!(counters.read()[0], Count::one("givenUp", 1));
    }
}
