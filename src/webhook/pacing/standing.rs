//! What is thought of an endpoint, from how its attempts ended.

use std::time::Duration;

use super::PacingLimits;
use crate::webhook::outcome::{Outcome, Verdict};

/// An attempt that takes longer leaves its place hanging, whatever comes of it.
pub(super) const PROMPT_WITHIN: Duration = Duration::from_secs(1);
/// An endpoint may have several attempts in flight once it has taken so many events in time since the last one that hung.
const TAKEN_IN_TIME_MIN: u32 = 8;
/// And it is prompt if that is so long ago by then: whoever hangs many attempts can't do so again at once.
pub(super) const PROMPT_AFTER: Duration = Duration::from_mins(2);
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
    /// There was no connection or no answer, which was known within a second.
    Unanswered,
    /// It failed after more than a second.
    Hung,
}

impl End {
    /// How the attempt ended that had this outcome.
    pub fn of(outcome: &Outcome) -> Self {
        match (outcome.verdict(), outcome.duration <= PROMPT_WITHIN) {
            (Verdict::Delivered, true) => Self::Taken,
            (Verdict::Delivered, false) => Self::TakenLate,
            (_, false) => Self::Hung,
            (_, true) if outcome.status.is_some() => Self::Refused,
            (_, true) => Self::Unanswered,
        }
    }
}

/// What is known of an endpoint that nothing is remembered of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It took what it was sent last.
    Good,
    /// It was sent nothing yet.
    Nothing,
    /// It did not take what it was sent last.
    Bad,
}

/// How far an endpoint is trusted not to leave a place hanging. The others than the prompt ones are doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It takes events in time.
    Prompt,
    /// It answers in time, but not for long enough.
    Answering,
    /// It has not answered yet.
    New,
    /// It left an attempt hanging, and has not been heard of in time since.
    Hanging,
}

impl Class {
    pub(super) const COUNT: usize = 4;
    /// Each at the place of its number.
    pub(super) const ALL: [Self; Self::COUNT] = [Self::Prompt, Self::Answering, Self::New, Self::Hanging];
}

/// What is remembered of an endpoint's attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// By the attempts that have ended.
    class: Class,
    /// Attempts in flight that hang.
    hanging: usize,
    /// When the last one was seen to hang, or from when on nothing is remembered of it.
    hung_at: Duration,
    /// Events that it took in time since the last attempt that hung.
    taken_in_time: u32,
    /// Failures since the last event that was taken.
    failures: u32,
    rests_until: Option<Duration>,
}

impl Standing {
    pub(super) fn new(known: Known, now: Duration) -> Self {
        let class = match known {
            Known::Good => Class::Prompt,
            Known::Nothing => Class::New,
            Known::Bad => Class::Hanging,
        };
        Self { class, hanging: 0, hung_at: now, taken_in_time: 0, failures: 0, rests_until: None }
    }

    pub(super) fn class(&self) -> Class {
        if self.hanging > 0 { Class::Hanging } else { self.class }
    }

    /// Attempts that may be in flight at it.
    pub(super) fn slots(&self, limits: &PacingLimits) -> usize {
        let is_proven = self.hanging == 0 && self.taken_in_time >= TAKEN_IN_TIME_MIN;
        if is_proven && self.failures < FAILURES_FREE { limits.in_flight_per_endpoint } else { 1 }
    }

    /// When its rest after failures ends, if it has one.
    pub(super) fn rests_until(&self) -> Option<Duration> {
        self.rests_until
    }

    /// Notes an attempt in flight that hangs by now.
    pub(super) fn note_hanging(&mut self) {
        self.hanging += 1;
    }

    /// Whether it must be remembered at `now`, that it does not seem prompt.
    pub(super) fn is_suspect(&self, now: Duration) -> bool {
        self.class != Class::Prompt && self.hung_at + PROMPT_AFTER > now
    }

    /// Notes that one of these is over.
    pub(super) fn note_over(&mut self) {
        self.hanging = self.hanging.saturating_sub(1);
    }

    /// Notes how an attempt ended at `now`.
    pub(super) fn note(&mut self, end: End, now: Duration) {
        self.classify(end, now);
        let rest_max = match end {
            End::Taken | End::TakenLate => {
                (self.failures, self.rests_until) = (0, None);
                return;
            }
            End::Refused => REST_ANSWERED_MAX,
            End::Unanswered | End::Hung => REST_MAX,
        };
        self.failures = self.failures.saturating_add(1);
        let Some(doublings) = self.failures.checked_sub(FAILURES_FREE) else { return };
        let rest = REST_MIN.saturating_mul(1 << doublings.min(16)).min(rest_max);
        self.rests_until = Some(now + rest);
    }

    fn classify(&mut self, end: End, now: Duration) {
        if end == End::Taken {
            self.taken_in_time = self.taken_in_time.saturating_add(1);
        }
        let is_proven = self.taken_in_time >= TAKEN_IN_TIME_MIN && now >= self.hung_at + PROMPT_AFTER;
        // A failure that is known at once says nothing of how long an event would take.
        self.class = match (end, self.class) {
            (End::TakenLate | End::Hung, _) => {
                (self.taken_in_time, self.hung_at) = (0, now);
                Class::Hanging
            }
            (End::Taken, _) if is_proven => Class::Prompt,
            (_, Class::Prompt) => Class::Prompt,
            (End::Taken | End::Refused, _) => Class::Answering,
            (End::Unanswered, Class::Hanging) => Class::New,
            (End::Unanswered, class) => class,
        };
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
            (Some(429), 1001, End::Hung),
            (None, 15_000, End::Hung),
            (None, 1001, End::Hung),
            (None, 1, End::Unanswered),
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

    /// As long after the first look as makes one prompt.
    const NOW: Duration = PROMPT_AFTER;

    /// One that took `taken` events in time.
    fn standing(known: Known, taken: u32) -> Standing {
        let mut standing = Standing::new(known, Duration::ZERO);
        (0..taken).for_each(|_| standing.note(End::Taken, NOW));
        standing
    }

    #[test]
    fn rests_grow_to_their_bound_and_end_with_a_success() {
        let limits = PacingLimits { in_flight_per_endpoint: 4, in_flight: 64, per_minute: 600 };
        let now = NOW;
        for (end, millis) in [
            (End::Refused, [0, 0, 0, 100, 200, 250, 250, 250, 250, 250]),
            (End::Unanswered, [0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000]),
            (End::Hung, [0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000]),
        ] {
            let mut standing = standing(Known::Nothing, TAKEN_IN_TIME_MIN);
            for (made, millis) in (1..).zip(millis) {
                standing.note(end, now);
                let rest = standing.rests_until().map_or(Duration::ZERO, |until| until.saturating_sub(now));
                assert_eq!(rest, Duration::from_millis(millis), "{end:?} {made} times");
                let slots = if end != End::Hung && made < 4 { 4 } else { 1 };
                assert_eq!(standing.slots(&limits), slots, "{end:?} {made} times");
            }
            standing.note(End::Taken, now);
            let slots = if end == End::Hung { 1 } else { 4 };
            assert_eq!((standing.rests_until(), standing.slots(&limits)), (None, slots), "{end:?}");
        }
    }

    #[test]
    fn what_an_endpoint_is_taken_for_as_a_table() {
        use Class::{Answering, Hanging, New, Prompt};
        let proven = TAKEN_IN_TIME_MIN;
        for (known, taken, end, class) in [
            (Known::Good, 0, None, Prompt),
            (Known::Nothing, 0, None, New),
            (Known::Nothing, 0, Some(End::Unanswered), New),
            (Known::Nothing, 1, Some(End::Unanswered), Answering),
            (Known::Bad, 0, None, Hanging),
            (Known::Nothing, proven - 1, None, Answering),
            (Known::Nothing, proven - 1, Some(End::Taken), Prompt),
            (Known::Nothing, proven - 1, Some(End::Refused), Answering),
            (Known::Nothing, proven, Some(End::Refused), Prompt),
            (Known::Nothing, proven, Some(End::Unanswered), Prompt),
            (Known::Nothing, proven, Some(End::TakenLate), Hanging),
            (Known::Nothing, proven, Some(End::Hung), Hanging),
            (Known::Good, 0, Some(End::Unanswered), Prompt),
            (Known::Good, 0, Some(End::Hung), Hanging),
            (Known::Bad, 0, Some(End::Taken), Answering),
            (Known::Bad, 0, Some(End::Refused), Answering),
            (Known::Bad, 0, Some(End::Unanswered), New),
            (Known::Bad, proven, None, Prompt),
        ] {
            let mut standing = standing(known, taken);
            if let Some(end) = end {
                standing.note(end, NOW);
            }
            assert_eq!(standing.class(), class, "{known:?}, {taken} taken, {end:?}");
        }
    }

    #[test]
    fn an_attempt_that_hung_undoes_all_that_was_taken_in_time_before() {
        let limits = PacingLimits { in_flight_per_endpoint: 4, in_flight: 64, per_minute: 600 };
        for known in [Known::Good, Known::Nothing] {
            let mut standing = standing(known, 1000);
            assert_eq!(standing.slots(&limits), 4);
            standing.note_hanging();
            assert_eq!((standing.slots(&limits), standing.class()), (1, Class::Hanging), "before it ends");
            standing.note_over();
            standing.note(End::Hung, NOW);
            for taken in 0..TAKEN_IN_TIME_MIN {
                assert_eq!((standing.slots(&limits), standing.class() == Class::Prompt), (1, false), "{taken}");
                standing.note(End::Taken, NOW);
            }
            assert_eq!((standing.slots(&limits), standing.class()), (4, Class::Answering), "for two minutes");
            assert!(standing.is_suspect(NOW + Duration::from_secs(119)));
            standing.note(End::Taken, NOW + PROMPT_AFTER);
            assert_eq!((standing.slots(&limits), standing.class()), (4, Class::Prompt));
        }
        assert_eq!(standing(Known::Good, TAKEN_IN_TIME_MIN - 1).slots(&limits), 1, "known, but not proven");
    }

    #[test]
    fn an_attempt_that_seemed_to_hang_and_did_not_costs_nothing() {
        let limits = PacingLimits { in_flight_per_endpoint: 4, in_flight: 64, per_minute: 600 };
        let mut standing = standing(Known::Nothing, TAKEN_IN_TIME_MIN);
        for end in [Some(End::Taken), None] {
            standing.note_hanging();
            standing.note_hanging();
            standing.note_over();
            if let Some(end) = end {
                standing.note(end, NOW);
            }
            assert_eq!((standing.slots(&limits), standing.class()), (1, Class::Hanging), "another one hangs");
            standing.note_over();
            assert_eq!((standing.slots(&limits), standing.class()), (4, Class::Prompt), "{end:?}");
        }
    }
}
