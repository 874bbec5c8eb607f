//! Detects steps of the time of day, since a clock that is ahead would expire mail early.
//!
//! This module is pure: both clocks are arguments.

use std::time::Duration;

use crate::model::Timestamp;

/// A change of the time of day against the boot clock by more than this is a step.
const STEP_TOLERANCE: Duration = Duration::from_secs(60);
/// How long no mail is removed after a step, and after a start with mail. In this time an operator can correct the
/// clock.
pub(super) const STEP_PAUSE: Duration = Duration::from_secs(600);
/// The largest difference between the times of day of two equivalent detectors.
const DRIFT: Duration = Duration::from_secs(1);

/// A step of the time of day against the boot clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockStep {
    /// How much later the time of day is than without the step.
    Forward(Duration),
    /// How much earlier the time of day is than before.
    Back(Duration),
}

/// Detects steps forward of the time of day, which would expire mail early.
///
/// A new detector treats its start as a step forward, since earlier steps are unknown.
#[derive(Clone, Debug)]
pub struct StepDetector {
    last: (Timestamp, Duration),
    /// The sum of the known steps since the pause began; `MAX` if it is unknown.
    ahead: Duration,
    /// The end of the pause, on the boot clock.
    paused_until: Duration,
}

impl StepDetector {
    /// A detector without knowledge of the clock before `now`.
    pub(crate) fn new(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), ahead: Duration::MAX, paused_until: boot + STEP_PAUSE }
    }

    /// A detector that trusts the clock at `now`.
    pub fn settled(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), ahead: Duration::ZERO, paused_until: boot }
    }

    /// Whether this detector and `later` would decide alike.
    pub(super) fn is_equivalent_to(&self, later: &Self) -> bool {
        let (since, elapsed) = (later.last.0.since(self.last.0), later.last.1.saturating_sub(self.last.1));
        let is_back = self.last.0.since(later.last.0) > Duration::ZERO;
        (self.ahead, self.paused_until) == (later.ahead, later.paused_until)
            && !is_back
            && since.abs_diff(elapsed) <= DRIFT
    }

    /// The fields as text, in milliseconds.
    pub(super) fn to_text(&self) -> String {
        let (now, boot) = self.last;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        format!("{} {} {} {}", now.millis(), millis(boot), millis(self.ahead), millis(self.paused_until))
    }

    /// Reads the text of [`StepDetector::to_text`]; `None` for any other text.
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

    /// Observes both clocks. Returns whether expired mail may be removed now.
    pub(crate) fn may_remove(&mut self, now: Timestamp, boot: Duration) -> bool {
        self.observe(now, boot);
        self.is_reliable()
    }

    /// Observes both clocks. Returns the step of the time of day since the last call, if there was one.
    pub(super) fn observe(&mut self, now: Timestamp, boot: Duration) -> Option<ClockStep> {
        let (last_now, last_boot) = self.last;
        self.last = (now, boot);
        let forward = now.since(last_now).saturating_sub(boot.saturating_sub(last_boot));
        let back = last_now.since(now);
        let step = if forward > STEP_TOLERANCE {
            self.ahead = self.ahead.saturating_add(forward);
            self.paused_until = boot + STEP_PAUSE;
            Some(ClockStep::Forward(forward))
        } else if back > STEP_TOLERANCE {
            // A step back ends the pause early only if it undoes the steps forward.
            self.ahead = if self.ahead == Duration::MAX { self.ahead } else { self.ahead.saturating_sub(back) };
            Some(ClockStep::Back(back))
        } else {
            None
        };
        if self.ahead <= STEP_TOLERANCE || boot >= self.paused_until {
            self.ahead = Duration::ZERO;
        }
        step
    }

    /// Whether expired mail may be removed by the last observed time of day.
    pub(super) const fn is_reliable(&self) -> bool {
        self.ahead.is_zero()
    }
}

/// Detects mail that arrived while the clock was ahead, and the end of its retention.
///
/// The boot clock measures the retention, so it does not matter which time of day was right.
#[derive(Debug)]
pub(super) struct OverlongDetector {
    retention: Duration,
    last: (Timestamp, Duration),
    /// When such mail was first seen, on the boot clock. A step back resets it.
    since: Option<Duration>,
}

impl OverlongDetector {
    /// A detector without knowledge of the clock before `now`.
    pub(super) fn new(retention: Duration, now: Timestamp, boot: Duration) -> Self {
        Self { retention, last: (now, boot), since: None }
    }

    /// The latest expiry of mail that arrives at `now`. Mail with a later expiry arrived while the clock was ahead.
    pub(super) fn latest(&self, now: Timestamp) -> Timestamp {
        now.plus(self.retention).plus(STEP_TOLERANCE)
    }

    /// Whether the retention of all Emails that expire after [`OverlongDetector::latest`] has ended. `last_due_at` is
    /// the latest expiry of all Emails.
    pub(super) fn have_lived(&mut self, last_due_at: Option<Timestamp>, now: Timestamp, boot: Duration) -> bool {
        let (last_now, last_boot) = self.last;
        self.last = (now, boot);
        if last_due_at.is_none_or(|due| due <= self.latest(now)) {
            self.since = None;
            return false;
        }
        // After a step back, new mail from before the step can seem overlong.
        let back = boot.saturating_sub(last_boot).saturating_sub(now.since(last_now));
        if back > DRIFT || last_now > now {
            self.since = None;
        }
        let since = *self.since.get_or_insert(boot);
        boot.saturating_sub(since) >= self.retention
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    const DAY_LONG: Duration = Duration::from_hours(24);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
    }

    /// A settled detector at second 0 of both clocks.
    fn settled() -> StepDetector {
        StepDetector::settled(at(0), boot(0))
    }

    fn boot(seconds: i64) -> Duration {
        Duration::from_secs((10_000 + seconds).unsigned_abs())
    }

    #[test]
    fn a_step_forward_pauses_removal_for_ten_minutes() {
        let mut detector = settled();
        assert!(detector.may_remove(at(5), boot(5)));
        assert!(detector.may_remove(at(65), boot(10)), "within the tolerance");
        assert!(!detector.may_remove(at(DAY), boot(15)));
        assert!(!detector.may_remove(at(DAY + 599), boot(614)));
        assert!(detector.may_remove(at(DAY + 600), boot(615)));
    }

    #[test]
    fn a_clock_that_comes_back_ends_the_pause() {
        let mut detector = settled();
        assert!(!detector.may_remove(at(DAY), boot(1)));
        assert!(detector.may_remove(at(2), boot(2)));
    }

    #[test]
    fn a_clock_that_comes_back_in_part_does_not() {
        let mut detector = settled();
        assert!(!detector.may_remove(at(DAY), boot(1)));
        assert!(!detector.may_remove(at(3_600), boot(2)), "an hour ahead still");
        assert!(detector.may_remove(at(3), boot(3)));
    }

    #[test]
    fn a_step_back_removes_nothing_and_the_way_forward_again_is_a_step() {
        let mut detector = settled();
        assert!(detector.may_remove(at(-DAY), boot(1)), "by that time nothing is due that was not");
        assert!(!detector.may_remove(at(2), boot(2)));
    }

    #[test]
    fn nothing_is_removed_for_ten_minutes_after_a_start_with_mail() {
        let mut detector = StepDetector::new(at(0), boot(0));
        assert!(!detector.may_remove(at(1), boot(1)));
        assert!(!detector.may_remove(at(-DAY), boot(2)), "it may have been ahead by more");
        assert!(!detector.may_remove(at(-DAY + 597), boot(599)));
        assert!(detector.may_remove(at(-DAY + 598), boot(600)));
    }

    /// Whether the retention of a day has ended for mail that arrived at second `came`.
    fn has_lived(detector: &mut OverlongDetector, came: i64, now: Timestamp, boot: Duration) -> bool {
        detector.have_lived(Some(at(came + DAY)), now, boot)
    }

    #[test]
    fn mail_that_came_while_the_clock_was_ahead_lives_for_its_retention_by_the_other_clock() {
        let mut detector = OverlongDetector::new(DAY_LONG, at(0), boot(0));
        let ahead = 400 * DAY;
        assert!(!has_lived(&mut detector, ahead, at(5), boot(5)));
        assert!(!has_lived(&mut detector, ahead, at(DAY + 4), boot(DAY + 4)));
        assert!(has_lived(&mut detector, ahead, at(DAY + 5), boot(DAY + 5)));
    }

    #[test]
    fn a_clock_that_is_behind_for_hours_costs_no_mail() {
        let mut detector = OverlongDetector::new(DAY_LONG, at(0), boot(0));
        let year = 365 * DAY;
        for hour in 1..20 {
            assert!(!has_lived(&mut detector, 0, at(hour * 3600 - year), boot(hour * 3600)), "hour {hour}");
        }
        assert!(!has_lived(&mut detector, 20 * 3600, at(20 * 3600), boot(20 * 3600)), "it is right again");
        assert_eq!(detector.since, None);
    }

    #[test]
    fn each_step_back_begins_the_wait_anew() {
        let mut detector = OverlongDetector::new(DAY_LONG, at(0), boot(0));
        let ahead = 400 * DAY;
        assert!(!has_lived(&mut detector, ahead, at(5), boot(5)));
        assert!(!has_lived(&mut detector, ahead, at(DAY - 3600), boot(DAY)), "an hour back");
        assert!(!has_lived(&mut detector, ahead, at(2 * DAY - 3601), boot(2 * DAY - 1)));
        assert!(has_lived(&mut detector, ahead, at(2 * DAY - 3600), boot(2 * DAY)));
    }

    #[test]
    fn mail_that_came_by_a_clock_within_the_tolerance_is_not_overlong() {
        let mut detector = OverlongDetector::new(DAY_LONG, at(0), boot(0));
        assert!(!has_lived(&mut detector, 60, at(0), boot(DAY)));
        assert_eq!(detector.since, None);
        assert!(!detector.have_lived(None, at(1), boot(2 * DAY)));
    }

    #[test]
    fn suspension_is_no_step() {
        assert!(settled().may_remove(at(DAY), boot(DAY + 100)));
    }
}
