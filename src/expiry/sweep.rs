//! What of webhooks goes with time: those for which no mail comes, and events that nobody is told any more.

use std::sync::Arc;
use std::time::Duration;

use super::clock_step::STEP_PAUSE;
use crate::model::Timestamp;
use crate::store::{Outbox, StoreError};

/// How often it is looked for, unless webhooks live shorter than that.
const EVERY: Duration = Duration::from_hours(1);
/// The shortest time between two looks.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// Which of it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlived {
    /// Where events are sent: webhooks that have had no mail, or no delivery since they were registered, for so long. An
    /// event's end is its sender's to know.
    Webhooks {
        /// For how long there was no mail.
        idle_max: Duration,
        /// How long ago those were registered that never had a delivery.
        unproven_max: Duration,
    },
    /// Where nobody sends any: events of mail that expired so long ago. Webhooks are kept until they are used again.
    Events {
        /// How long ago.
        grace: Duration,
    },
}

/// Looks for it from time to time.
pub struct Sweep {
    outbox: Arc<dyn Outbox>,
    outlived: Outlived,
    /// On the clock that never jumps.
    due_at: Duration,
}

impl Sweep {
    /// A sweep that begins some minutes after a start at `boot`: time for the clock to be put right.
    pub fn new(outbox: Arc<dyn Outbox>, outlived: Outlived, boot: Duration) -> Self {
        Self { outbox, outlived, due_at: boot + STEP_PAUSE }
    }

    /// Removes what goes by `now`, if it is time to look for it.
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

    /// How many webhooks and events went.
    async fn run(&self, now: Timestamp) -> Result<(usize, usize), StoreError> {
        match self.outlived {
            Outlived::Webhooks { idle_max, unproven_max } => {
                let idle = self.outbox.delete_idle_webhooks(now.before(idle_max)).await?;
                let unproven = self.outbox.delete_unproven_webhooks(now.before(unproven_max)).await?;
                let webhooks = idle + unproven;
                // What is left of webhooks whose disabling was cut off.
                Ok((webhooks, self.outbox.end_events(Timestamp::from_millis(i64::MIN)).await?))
            }
            Outlived::Events { grace } => Ok((0, self.outbox.end_events(now.before(grace)).await?)),
        }
    }
}
