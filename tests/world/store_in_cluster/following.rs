//! A node that was suspended for long learns what others did meanwhile.
//! Promise: it outlives the code below it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::{Clock, SystemClock};
use tempmail::store::{Cluster, Storage, Store};
use tokio_util::sync::CancellationToken;

use super::{keyspace, node, run};
use crate::suites::options;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::until::until;

/// Far longer than others look back without a cause.
const SUSPENDED: Duration = Duration::from_mins(10);

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_node_that_was_suspended_knows_all_that_others_received_and_deleted_meanwhile() {
    let connection = keyspace().await;
    let (one, sleeper) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let stop = CancellationToken::new();
    let runs = run(&one, Arc::new(SystemClock), &stop);
    let receive = async || {
        let message = delivery(&["a@example.test"], "mail", SystemClock.now());
        let id = message.envelope.recipients[0].id;
        one.receive(message).await.expect("receive");
        id
    };
    let clock = Arc::new(SetClock::ticking_from(SystemClock.now()));
    // It goes on only while it is waited for.
    let mut sleeper_runs = pin!(sleeper.run(Arc::<SetClock>::clone(&clock), stop.clone()));
    let sees = async |emails: u64| sleeper.stats().await.is_ok_and(|stats| stats.emails == emails);
    let follows = async || sleeper.cluster().is_some_and(|status| status.living_nodes == 2) && sees(0).await;
    tokio::select! {
        () = &mut sleeper_runs => panic!("it has ended"),
        () = until("it follows the other", follows) => {}
    }
    let first = receive().await;
    tokio::select! {
        () = &mut sleeper_runs => panic!("it has ended"),
        () = until("it sees new mail", async || sees(1).await) => {}
    }
    for _ in 0..3 {
        receive().await;
    }
    assert_eq!(one.delete(first, SystemClock.now()).await, Ok(true));
    clock.advance(SUSPENDED);
    tokio::select! {
        () = &mut sleeper_runs => panic!("it has ended"),
        () = until("it sees what it missed", async || sees(3).await) => {}
    }
    stop.cancel();
    sleeper_runs.await;
    runs.await.expect("its end");
}
