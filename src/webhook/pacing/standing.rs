//! What is thought of an endpoint, from how its attempts ended.

use std::time::Duration;

use super::PacingLimits;
use crate::webhook::outcome::{Outcome, Verdict};

/// An attempt that takes longer has left its place hanging, whatever came of it.
const PROMPT_WITHIN: Duration = Duration::from_secs(1);
/// An endpoint rests from so many failures running on: as many as are under way at once, so that a receiver that fails now
/// and then is not held up.
const FAILURES_FREE: u32 = 4;
/// The first rest. It doubles with each failure.
const REST_MIN: Duration = Duration::from_millis(100);
/// The longest rest of an endpoint that answers with failures. It is short, since one webhook's failures are not those of
/// another at the same endpoint.
const REST_ANSWERED_MAX: Duration = Duration::from_millis(250);
/// The longest rest of one that does not answer.
const REST_MAX: Duration = Duration::from_secs(5);

/// How an attempt ended, as far as the endpoint's next turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The event was taken within a second.
    Taken,
    /// It was taken, but later.
    TakenLate,
    /// It was answered with another status within a second.
    Refused,
    /// No connection, no answer, or a failure after more than a second.
    Silent,
}

impl End {
    /// How the attempt ended that had this outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let is_prompt = outcome.status.is_some() && outcome.duration <= PROMPT_WITHIN;
        match (outcome.verdict(), is_prompt) {
            (Verdict::Delivered, true) => Self::Taken,
            (Verdict::Delivered, false) => Self::TakenLate,
            (_, true) => Self::Refused,
            (_, false) => Self::Silent,
        }
    }
}

/// What is remembered of an endpoint's attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    is_prompt: bool,
    /// Failures since the last event that was taken.
    failures: u32,
    rests_until: Option<Duration>,
}

impl Standing {
    pub(super) fn new(is_prompt: bool) -> Self {
        Self { is_prompt, failures: 0, rests_until: None }
    }

    pub(super) fn is_prompt(&self) -> bool {
        self.is_prompt
    }

    /// Attempts that may be in flight at it.
    pub(super) fn slots(&self, limits: &PacingLimits) -> usize {
        if self.is_prompt && self.failures < FAILURES_FREE { limits.in_flight_per_endpoint } else { 1 }
    }

    /// When its rest after failures ends, if it has one.
    pub(super) fn rests_until(&self) -> Option<Duration> {
        self.rests_until
    }

    /// Notes an attempt that ended at `now`.
    pub(super) fn note(&mut self, end: End, now: Duration) {
        // A refusal says nothing of how long an event would take.
        self.is_prompt = end == End::Taken || end == End::Refused && self.is_prompt;
        let rest_max = match end {
            End::Taken | End::TakenLate => {
                (self.failures, self.rests_until) = (0, None);
                return;
            }
            End::Refused => REST_ANSWERED_MAX,
            End::Silent => REST_MAX,
        };
        self.failures = self.failures.saturating_add(1);
        let Some(doublings) = self.failures.checked_sub(FAILURES_FREE) else { return };
        let rest = REST_MIN.saturating_mul(1 << doublings.min(16)).min(rest_max);
        self.rests_until = Some(now + rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_an_attempt_ended_as_a_table() {
        for (status, millis, end) in [
            (Some(200), 5, End::Taken),
            (Some(204), 1000, End::Taken),
            (Some(200), 1001, End::TakenLate),
            (Some(500), 5, End::Refused),
            (Some(302), 5, End::Refused),
            (Some(429), 1001, End::Silent),
            (None, 15_000, End::Silent),
            (None, 1, End::Silent),
        ] {
            let outcome = Outcome {
                status,
                class: None,
                duration: Duration::from_millis(millis),
                retry_after: None,
                response: String::new(),
                detail: String::new(),
            };
            assert_eq!(End::of(&outcome), end, "{status:?} after {millis} ms");
        }
    }

    #[test]
    fn rests_grow_to_their_bound_and_end_with_a_success() {
        let limits = PacingLimits { in_flight_per_endpoint: 4, in_flight: 64, per_minute: 600 };
        let now = Duration::from_secs(100);
        for (end, millis) in [
            (End::Refused, [0, 0, 0, 100, 200, 250, 250, 250, 250, 250]),
            (End::Silent, [0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000]),
        ] {
            let mut standing = Standing::new(true);
            for (made, millis) in (1..).zip(millis) {
                standing.note(end, now);
                let rest = standing.rests_until().map_or(Duration::ZERO, |until| until.saturating_sub(now));
                assert_eq!(rest, Duration::from_millis(millis), "{end:?} {made} times");
                let slots = if end == End::Refused && made < 4 { 4 } else { 1 };
                assert_eq!(standing.slots(&limits), slots, "{end:?} {made} times");
            }
            standing.note(End::Taken, now);
            assert_eq!((standing.rests_until(), standing.slots(&limits)), (None, 4));
        }
    }

    #[test]
    fn only_an_event_taken_in_time_makes_an_endpoint_prompt() {
        for (was, end, is) in [
            (false, End::Taken, true),
            (false, End::TakenLate, false),
            (false, End::Refused, false),
            (false, End::Silent, false),
            (true, End::Taken, true),
            (true, End::TakenLate, false),
            (true, End::Refused, true),
            (true, End::Silent, false),
        ] {
            let mut standing = Standing::new(was);
            standing.note(end, Duration::ZERO);
            assert_eq!(standing.is_prompt(), is, "{was} and {end:?}");
        }
    }
}
