//! Whether the time of day can be relied on.

use std::time::Duration;

use crate::model::Timestamp;

/// A clock that runs ahead by more than this, against the one that never jumps, has stepped.
const STEP_TOLERANCE: Duration = Duration::from_secs(60);
/// After a step, and after a start with mail, nothing is removed for so long: time for the clock to be put right.
pub(super) const STEP_PAUSE: Duration = Duration::from_secs(600);
/// By how much two guards may differ in what the time of day is and say the same.
const DRIFT: Duration = Duration::from_secs(1);

/// Notices when the time of day jumps forward, which would make mail due that is not.
///
/// A guard that begins takes that for a step forward: what the clock did before is not known.
#[derive(Clone, Debug)]
pub struct StepGuard {
    last: (Timestamp, Duration),
    /// How far the steps since the pause began have brought the time of day forward, as far as is known.
    ahead: Duration,
    /// On the clock that never jumps.
    paused_until: Duration,
}

impl StepGuard {
    /// A guard that knows nothing of the clock before `now`.
    pub(crate) fn new(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), ahead: Duration::MAX, paused_until: boot + STEP_PAUSE }
    }

    /// A guard that has watched the clock for as long as it matters.
    pub fn settled(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), ahead: Duration::ZERO, paused_until: boot }
    }

    /// Whether `other`, a later one, knows nothing of weight that this one does not.
    pub(super) fn says_as_much_as(&self, other: &Self) -> bool {
        let (since, elapsed) = (other.last.0.since(self.last.0), other.last.1.saturating_sub(self.last.1));
        let is_back = self.last.0.since(other.last.0) > Duration::ZERO;
        (self.ahead, self.paused_until) == (other.ahead, other.paused_until)
            && !is_back
            && since.abs_diff(elapsed) <= DRIFT
    }

    /// Everything that it knows, in milliseconds.
    pub(super) fn to_text(&self) -> String {
        let (now, boot) = self.last;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        format!("{} {} {} {}", now.millis(), millis(boot), millis(self.ahead), millis(self.paused_until))
    }

    /// `None` if the text is not one of [`StepGuard::to_text`].
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let (now, rest) = text.split_once(' ')?;
        let numbers: Vec<u64> = rest.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[boot, ahead, paused_until] = &numbers[..] else { return None };
        Some(Self {
            last: (Timestamp::from_millis(now.parse().ok()?), Duration::from_millis(boot)),
            ahead: if ahead == u64::MAX { Duration::MAX } else { Duration::from_millis(ahead) },
            paused_until: Duration::from_millis(paused_until),
        })
    }

    /// Whether the time of day can be relied on so far that something may be removed by it.
    pub(crate) fn may_remove(&mut self, now: Timestamp, boot: Duration) -> bool {
        let (last_now, last_boot) = self.last;
        self.last = (now, boot);
        let forward = now.since(last_now).saturating_sub(boot.saturating_sub(last_boot));
        let back = last_now.since(now);
        if forward > STEP_TOLERANCE {
            tracing::warn!(
                seconds = forward.as_secs(),
                "the clock stepped forward; nothing is removed for ten minutes"
            );
            self.ahead = self.ahead.saturating_add(forward);
            self.paused_until = boot + STEP_PAUSE;
        } else if back > STEP_TOLERANCE {
            tracing::warn!(seconds = back.as_secs(), "the clock stepped back");
            // Only a clock that is back where it was ends the pause early.
            self.ahead = if self.ahead == Duration::MAX { self.ahead } else { self.ahead.saturating_sub(back) };
        }
        if self.ahead > STEP_TOLERANCE && boot < self.paused_until {
            return false;
        }
        self.ahead = Duration::ZERO;
        true
    }
}

/// Notices when the time of day jumps back: mail that came before is due too late then, if the clock is right now.
#[derive(Debug)]
pub(super) struct StepBackGuard {
    last: Timestamp,
    /// Since when there was no step, on the clock that never jumps.
    steady_since: Duration,
}

impl StepBackGuard {
    /// A guard that knows nothing of the clock before `now`.
    pub(super) fn new(now: Timestamp, boot: Duration) -> Self {
        Self { last: now, steady_since: boot }
    }

    /// Whether the clock has been steady for so long that lives may be shortened by it: time to put it right again.
    pub(super) fn may_shorten(&mut self, now: Timestamp, boot: Duration) -> bool {
        if self.last.since(now) > STEP_TOLERANCE {
            self.steady_since = boot;
        }
        self.last = now;
        boot.saturating_sub(self.steady_since) >= STEP_PAUSE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
    }

    /// Second 0 is now on both clocks.
    fn settled() -> StepGuard {
        StepGuard::settled(at(0), boot(0))
    }

    fn boot(seconds: i64) -> Duration {
        Duration::from_secs((10_000 + seconds).unsigned_abs())
    }

    #[test]
    fn a_step_forward_pauses_removal_for_ten_minutes() {
        let mut guard = settled();
        assert!(guard.may_remove(at(5), boot(5)));
        assert!(guard.may_remove(at(65), boot(10)), "within the tolerance");
        assert!(!guard.may_remove(at(DAY), boot(15)));
        assert!(!guard.may_remove(at(DAY + 599), boot(614)));
        assert!(guard.may_remove(at(DAY + 600), boot(615)));
    }

    #[test]
    fn a_clock_that_comes_back_ends_the_pause() {
        let mut guard = settled();
        assert!(!guard.may_remove(at(DAY), boot(1)));
        assert!(guard.may_remove(at(2), boot(2)));
    }

    #[test]
    fn a_clock_that_comes_back_in_part_does_not() {
        let mut guard = settled();
        assert!(!guard.may_remove(at(DAY), boot(1)));
        assert!(!guard.may_remove(at(3_600), boot(2)), "an hour ahead still");
        assert!(guard.may_remove(at(3), boot(3)));
    }

    #[test]
    fn a_step_back_removes_nothing_and_the_way_forward_again_is_a_step() {
        let mut guard = settled();
        assert!(guard.may_remove(at(-DAY), boot(1)), "by that time nothing is due that was not");
        assert!(!guard.may_remove(at(2), boot(2)));
    }

    #[test]
    fn nothing_is_removed_for_ten_minutes_after_a_start_with_mail() {
        let mut guard = StepGuard::new(at(0), boot(0));
        assert!(!guard.may_remove(at(1), boot(1)));
        assert!(!guard.may_remove(at(-DAY), boot(2)), "it may have been ahead by more");
        assert!(!guard.may_remove(at(-DAY + 597), boot(599)));
        assert!(guard.may_remove(at(-DAY + 598), boot(600)));
    }

    #[test]
    fn lives_are_shortened_ten_minutes_after_a_start_and_after_a_step_back() {
        let mut guard = StepBackGuard::new(at(0), boot(0));
        assert!(!guard.may_shorten(at(599), boot(599)));
        assert!(guard.may_shorten(at(600), boot(600)));
        assert!(guard.may_shorten(at(541), boot(601)), "within the tolerance");
        assert!(!guard.may_shorten(at(-DAY), boot(602)));
        assert!(!guard.may_shorten(at(-DAY + 599), boot(1201)));
        assert!(guard.may_shorten(at(-DAY + 600), boot(1202)));
    }

    #[test]
    fn suspension_is_no_step() {
        assert!(settled().may_remove(at(DAY), boot(DAY + 100)));
    }
}
