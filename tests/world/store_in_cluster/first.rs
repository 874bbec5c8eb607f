//! What must be written first, and how many servers must have it: shown by tables and servers that are not there.
//! Mechanism: it names tables.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{Timestamp, Verdict};
use tempmail::store::cassandra::CassandraStore;
use tempmail::store::{
    Cluster, NewestQuery, Outbox, OutboxLimits, PageRequest, Registry, Store, StoreError, WebhookFilter, WebhookLimits,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{keyspace, node, run};
use crate::suites::options;
use crate::suites::outbox::{attempt, pending, proven, register};
use crate::suites::outbox_conformance::within;
use crate::support::clock::SetClock;
use crate::support::keyspaces::{connection, session};
use crate::support::mail::{delivery, mailbox};
use crate::support::ring::Ring;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";
const OTHER: &str = "b@example.test";
const PAGE: PageRequest = PageRequest { offset: 0, limit: 9 };
/// Longer than a write takes.
const PATIENCE: Duration = Duration::from_secs(3);

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn nothing_ends_is_shown_or_acknowledged_before_what_comes_first_is_written() {
    let ring = tokio::task::spawn_blocking(Ring::shared).await.expect("the ring");
    // Its tables do not come back.
    let connection = connection(ring);
    CassandraStore::create(&connection, &options()).await.expect("a keyspace");
    let session = session(&connection).await;
    let lose = async |table: &str| session.query_unpaged(format!("DROP TABLE {table}"), ()).await.expect("its end");
    let events = async || {
        let rows = session.query_unpaged("SELECT email FROM event", ()).await.expect("rows");
        rows.into_rows_result().expect("rows").rows_num()
    };
    let limits = within(OutboxLimits { events_per_webhook: 1, ..OutboxLimits::default() });
    let (one, other) = (node(&connection, &limits).await, node(&connection, &options()).await);
    let webhook = register(&*one, TO, "https://a.example/").await;
    one.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    let event = pending(&*one, webhook).await.pop().expect("an event");

    lose("attempt").await;
    let recorded = one.record_attempts(vec![attempt(&event, Verdict::Delivered)]).await;
    assert!(recorded.is_err() && events().await == 1, "an event ended without its record: {recorded:?}");
    let full = delivery(&[TO], "mail", NOW.plus(Duration::from_millis(1)));
    one.receive(full).await.expect("receive");
    let dropped = one.pending_webhooks().await;
    assert!(dropped.is_err() && events().await == 2, "an event was dropped without its record: {dropped:?}");

    lose("event").await;
    let before = other.list(&mailbox(TO), PAGE, NOW).await.expect("list");
    assert_eq!(before.emails.len(), 2);
    let unsent = one.receive(delivery(&[TO], "mail", NOW)).await;
    assert!(unsent.is_err());
    assert_eq!(other.list(&mailbox(TO), PAGE, NOW).await, Ok(before), "mail without its events");

    // A node that runs reads no log before it takes mail.
    let stop = CancellationToken::new();
    let runs = run(&other, Arc::new(SetClock::at(NOW)), &stop);
    until("it runs", async || other.leads() && other.receive(delivery(&[OTHER], "mail", NOW)).await.is_ok()).await;
    lose("log").await;
    for to in [&[OTHER][..], &[OTHER, "c@example.test"]] {
        let acknowledged = timeout(PATIENCE, other.receive(delivery(to, "mail", NOW))).await;
        assert!(acknowledged.is_err(), "a message that no log has: {acknowledged:?}");
    }
    stop.cancel();
    runs.await.expect("its end");

    // Mail finds webhooks by it.
    lose("webhook_of").await;
    let registered = one.register_webhook(proven(OTHER, "https://b.example/"), WebhookLimits::UNBOUNDED).await;
    let listed = one.all_webhooks(WebhookFilter::default(), None, 9).await.expect("webhooks").webhooks;
    assert!(registered.is_err() && listed.len() == 1, "mail does not find a webhook: {registered:?}");
}

/// Of two servers that should have each row, there is one.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn one_server_of_two_answers_nothing() {
    let connection = keyspace().await;
    let (store, session) = (node(&connection, &options()).await, session(&connection).await);
    let keeps = async |servers: u8| {
        let replication = format!("{{'class': 'NetworkTopologyStrategy', 'datacenter1': {servers}}}");
        let altered = format!("ALTER KEYSPACE {} WITH replication = {replication}", connection.keyspace);
        session.query_unpaged(altered, ()).await.expect("another replication");
    };
    store.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    let listed = store.list(&mailbox(TO), PAGE, NOW).await.expect("list").emails.remove(0);
    keeps(2).await;
    let everything = NewestQuery { by_mailbox: false, domain: None, after: None, limit: 9 };
    let webhook = proven(TO, "https://a.example/");
    let answered: Vec<(&str, Result<(), StoreError>)> = vec![
        ("receive", store.receive(delivery(&[TO], "mail", NOW)).await),
        ("list", store.list(&mailbox(TO), PAGE, NOW).await.map(drop)),
        ("find", store.find(listed.id, NOW).await.map(drop)),
        ("load", store.load(&listed).await.map(drop)),
        ("delete", store.delete(listed.id, NOW).await.map(drop)),
        ("newest", store.newest(everything, NOW).await.map(drop)),
        ("stats", store.stats().await.map(drop)),
        ("domains", store.domains().await.map(drop)),
        ("tokens", store.tokens().await.map(drop)),
        ("webhooks", store.all_webhooks(WebhookFilter::default(), None, 9).await.map(drop)),
        ("register", store.register_webhook(webhook, WebhookLimits::UNBOUNDED).await.map(drop)),
    ];
    let connected = Box::pin(CassandraStore::connect(&connection, &options())).await.map(drop);
    keeps(1).await;
    let answered: Vec<&str> = answered.iter().filter(|(_, result)| result.is_ok()).map(|(what, _)| *what).collect();
    assert!(answered.is_empty() && connected.is_err(), "one of two servers is enough for {answered:?} {connected:?}");
    assert_eq!(store.list(&mailbox(TO), PAGE, NOW).await.map(|page| page.emails), Ok(vec![listed]));
}
