//! Removes expired mail in small steps between the writer's groups.
//!
//! Each read decides whether an Email is still readable. Expiry only frees its space.
//!
//! ```text
//! pace         how fast expired mail is removed     sweep       removes unused webhooks and expired events
//! clock_step   detects steps of the clock           clock_file  keeps the detector's state over a restart
//! ```

mod clock_file;
mod clock_step;
mod pace;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::{Store, StoreError};

pub use clock_file::ClockWatch;
use clock_step::OverlongDetector;
pub use clock_step::StepDetector;
use pace::Pace;
pub use sweep::{Outlived, Sweep};

/// The longest sleep, which is also the longest time until a step of the clock is noticed.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest sleep, so that a few Emails at a time do not keep the worker busy.
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// Removes expired mail until `shutdown` is cancelled.
///
/// Mail that arrived while the clock was ahead has an expiry too late. It is removed after it has been kept for
/// `retention`.
pub async fn run(
    retention: Duration,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watch: ClockWatch,
    sweep: Sweep,
    shutdown: CancellationToken,
) {
    let overlong = OverlongDetector::new(retention, clock.now(), clock.boot());
    let mut worker = Worker { store, clock, watch, overlong, sweep, pace: Pace::default(), shutdown };
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
    watch: ClockWatch,
    overlong: OverlongDetector,
    sweep: Sweep,
    pace: Pace,
    shutdown: CancellationToken,
}

impl Worker {
    /// Removes all Emails that are due, unless the time of day is unreliable. Returns when the next Email is due.
    async fn remove_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        loop {
            let (now, begun) = (self.clock.now(), self.clock.boot());
            if !self.watch.may_remove(now, begun) || self.shutdown.is_cancelled() {
                return Ok(None);
            }
            self.sweep.run_if_due(now, begun).await;
            let pass = self.store.expire(now, self.pace.step()).await?;
            if pass.removed > 0 {
                tracing::debug!(emails = pass.removed, "removed expired mail");
            }
            let Some(due) = pass.next_due_at.filter(|due| *due <= now) else {
                self.pace.record_done();
                let is_all = self.remove_overlong(pass.last_due_at, now).await?;
                return Ok(if is_all { pass.next_due_at } else { Some(now) });
            };
            let ended = self.clock.boot();
            self.pace.record_late(ended, now.since(due));
            self.sleep(self.pace.pause(ended.saturating_sub(begun))).await;
        }
    }

    /// Removes one step of mail that arrived while the clock was ahead and whose retention has ended. Returns whether
    /// none is left.
    async fn remove_overlong(&mut self, last_due_at: Option<Timestamp>, now: Timestamp) -> Result<bool, StoreError> {
        if !self.overlong.have_lived(last_due_at, now, self.clock.boot()) {
            return Ok(true);
        }
        let emails = self.store.remove_overlong(self.overlong.latest(now), self.pace.step()).await?;
        tracing::warn!(emails, "removed mail that arrived while the clock was ahead, since its retention has ended");
        Ok(emails == 0)
    }

    async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = self.clock.sleep(time) => {}
        }
    }
}
