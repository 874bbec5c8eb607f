//! How long to wait before a service that could not answer is asked again.

use std::time::Duration;

use super::{ClientError, Failure};

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// The longest pause that a service can ask for.
const ASKED_MAX: Duration = Duration::from_mins(1);

/// Pauses that double, unless the service asks for one of its own.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    /// Whether nothing has failed since the last success.
    pub fn is_first(&self) -> bool {
        self.next == FIRST
    }

    /// The pause after this failure, and no less than the service asks for. A part of it is chosen by chance, so that not
    /// all clients come back at once.
    pub fn next(&mut self, error: &ClientError) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST);
        let asked = error.problem().and_then(|problem| problem.retry_after).map(Duration::from_secs);
        let asked = asked.unwrap_or_default().min(ASKED_MAX);
        let chance = rand::random_range(0.0..=0.25);
        if asked > pause { asked + pause.mul_f64(chance) } else { pause.mul_f64(1.0 - chance) }
    }
}

impl ClientError {
    /// Whether the same request may succeed later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Refused(problem) => matches!(problem.status, 429 | 502..=504),
            Self::Ended(_) | Self::TooLarge { .. } => false,
            // A proxy says in its own words that the service is away, which is unintelligible.
            Self::Failed { why, .. } => !matches!(why, Failure::Redirected(_) | Failure::WrongBase),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Problem;

    fn refused(status: u16, retry_after: Option<u64>) -> ClientError {
        ClientError::Refused(Problem { status, retry_after, ..Problem::default() })
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_the_service_may_ask_for_longer_ones() {
        let mut backoff = Backoff::default();
        assert!(backoff.is_first());
        let error = refused(503, None);
        for longest in [200, 400, 800, 1600, 3200, 5000, 5000].map(Duration::from_millis) {
            let pause = backoff.next(&error);
            assert!(pause <= longest && pause >= longest / 2, "{pause:?} of {longest:?}");
        }
        assert!(!backoff.is_first());
        // A limited client that comes back earlier is refused again.
        for (asked, least) in [(7, 7), (9_999, 60)] {
            let (pause, least) = (Backoff::default().next(&refused(429, Some(asked))), Duration::from_secs(least));
            assert!(pause >= least && pause <= least + FIRST, "{pause:?}");
        }
    }

    #[test]
    fn what_a_repetition_cannot_change_is_final() {
        assert!(refused(503, None).may_pass() && refused(429, None).may_pass());
        assert!(!refused(403, None).may_pass() && !refused(400, None).may_pass());
    }
}
