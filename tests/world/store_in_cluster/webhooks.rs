//! Webhooks whose removal was cut off, and what a removal takes along.
//! Mechanism: it names tables.

use std::time::Duration;

use tempmail::clock::{Clock, SystemClock};
use tempmail::model::{Timestamp, Verdict};
use tempmail::store::{Outbox, Registry, Store};

use super::{keyspace, node};
use crate::suites::options;
use crate::suites::outbox::{attempt, pending, register};
use crate::support::keyspaces::session;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";

/// A removal was cut off, so that mail did not find the webhook any more.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_webhook_that_was_half_removed_and_is_registered_again_gets_events() {
    let connection = keyspace().await;
    let store = node(&connection, &options()).await;
    let half_removed = register(&*store, TO, "https://a.example/").await;
    session(&connection).await.query_unpaged("TRUNCATE webhook_of", ()).await.expect("its end");
    let webhook = register(&*store, TO, "https://a.example/").await;
    store.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    assert_eq!(pending(&*store, webhook).await.len(), 1);
    assert_eq!(store.webhook(half_removed).await, Ok(None));
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_webhook_that_is_removed_takes_along_what_is_due_later() {
    let connection = keyspace().await;
    let (store, session) = (node(&connection, &options()).await, session(&connection).await);
    let webhook = register(&*store, TO, "https://a.example/").await;
    store.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    let event = pending(&*store, webhook).await.remove(0);
    let retry = Verdict::Retry(SystemClock.now().plus(Duration::from_hours(1)));
    store.record_attempt(attempt(&event, retry)).await.expect("record");
    assert_eq!(store.delete_webhook(webhook).await, Ok(true));
    let rows = session.query_unpaged("SELECT due FROM event", ()).await.expect("rows").into_rows_result();
    assert_eq!(rows.expect("rows").rows_num(), 0);
}
