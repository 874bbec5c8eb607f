//! Removing what has expired: sleeps until something is due, then removes in small steps between the writer's groups.
//!
//! Whether an Email is readable never waits for this; it is decided when it is read. Here only its space comes back.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::{Store, StoreError};

/// How many Emails one change removes, about.
const STEP: usize = 500;
/// The longest sleep: a step of the clock is noticed within it.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest sleep: space need not come back sooner.
const SLEEP_MIN: Duration = Duration::from_millis(100);
/// A clock that runs ahead by more than this, against the one that never jumps, has stepped.
const STEP_TOLERANCE: Duration = Duration::from_secs(60);
/// After a step nothing is removed for so long: time for the clock to be put right.
const STEP_PAUSE: Duration = Duration::from_secs(600);

/// Removes what is due until `shutdown` is cancelled.
pub async fn run(store: Arc<dyn Store>, clock: Arc<dyn Clock>, shutdown: CancellationToken) {
    let mut guard = StepGuard::new(clock.now(), clock.boot());
    loop {
        let sleep = if guard.may_remove(clock.now(), clock.boot()) {
            match remove_due(&*store, &*clock).await {
                Ok(next_due_at) => next_due_at.map_or(SLEEP_MAX, |due| due.since(clock.now())),
                Err(StoreError::Stopping) => return,
                Err(error) => {
                    tracing::error!(%error, "expired mail could not be removed");
                    SLEEP_MAX
                }
            }
        } else {
            SLEEP_MAX
        };
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(sleep.clamp(SLEEP_MIN, SLEEP_MAX)) => {}
        }
    }
}

/// Removes everything that is due; when the next is.
async fn remove_due(store: &dyn Store, clock: &dyn Clock) -> Result<Option<Timestamp>, StoreError> {
    loop {
        let pass = store.expire(clock.now(), STEP).await?;
        if pass.removed > 0 {
            tracing::debug!(emails = pass.removed, "removed expired mail");
        }
        if pass.next_due_at.is_none_or(|due| due > clock.now()) {
            return Ok(pass.next_due_at);
        }
        tokio::task::yield_now().await;
    }
}

/// Notices when the time of day jumps forward, which would make mail due that is not.
#[derive(Debug)]
pub(crate) struct StepGuard {
    last: (Timestamp, Duration),
    /// On the clock that never jumps.
    paused_until: Duration,
}

impl StepGuard {
    pub(crate) fn new(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), paused_until: Duration::ZERO }
    }

    /// Whether the time of day can be relied on so far that something may be removed by it.
    pub(crate) fn may_remove(&mut self, now: Timestamp, boot: Duration) -> bool {
        let (last_now, last_boot) = self.last;
        self.last = (now, boot);
        let ahead = now.since(last_now).saturating_sub(boot.saturating_sub(last_boot));
        let behind = last_now.since(now);
        if ahead > STEP_TOLERANCE {
            tracing::warn!(seconds = ahead.as_secs(), "the clock stepped forward; nothing is removed for ten minutes");
            self.paused_until = boot + STEP_PAUSE;
        } else if behind > STEP_TOLERANCE {
            tracing::warn!(seconds = behind.as_secs(), "the clock stepped back");
            self.paused_until = Duration::ZERO;
        }
        boot >= self.paused_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
    }

    #[test]
    fn a_step_forward_pauses_removal_for_ten_minutes() {
        let boot = Duration::from_secs;
        let mut guard = StepGuard::new(at(0), boot(100));
        assert!(guard.may_remove(at(5), boot(105)));
        assert!(guard.may_remove(at(65), boot(110)), "within the tolerance");
        assert!(!guard.may_remove(at(86_400), boot(115)));
        assert!(!guard.may_remove(at(86_999), boot(714)));
        assert!(guard.may_remove(at(87_000), boot(715)));
    }

    #[test]
    fn a_clock_that_comes_back_ends_the_pause() {
        let boot = Duration::from_secs;
        let mut guard = StepGuard::new(at(0), boot(100));
        assert!(!guard.may_remove(at(86_400), boot(101)));
        assert!(guard.may_remove(at(2), boot(102)));
    }

    #[test]
    fn suspension_is_no_step() {
        let mut guard = StepGuard::new(at(0), Duration::from_secs(100));
        assert!(guard.may_remove(at(86_400), Duration::from_secs(86_500)));
    }
}
