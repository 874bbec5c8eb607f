//! Removing what has expired: sleeps until something is due, then removes in small steps between the writer's groups.
//!
//! Whether an Email is readable never waits for this; it is decided when it is read. Here only its space comes back. What
//! of webhooks goes with time goes here as well: see `sweep`.

mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub(crate) use sweep::{Outlived, Sweep};

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
/// After a step, and after a start with mail, nothing is removed for so long: time for the clock to be put right.
const STEP_PAUSE: Duration = Duration::from_secs(600);

/// The guard for [`run`], made before any mail is taken. In an empty store nothing is due by a time that another clock
/// set, so that nothing has to wait.
pub(crate) async fn guard(store: &dyn Store, clock: &dyn Clock) -> StepGuard {
    let (now, boot) = (clock.now(), clock.boot());
    match store.stats().await {
        Ok(stats) if stats.emails == 0 => StepGuard::settled(now, boot),
        // What is not known to be empty is taken to be full.
        _ => StepGuard::new(now, boot),
    }
}

/// Removes what is due until `shutdown` is cancelled.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    mut guard: StepGuard,
    mut sweep: Sweep,
    shutdown: CancellationToken,
) {
    loop {
        let pause = match remove_due(&*store, &*clock, &mut guard, &mut sweep).await {
            Ok(next_due_at) => next_due_at.map_or(SLEEP_MAX, |due| due.since(clock.now())),
            Err(StoreError::Stopping) => return,
            Err(error) => {
                tracing::error!(%error, "expired mail could not be removed");
                SLEEP_MAX
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(pause.clamp(SLEEP_MIN, SLEEP_MAX)) => {}
        }
    }
}

/// Removes everything that is due, as long as the time of day can be relied on; when the next is due.
async fn remove_due(
    store: &dyn Store,
    clock: &dyn Clock,
    guard: &mut StepGuard,
    sweep: &mut Sweep,
) -> Result<Option<Timestamp>, StoreError> {
    loop {
        let (now, boot) = (clock.now(), clock.boot());
        if !guard.may_remove(now, boot) {
            return Ok(None);
        }
        sweep.run_if_due(now, boot).await;
        let pass = store.expire(now, STEP).await?;
        if pass.removed > 0 {
            tracing::debug!(emails = pass.removed, "removed expired mail");
        }
        if pass.next_due_at.is_none_or(|due| due > now) {
            return Ok(pass.next_due_at);
        }
        tokio::task::yield_now().await;
    }
}

/// Notices when the time of day jumps forward, which would make mail due that is not.
///
/// A start is taken for a step forward: what the clock did before it is not known.
#[derive(Debug)]
pub(crate) struct StepGuard {
    last: (Timestamp, Duration),
    /// How far the steps since the pause began have brought the time of day forward, as far as is known.
    ahead: Duration,
    /// On the clock that never jumps.
    paused_until: Duration,
}

impl StepGuard {
    pub(crate) fn new(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), ahead: Duration::MAX, paused_until: boot + STEP_PAUSE }
    }

    /// A guard that has watched the clock for as long as it matters.
    fn settled(now: Timestamp, boot: Duration) -> Self {
        Self { last: (now, boot), ahead: Duration::ZERO, paused_until: boot }
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
    fn suspension_is_no_step() {
        assert!(settled().may_remove(at(DAY), boot(DAY + 100)));
    }
}
