//! How fast expired mail is removed, so that new mail gets its share of the writer.

use std::time::Duration;

/// About how many Emails one step removes while removal keeps up. A step takes a few milliseconds of the writer's
/// time.
const STEP: usize = 125;
/// The longest pause between two steps.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often the pace is adjusted.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
/// How often the pace can double. After five times a step removes 4,000 Emails.
const PRESSURE_MAX: u32 = 5;

/// The size of steps and the pauses between them.
///
/// A pause is as long as the step before it, so others get half of the writer's time. While the backlog grows older,
/// steps double and pauses halve each minute. They keep that pace until nothing is due.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How often the pace was doubled.
    pressure: u32,
    /// When the pace was last adjusted, on the boot clock, and how late removal was then.
    looked: Option<(Duration, Duration)>,
}

impl Pace {
    /// About how many Emails the next step removes.
    pub(super) fn step(&self) -> usize {
        STEP << self.pressure
    }

    /// The pause after a step that took `took`.
    pub(super) fn pause(&self, took: Duration) -> Duration {
        (took / (1 << self.pressure)).min(PAUSE_MAX)
    }

    /// Records that Emails are due at `boot`, the oldest of them for `late`.
    pub(super) fn record_late(&mut self, boot: Duration, late: Duration) {
        let Some((looked_at, before)) = self.looked else {
            self.looked = Some((boot, late));
            return;
        };
        if boot.saturating_sub(looked_at) >= POLL_INTERVAL {
            if late >= before {
                self.pressure = (self.pressure + 1).min(PRESSURE_MAX);
            }
            self.looked = Some((boot, late));
        }
    }

    /// Records that nothing is due, and resets the pace.
    pub(super) fn record_done(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How many Emails are removed in `seconds`, and how many become due at `due` per second. A step takes 10 ms, and
    /// another 10 ms for each 125 Emails.
    fn removed(pace: &mut Pace, seconds: u64, due: u64) -> (u64, u64) {
        let (mut now, mut removed) = (0, 0);
        while now < 1000 * seconds {
            let step = pace.step() as u64;
            let took = 10 + 10 * (step / 125);
            now += took;
            removed += step;
            if removed * 1000 >= now * due {
                removed = now * due / 1000;
                pace.record_done();
                now += 100;
            } else {
                pace.record_late(Duration::from_millis(now), Duration::from_millis(now - removed * 1000 / due));
            }
            now += u64::try_from(pace.pause(Duration::from_millis(took)).as_millis()).expect("a short time");
        }
        (removed, due * seconds)
    }

    #[test]
    fn others_have_half_of_the_writer() {
        let pace = Pace::default();
        assert_eq!((pace.step(), pace.pause(8 * SECOND / 1000)), (125, 8 * SECOND / 1000));
        assert_eq!(pace.pause(30 * SECOND), SECOND);
    }

    #[test]
    fn removal_keeps_up_with_what_comes_in() {
        // The first steps remove 3,125 Emails per second. A writer without other work could remove 12,500.
        for due in [100, 3_000, 5_000, 9_000] {
            let mut pace = Pace::default();
            let (removed, wanted) = removed(&mut pace, 7_200, due);
            assert!(wanted.saturating_sub(removed) < due * 600, "{due} a second: {removed} of {wanted}");
        }
    }

    #[test]
    fn a_backlog_that_shrinks_costs_others_no_more() {
        let mut pace = Pace::default();
        for minute in 0..60 {
            pace.record_late(60 * minute * SECOND, (10_000 - 10 * minute) * SECOND);
            assert_eq!(pace.step(), 125, "minute {minute}");
        }
    }

    #[test]
    fn a_backlog_that_grows_is_removed_faster_each_minute_until_there_is_none() {
        let mut pace = Pace::default();
        let mut steps = Vec::new();
        for minute in 0..8 {
            pace.record_late(60 * minute * SECOND, minute * SECOND);
            steps.push(pace.step());
        }
        assert_eq!(steps, [125, 250, 500, 1000, 2000, 4000, 4000, 4000]);
        assert_eq!(pace.pause(SECOND), SECOND / 32);
        pace.record_late(600 * SECOND, SECOND);
        assert_eq!(pace.step(), 4000, "it has only begun to shrink");
        pace.record_done();
        assert_eq!(pace.step(), 125);
    }
}
