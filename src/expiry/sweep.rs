//! Removes webhooks without mail or delivery, and events past their end.

use std::sync::Arc;
use std::time::Duration;

use super::clock_step::STEP_PAUSE;
use crate::model::Timestamp;
use crate::store::{Outbox, StoreError};

/// The time between two sweeps, unless webhooks live shorter than that.
const EVERY: Duration = Duration::from_hours(1);
/// The shortest time between two sweeps.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// What a sweep removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlived {
    /// In revision 2: webhooks without mail, or without a delivery since their registration. The dispatcher ends events.
    Webhooks {
        /// For how long there was no mail.
        idle_max: Duration,
        /// How long ago those were registered that never had a delivery.
        unproven_max: Duration,
    },
    /// In revision 1, which sends no events: events of expired mail. Webhooks are kept until they are used again.
    Events {
        /// How long ago their mail expired.
        grace: Duration,
    },
}

/// Removes it from time to time.
pub struct Sweep {
    outbox: Arc<dyn Outbox>,
    outlived: Outlived,
    /// On the clock that never jumps.
    due_at: Duration,
}

impl Sweep {
    /// A sweep that begins some minutes after a start at `boot`, so that the clock can be set right first.
    pub fn new(outbox: Arc<dyn Outbox>, outlived: Outlived, boot: Duration) -> Self {
        Self { outbox, outlived, due_at: boot + STEP_PAUSE }
    }

    /// Removes what is outlived at `now`, if a sweep is due.
    pub(super) async fn run_if_due(&mut self, now: Timestamp, boot: Duration) {
        if boot < self.due_at {
            return;
        }
        let every = match self.outlived {
            Outlived::Webhooks { idle_max, unproven_max } => idle_max.min(unproven_max).clamp(EVERY_MIN, EVERY),
            Outlived::Events { .. } => EVERY,
        };
        self.due_at = boot + every;
        match self.run(now).await {
            Ok((0, 0)) | Err(StoreError::Stopping) => {}
            Ok((webhooks, events)) => {
                tracing::info!(webhooks, events, "removed webhooks without mail or delivery and events past their end");
            }
            Err(error) => {
                tracing::warn!(%error, "webhooks without mail and events past their end could not be removed");
            }
        }
    }

    /// Returns how many webhooks and events were removed.
    async fn run(&self, now: Timestamp) -> Result<(usize, usize), StoreError> {
        match self.outlived {
            Outlived::Webhooks { idle_max, unproven_max } => {
                let idle = self.outbox.delete_idle_webhooks(now.before(idle_max)).await?;
                let unproven = self.outbox.delete_unproven_webhooks(now.before(unproven_max)).await?;
                let webhooks = idle + unproven;
                // Events of webhooks whose disabling was interrupted.
                Ok((webhooks, self.outbox.end_events(Timestamp::from_millis(i64::MIN)).await?))
            }
            Outlived::Events { grace } => Ok((0, self.outbox.end_events(now.before(grace)).await?)),
        }
    }
}
