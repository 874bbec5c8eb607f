//! Removes expired mail in small steps between the writer's groups.
//!
//! Each read decides whether an Email is still readable. Expiry only frees its space.
//! [`Sweep`] removes unused webhooks and expired events.

mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::{Store, StoreError};

pub use sweep::{Outlived, Sweep};

/// About how many Emails one step removes.
const STEP: usize = 1_000;
/// The longest sleep, which is also the longest time until it is noticed that the clock was set.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// The shortest sleep, so that a few Emails at a time do not keep the worker busy.
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// Removes expired mail until `shutdown` is cancelled.
pub async fn run(store: Arc<dyn Store>, clock: Arc<dyn Clock>, sweep: Sweep, shutdown: CancellationToken) {
    let mut worker = Worker { store, clock, sweep, is_full: false, shutdown };
    while !worker.shutdown.is_cancelled() {
        worker.say_whether_full();
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
    is_full: bool,
    shutdown: CancellationToken,
}

impl Worker {
    /// Says when the store begins and ceases to refuse mail for want of room.
    fn say_whether_full(&mut self) {
        let is_full = match self.store.accepts() {
            Ok(()) => false,
            Err(StoreError::Full) => true,
            // Whoever asks for something is told of it.
            Err(_) => return,
        };
        if is_full != std::mem::replace(&mut self.is_full, is_full) {
            if is_full {
                let shortage = self.store.shortage().unwrap_or_default();
                tracing::warn!(shortage, "the store is full, and mail is refused");
            } else {
                tracing::warn!("the store has room again, and mail is accepted");
            }
        }
    }

    /// Removes all Emails that are due. Returns when the next Email is due.
    ///
    /// A pause is as long as the step before it, so that others get half of the store's time.
    async fn remove_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        loop {
            let (now, begun) = (self.clock.now(), self.clock.boot());
            if self.shutdown.is_cancelled() {
                return Ok(None);
            }
            self.sweep.run_if_due(now, begun).await;
            let pass = self.store.expire(now, STEP).await?;
            if pass.removed > 0 {
                tracing::debug!(emails = pass.removed, "removed expired mail");
            }
            if pass.next_due_at.is_none_or(|due| due > now) {
                return Ok(pass.next_due_at);
            }
            self.sleep(self.clock.boot().saturating_sub(begun).min(SLEEP_MAX)).await;
        }
    }

    async fn sleep(&self, time: Duration) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = self.clock.sleep(time) => {}
        }
    }
}
