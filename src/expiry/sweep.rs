//! Removes webhooks without mail or delivery, and expired events.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::model::Timestamp;
use crate::store::{Storage, StoreError, WebhookSweep};

/// The time from a start to the first sweep, in which an operator can correct the clock.
const FIRST_AFTER: Duration = Duration::from_mins(10);
/// The time between two sweeps, unless webhooks live shorter than that.
const EVERY: Duration = Duration::from_hours(1);
/// The shortest time between two sweeps.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// The kinds of webhooks or events that a sweep removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlived {
    /// Revision 2 removes webhooks without mail, and webhooks without a delivery since their registration. The
    /// dispatcher ends events.
    Webhooks {
        /// The longest time that a webhook is kept without mail.
        idle_max: Duration,
        /// The longest time that a webhook is kept without a first delivery.
        unproven_max: Duration,
    },
    /// Revision 1 sends no events, and removes events of expired mail. It keeps webhooks for a later revision 2.
    Events {
        /// The time that an event is kept after its mail has expired.
        grace: Duration,
    },
}

/// Removes outlived webhooks and events at regular intervals.
pub(super) struct Sweep {
    store: Arc<dyn Storage>,
    outlived: Outlived,
    /// The next sweep. Time in which the machine is suspended does not count.
    due_at: Instant,
}

impl Sweep {
    /// A sweep that first runs some minutes after the start, so that the clock can be corrected before.
    pub(super) fn new(store: Arc<dyn Storage>, outlived: Outlived) -> Self {
        Self { store, outlived, due_at: Instant::now() + FIRST_AFTER }
    }

    /// Runs a sweep if one is due.
    pub(super) async fn run_if_due(&mut self, now: Timestamp) {
        if Instant::now() < self.due_at {
            return;
        }
        let every = match self.outlived {
            Outlived::Webhooks { idle_max, unproven_max } => idle_max.min(unproven_max).clamp(EVERY_MIN, EVERY),
            Outlived::Events { .. } => EVERY,
        };
        self.due_at = Instant::now() + every;
        match self.run(now).await {
            Ok((0, 0)) | Err(StoreError::Stopping) => {}
            Ok((webhooks, events)) => {
                tracing::info!(webhooks, events, "removed webhooks without mail or delivery, and expired events");
            }
            Err(error) => {
                tracing::warn!(
                    %error,
                    "unused webhooks and expired events could not be removed; the next sweep tries again"
                );
            }
        }
    }

    /// Runs a sweep. Returns how many webhooks and events it removed.
    async fn run(&self, now: Timestamp) -> Result<(usize, usize), StoreError> {
        match self.outlived {
            Outlived::Webhooks { idle_max, unproven_max } => {
                let idle = self.store.delete_webhooks(WebhookSweep::IdleSince(now.before(idle_max))).await?;
                let unproven =
                    self.store.delete_webhooks(WebhookSweep::UnprovenSince(now.before(unproven_max))).await?;
                let webhooks = idle + unproven;
                // These events belong to webhooks whose disabling was interrupted.
                Ok((webhooks, self.store.end_events(Timestamp::from_millis(i64::MIN)).await?))
            }
            Outlived::Events { grace } => Ok((0, self.store.end_events(now.before(grace)).await?)),
        }
    }
}
