//! What every store must do. Both the store in one directory and the one in a cluster are held to these suites.
//! Promise: it outlives the code below it.

pub mod conformance;
pub mod disabled;
pub mod due_events;
pub mod leases;
pub mod outbox;
pub mod outbox_bounds;
pub mod outbox_conformance;
pub mod outbox_shares;
pub mod replays;

use std::time::Duration;

use tempmail::store::{OutboxLimits, StoreOptions};

/// One of the tests.
macro_rules! promise {
    ([$($attribute:tt)*] $name:ident: $run:expr) => {
        #[tokio::test]
        $($attribute)*
        async fn $name() {
            $run.await;
        }
    };
}
pub(crate) use promise;

/// How long a test waits for an expected event.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Options of a small store.
pub fn options() -> StoreOptions {
    StoreOptions {
        retention: Some(Duration::from_hours(24)),
        message_octets_max: 64 << 10,
        segment_octets: 1 << 20,
        outbox: OutboxLimits::default(),
        emails_max: 1_000_000,
        emails_per_mailbox_max: 0,
    }
}
