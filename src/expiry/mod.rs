//! Removing what has expired: sleeps until something is due, then removes in small steps between the writer's groups.
//!
//! Whether an Email is readable never waits for this; it is decided when it is read. Here only its space comes back. What
//! of webhooks goes with time goes here as well: see `sweep`.

mod guard;
mod kept;
mod pace;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::{Store, StoreError};

use guard::StepBackGuard;
pub use guard::StepGuard;
pub use kept::Watch;
use pace::Pace;
pub use sweep::{Outlived, Sweep};

/// The longest sleep: a step of the clock is noticed within it.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest sleep: space need not come back sooner.
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// Removes what is due until `shutdown` is cancelled.
pub async fn run(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watch: Watch,
    sweep: Sweep,
    shutdown: CancellationToken,
) {
    let step_back = StepBackGuard::new(clock.now(), clock.boot());
    let mut worker = Worker { store, clock, watch, step_back, sweep, pace: Pace::default(), shutdown };
    while !worker.shutdown.is_cancelled() {
        let pause = match worker.remove_due().await {
            Ok(next_due_at) => next_due_at.map_or(SLEEP_MAX, |due| due.since(worker.clock.now())),
            Err(StoreError::Stopping) => return,
            Err(error) => {
                tracing::error!(%error, "expired mail could not be removed");
                SLEEP_MAX
            }
        };
        worker.sleep(pause.clamp(SLEEP_MIN, SLEEP_MAX)).await;
    }
}

struct Worker {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watch: Watch,
    step_back: StepBackGuard,
    sweep: Sweep,
    pace: Pace,
    shutdown: CancellationToken,
}

impl Worker {
    /// Removes everything that is due, as long as the time of day can be relied on; when the next is due.
    async fn remove_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        loop {
            let (now, begun) = (self.clock.now(), self.clock.boot());
            if !self.watch.may_remove(now, begun) || self.shutdown.is_cancelled() {
                return Ok(None);
            }
            self.sweep.run_if_due(now, begun).await;
            if self.step_back.may_shorten(now, begun) {
                let shortened = self.store.limit_lives(now).await?;
                if shortened > 0 {
                    tracing::warn!(
                        emails = shortened,
                        "mail that came while the clock was ahead expires after the retention"
                    );
                }
            }
            let pass = self.store.expire(now, self.pace.step()).await?;
            if pass.removed > 0 {
                tracing::debug!(emails = pass.removed, "removed expired mail");
            }
            let Some(due) = pass.next_due_at.filter(|due| *due <= now) else {
                self.pace.note_done();
                return Ok(pass.next_due_at);
            };
            let ended = self.clock.boot();
            self.pace.note_late(ended, now.since(due));
            self.sleep(self.pace.pause(ended.saturating_sub(begun))).await;
        }
    }

    async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = tokio::time::sleep(time) => {}
        }
    }
}
