//! How long a webhook or an origin rests after failures, or because it was asked for.
//!
//! Pure; `now` is an argument. One failure alone costs no rest: events have their own schedule.

use std::time::Duration;

/// The rest after two failures running; twice as long after each that follows.
const FIRST: Duration = Duration::from_millis(50);
/// The longest rest that failures cost.
const LONGEST: Duration = Duration::from_mins(1);
/// Failures beyond which a rest grows no more.
const DOUBLINGS_MAX: u32 = 20;

/// Failures running, and until when to rest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    failures: u32,
    over_at: Duration,
    /// The rest that somebody was told of who wakes when it is over.
    heard_of: Duration,
}

impl Rest {
    /// Begins with so many failures known, without a rest.
    pub(super) fn begin(&mut self, failures: u32) {
        self.failures = failures;
    }

    /// Notes an attempt that failed or did not.
    pub(super) fn note(&mut self, has_failed: bool, now: Duration) {
        if !has_failed {
            self.failures = 0;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if let Some(doublings) = self.failures.checked_sub(2) {
            let rest = FIRST * 2_u32.pow(doublings.min(DOUBLINGS_MAX));
            self.until(now + rest.min(LONGEST));
        }
    }

    /// Rests at least until then.
    pub(super) fn until(&mut self, at: Duration) {
        self.over_at = self.over_at.max(at);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failures > 0
    }

    pub(super) fn is_over(&self, now: Duration) -> bool {
        self.over_at <= now
    }

    /// Whether nothing is to be known of it any more.
    pub(super) fn is_forgotten(&self, now: Duration) -> bool {
        self.over_at + LONGEST <= now
    }

    pub(super) fn over_at(&self) -> Duration {
        self.over_at
    }

    /// Whether nobody was told when it is over. Who asks is.
    pub(super) fn is_unheard(&mut self) -> bool {
        std::mem::replace(&mut self.heard_of, self.over_at) != self.over_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_with_failures_running_and_end_with_a_success() {
        let (mut rest, now) = (Rest::default(), Duration::from_secs(100));
        let mut millis = Vec::new();
        for _ in 0..14 {
            rest.note(true, now);
            millis.push(rest.over_at().saturating_sub(now).as_millis());
        }
        assert_eq!(millis[..6], [0, 50, 100, 200, 400, 800]);
        assert_eq!(millis[12..], [60_000; 2]);
        assert!(rest.is_unheard() && !rest.is_unheard());
        assert!(!rest.is_over(now) && rest.is_over(now + LONGEST));
        rest.note(false, now + LONGEST);
        rest.note(true, now + LONGEST);
        assert!(rest.is_over(now + LONGEST), "one failure alone");
        rest.begin(u32::MAX);
        rest.note(true, now);
        assert!(!rest.has_failed() || rest.is_over(now + LONGEST));
    }
}
