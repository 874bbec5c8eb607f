//! Removes expired mail in small steps between the writer's groups.
//!
//! Each read decides whether an Email is still readable. Expiry only frees its space.
//! Once an hour a sweep removes unused webhooks and expired events. Leases that end have a sweep of their own, in `leases`.

mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::store::{Storage, Store, StoreError};

pub use sweep::Outlived;
use sweep::Sweep;

/// About how many Emails one step removes.
const STEP: usize = 1_000;
/// How often the store is looked at.
const EVERY: Duration = Duration::from_secs(1);
/// How many looks must find room before that is said: at the limit, room comes and goes with each mail.
const ROOM_FOR: u32 = 5;

/// Removes expired mail and what is `outlived`, and says whether the store is full, until `shutdown` is cancelled.
pub async fn run(store: Arc<dyn Storage>, clock: Arc<dyn Clock>, outlived: Outlived, shutdown: CancellationToken) {
    let mut sweep = Sweep::new(Arc::clone(&store), outlived);
    let mut full = None;
    while !shutdown.is_cancelled() {
        full = say_whether_full(&*store, full);
        sweep.run_if_due(clock.now()).await;
        match remove_due(&*store, &*clock, &shutdown).await {
            Ok(()) => {}
            Err(StoreError::Stopping) => return,
            Err(error) => tracing::error!(%error, "expired mail could not be removed; removal is retried"),
        }
        shutdown.run_until_cancelled(sleep(EVERY)).await;
    }
}

/// Says when the store begins and ceases to refuse mail for want of room. Takes and returns, once it is full, how many looks in
/// a row have found room since.
fn say_whether_full(store: &dyn Store, full: Option<u32>) -> Option<u32> {
    match (store.accepts(), full) {
        (Err(StoreError::Full), None) => {
            let shortage = store.shortage().unwrap_or_default();
            tracing::warn!(shortage, "the store is full, and mail is refused");
            Some(0)
        }
        (Err(StoreError::Full), Some(_)) => Some(0),
        (Ok(()), Some(ROOM_FOR)) => {
            tracing::warn!("the store has room again, and mail is accepted");
            None
        }
        (Ok(()), Some(looks)) => Some(looks + 1),
        // Whoever asks for something is told of other errors.
        (_, full) => full,
    }
}

/// Removes all Emails that are due. A pause is as long as the step before it, so that others get half of the store's time.
async fn remove_due(store: &dyn Store, clock: &dyn Clock, shutdown: &CancellationToken) -> Result<(), StoreError> {
    while !shutdown.is_cancelled() {
        let (now, begun) = (clock.now(), Instant::now());
        let pass = store.expire(now, STEP).await?;
        if pass.removed > 0 {
            tracing::debug!(emails = pass.removed, "removed expired mail");
        }
        if pass.next_due_at.is_none_or(|due| due > now) {
            break;
        }
        sleep(begun.elapsed().min(EVERY)).await;
    }
    Ok(())
}
