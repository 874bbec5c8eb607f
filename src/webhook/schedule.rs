//! When a failed event is retried.
//!
//! Pure: the time and the jitter are arguments.

use std::time::Duration;

use crate::model::Timestamp;

/// The longest wait that is granted to a receiver that asks with `Retry-After`.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// A random part of each wait: it is up to so much longer or shorter.
const JITTER: f64 = 0.2;

/// The waits between the attempts of an event. The last one repeats until the event ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Never empty.
    waits: Vec<Duration>,
}

impl Default for Schedule {
    /// 5 s, 30 s, 2 min, 10 min, 30 min, then 1 h.
    fn default() -> Self {
        Self { waits: [5, 30, 120, 600, 1800, 3600].map(Duration::from_secs).to_vec() }
    }
}

impl Schedule {
    /// A schedule with these waits in their order. An empty list stands for the default.
    pub fn new(waits: Vec<Duration>) -> Self {
        if waits.is_empty() { Self::default() } else { Self { waits } }
    }

    /// The longest wait that this schedule can give. An event that is due later was scheduled before the clock was set back.
    pub fn longest(&self) -> Duration {
        let longest = self.waits.iter().max().copied().unwrap_or_default();
        longest.mul_f64(1.0 + JITTER).max(RETRY_AFTER_MAX)
    }

    /// When the next attempt is due after `attempts_made` failed ones (at least 1), the last of which ended at `now`. `None`
    /// if that is later than `ends_at`: then there is no other attempt.
    ///
    /// The caller chooses `jitter` in 0..=1 at random. It makes the wait up to 20 % longer or shorter, so that events that
    /// failed together are not retried together. `retry_after` can make a wait longer, up to [`RETRY_AFTER_MAX`], but never
    /// shorter.
    pub fn next(
        &self,
        attempts_made: u32,
        now: Timestamp,
        jitter: f64,
        retry_after: Option<Duration>,
        ends_at: Timestamp,
    ) -> Option<Timestamp> {
        let index = usize::try_from(attempts_made.saturating_sub(1)).unwrap_or(usize::MAX);
        let wait = self.waits.get(index).or(self.waits.last()).copied().unwrap_or(RETRY_AFTER_MAX);
        let moved = wait.mul_f64(1.0 + JITTER * (2.0 * jitter.clamp(0.0, 1.0) - 1.0));
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let at = now.plus(moved.max(asked));
        (at <= ends_at).then_some(at)
    }
}

/// The wait from `now` that a `Retry-After` header asks for (RFC 9110 section 10.2.3). `None` if the value is not valid.
///
/// The value is a number of seconds, or a date in any of HTTP's three forms. A past date means no wait.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|octet| octet.is_ascii_digit()) {
        // A number that does not fit asks for a long wait as well.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Some(Timestamp::from_millis(0).plus(since_epoch).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const MIDDLE: f64 = 0.5;

    fn wait(schedule: &Schedule, made: u32, jitter: f64, asked: Option<u64>) -> Option<u64> {
        let at = schedule.next(made, NOW, jitter, asked.map(Duration::from_secs), Timestamp::MAX)?;
        Some(u64::try_from(at.since(NOW).as_millis()).expect("a short wait"))
    }

    #[test]
    fn the_default_waits() {
        let schedule = Schedule::default();
        for (made, seconds) in [
            (0, 5),
            (1, 5),
            (2, 30),
            (3, 120),
            (4, 600),
            (5, 1800),
            (6, 3600),
            (7, 3600),
            (100, 3600),
            (u32::MAX, 3600),
        ] {
            assert_eq!(wait(&schedule, made, MIDDLE, None), Some(seconds * 1000), "after {made}");
            assert_eq!(wait(&schedule, made, 0.0, None), Some(seconds * 800), "the least after {made}");
            assert_eq!(wait(&schedule, made, 1.0, None), Some(seconds * 1200), "the most after {made}");
        }
    }

    #[test]
    fn retry_after_lengthens_a_wait_up_to_an_hour_and_never_shortens_it() {
        let schedule = Schedule::default();
        for (made, asked, seconds) in [
            (1, 0, 5),
            (1, 4, 5),
            (1, 60, 60),
            (2, 10, 30),
            (1, 3600, 3600),
            (1, 3601, 3600),
            (1, u64::MAX, 3600),
            (6, 60, 3600),
        ] {
            assert_eq!(wait(&schedule, made, MIDDLE, Some(asked)), Some(seconds * 1000), "{made}, asked {asked}");
        }
    }

    #[test]
    fn no_attempt_is_due_after_the_event_has_ended() {
        let schedule = Schedule::default();
        let next = |made, ends_at| schedule.next(made, NOW, MIDDLE, None, ends_at);
        let ends_at = NOW.plus(Duration::from_secs(30));
        assert_eq!(next(2, ends_at), Some(ends_at));
        assert_eq!(next(2, Timestamp::from_millis(ends_at.millis() - 1)), None);
        assert_eq!(next(1, NOW), None);
        let asked = Some(Duration::from_secs(31));
        assert_eq!(schedule.next(1, NOW, MIDDLE, asked, ends_at), None, "the receiver asked for later");
    }

    #[test]
    fn a_jitter_out_of_range_counts_as_the_nearest_one_in_range() {
        let schedule = Schedule::default();
        assert_eq!(wait(&schedule, 1, -7.0, None), Some(4000));
        assert_eq!(wait(&schedule, 1, 7.0, None), Some(6000));
    }

    #[test]
    fn no_event_is_due_later_than_the_longest_wait() {
        let longest = |waits: Vec<Duration>| Schedule::new(waits).longest();
        assert_eq!(longest(vec![Duration::from_secs(5), Duration::from_hours(2)]), Duration::from_secs(8640));
        assert_eq!(longest(vec![Duration::from_millis(50)]), RETRY_AFTER_MAX, "a receiver may ask for as much");
        let schedule = Schedule::default();
        let asked = Some(u64::MAX);
        for made in 1..10 {
            let most = wait(&schedule, made, 1.0, asked).map(Duration::from_millis);
            assert!(most <= Some(schedule.longest()), "{made}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        // NOW is Tue, 14 Nov 2023 22:13:20 GMT.
        for (value, seconds) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Tue, 14 Nov 2023 22:14:20 GMT", Some(60)),
            ("Tuesday, 14-Nov-23 22:14:20 GMT", Some(60)),
            ("Tue Nov 14 22:14:20 2023", Some(60)),
            ("Tue, 14 Nov 2023 22:13:20 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("2023-11-14T22:14:20Z", None),
        ] {
            assert_eq!(retry_after(value, NOW), seconds.map(Duration::from_secs), "{value:?}");
        }
    }
}
