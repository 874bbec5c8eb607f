//! Ends leases that are over, and forgets those whose address need not rest, or has rested.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::Leases;
use crate::model::{LeaseRecord, Timestamp};
use crate::store::StoreError;

/// How many leases are looked at together.
const STEP: usize = 100;
/// How often the store is asked what is due.
const EVERY: Duration = Duration::from_secs(1);
/// How often the store forgets which mailboxes were open.
pub(super) const CLOSE_EVERY: Duration = Duration::from_mins(1);

/// Ends what is due until `shutdown` is cancelled.
pub async fn run(leases: Arc<Leases>, shutdown: CancellationToken) {
    let mut close_at = Instant::now();
    while !shutdown.is_cancelled() {
        let mut swept = leases.sweep().await;
        if Instant::now() >= close_at {
            close_at = Instant::now() + CLOSE_EVERY;
            swept = leases.store.close_mailboxes(leases.clock.now()).await.and(swept);
        }
        match &swept {
            Ok(_) => {}
            Err(StoreError::Stopping) => return,
            Err(error) => tracing::warn!(%error, "private inboxes that are over could not be removed; this is retried"),
        }
        let may_have_more = swept == Ok(STEP);
        if !may_have_more {
            shutdown.run_until_cancelled(sleep(EVERY)).await;
        }
    }
}

impl Leases {
    /// Ends some of what is due. Returns how many leases that were.
    pub(super) async fn sweep(&self) -> Result<usize, StoreError> {
        let now = self.clock.now();
        let due = self.store.due_leases(now, STEP).await?;
        let mut outcome = Ok(due.len());
        for lease in &due {
            // One that fails must not keep the others.
            outcome = self.finish(lease, now).await.and(outcome);
        }
        outcome
    }

    async fn finish(&self, lease: &LeaseRecord, now: Timestamp) -> Result<(), StoreError> {
        if lease.ended_at.is_some() {
            return self.store.replace_lease(Some(lease), None).await.map(drop);
        }
        self.clear(lease, now).await.map(drop)
    }
}
