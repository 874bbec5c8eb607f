//! Removes expired mail in small steps between the writer's groups.
//!
//! Each read decides whether an Email is still readable. Expiry only frees its space.
//!
//! ```text
//! pace         how fast expired mail is removed     sweep       removes unused webhooks and expired events
//! ```

mod pace;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::{Store, StoreError};

use pace::Pace;
pub use sweep::{Outlived, Sweep};

/// The longest sleep, which is also the longest time until it is noticed that the clock was set.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest sleep, so that a few Emails at a time do not keep the worker busy.
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// Removes expired mail until `shutdown` is cancelled.
pub async fn run(store: Arc<dyn Store>, clock: Arc<dyn Clock>, sweep: Sweep, shutdown: CancellationToken) {
    let mut worker = Worker { store, clock, sweep, pace: Pace::default(), shutdown };
    while !worker.shutdown.is_cancelled() {
        let pause = match worker.remove_due().await {
            Ok(next_due_at) => next_due_at.map_or(SLEEP_MAX, |due| due.since(worker.clock.now())),
            Err(StoreError::Stopping) => return,
            Err(error) => {
                tracing::error!(%error, "expired mail could not be removed; removal is retried");
                SLEEP_MAX
            }
        };
        worker.sleep(pause.clamp(SLEEP_MIN, SLEEP_MAX)).await;
    }
}

struct Worker {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    sweep: Sweep,
    pace: Pace,
    shutdown: CancellationToken,
}

impl Worker {
    /// Removes all Emails that are due. Returns when the next Email is due.
    async fn remove_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        loop {
            let (now, begun) = (self.clock.now(), self.clock.boot());
            if self.shutdown.is_cancelled() {
                return Ok(None);
            }
            self.sweep.run_if_due(now, begun).await;
            let pass = self.store.expire(now, self.pace.step()).await?;
            if pass.removed > 0 {
                tracing::debug!(emails = pass.removed, "removed expired mail");
            }
            let Some(due) = pass.next_due_at.filter(|due| *due <= now) else {
                self.pace.record_done();
                return Ok(pass.next_due_at);
            };
            let ended = self.clock.boot();
            self.pace.record_late(ended, now.since(due));
            self.sleep(self.pace.pause(ended.saturating_sub(begun))).await;
        }
    }

    async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = self.clock.sleep(time) => {}
        }
    }
}
