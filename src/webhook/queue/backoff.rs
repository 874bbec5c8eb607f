//! How long a webhook or an origin backs off after failures, or because its receiver asked for that.
//!
//! Pure; `now` is an argument. A single failure costs no wait, since each event has its own retry schedule.

use std::time::Duration;

/// The wait after two failures in a row. It doubles with each further one.
const FIRST: Duration = Duration::from_millis(50);
/// The longest wait that failures cause.
const LONGEST: Duration = Duration::from_mins(1);
/// The wait stops to grow after so many doublings.
const DOUBLINGS_MAX: u32 = 20;

/// The number of failures in a row, and the time until which to back off.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    until: Duration,
}

impl Backoff {
    /// Sets the number of earlier failures in a row, without a wait.
    pub(super) fn set_failures(&mut self, failures: u32) {
        self.failures = failures;
    }

    /// Counts a success or failure.
    pub(super) fn record(&mut self, has_failed: bool, now: Duration) {
        if !has_failed {
            self.failures = 0;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if let Some(doublings) = self.failures.checked_sub(2) {
            let wait = FIRST * 2_u32.pow(doublings.min(DOUBLINGS_MAX));
            self.extend(now + wait.min(LONGEST));
        }
    }

    /// Backs off at least until this time.
    pub(super) fn extend(&mut self, until: Duration) {
        self.until = self.until.max(until);
    }

    pub(super) fn is_over(&self, now: Duration) -> bool {
        self.until <= now
    }

    /// When the backoff ends; `None` if it is over.
    pub(super) fn ends_at(&self, now: Duration) -> Option<Duration> {
        (!self.is_over(now)).then_some(self.until)
    }

    /// Whether the failures are so long ago that they may be forgotten.
    pub(super) fn is_forgettable(&self, now: Duration) -> bool {
        self.until + LONGEST <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_with_failures_in_a_row_and_end_with_a_success() {
        let (mut backoff, now) = (Backoff::default(), Duration::from_secs(100));
        let mut millis = Vec::new();
        for _ in 0..14 {
            backoff.record(true, now);
            millis.push(backoff.ends_at(now).map_or(0, |at| at.saturating_sub(now).as_millis()));
        }
        assert_eq!(millis[..6], [0, 50, 100, 200, 400, 800]);
        assert_eq!(millis[12..], [60_000; 2]);
        assert!(!backoff.is_over(now) && backoff.is_over(now + LONGEST));
        backoff.record(false, now + LONGEST);
        backoff.record(true, now + LONGEST);
        assert!(backoff.is_over(now + LONGEST), "one failure alone");
        backoff.set_failures(u32::MAX);
        backoff.record(true, now);
        assert!(backoff.is_over(now + LONGEST));
    }
}
