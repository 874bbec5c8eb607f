//! Removes domains that stay deactivated. Until then a deactivated domain keeps its place, and is still verified.

use std::time::Duration;

use super::records::Entry;
use super::registry::Registry;
use super::verifier::RETRY_AFTER;
use crate::model::Timestamp;
use crate::store::StoreError;

/// How long a deactivated domain keeps its place.
const PLACE_KEPT: Duration = Duration::from_hours(30 * 24);

/// The longest time between two looks, since the time of day may be set.
const LOOK_EVERY: Duration = Duration::from_hours(1);

/// Removes each deactivated domain when its place ends. Never returns.
pub(super) async fn run(registry: &Registry) {
    loop {
        let due_in = registry.remove_lapsed().await.unwrap_or_else(|error| {
            tracing::error!(%error, "a deactivated domain could not be removed; this is retried");
            RETRY_AFTER
        });
        registry.wait(due_in).await;
    }
}

impl Registry {
    /// Removes the domains whose place has ended. Returns how long to wait until the next one ends.
    async fn remove_lapsed(&self) -> Result<Duration, StoreError> {
        let now = self.clock.now();
        let mut due_in = LOOK_EVERY;
        for Entry { record, version } in self.records.deactivated().await {
            let ends_at = record.deactivated_at.unwrap_or(Timestamp::from_millis(0)).plus(PLACE_KEPT);
            if ends_at > now {
                due_in = due_in.min(ends_at.since(now));
            } else if self.records.remove(&record.name, Some(version)).await? {
                self.streaks(|streaks| streaks.forget(&record.name));
                tracing::info!(domain = %record.name, "the domain was deactivated for 30 days; it is removed");
            }
        }
        Ok(due_in)
    }
}
