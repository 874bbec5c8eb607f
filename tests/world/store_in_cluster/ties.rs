//! Nodes that drew the same bits, and Emails that got the same sequence from them.
//! Mechanism: it writes rows by hand.

use std::collections::HashMap;
use std::sync::Arc;

use tempmail::clock::SystemClock;
use tempmail::model::Timestamp;
use tempmail::random;
use tempmail::store::{Outbox, Store};
use tokio_util::sync::CancellationToken;

use super::{keyspace, node, run};
use crate::suites::options;
use crate::suites::outbox::register;
use crate::support::keyspaces::session;
use crate::support::mail::delivery;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_node_draws_again_when_another_has_its_bits() {
    let connection = keyspace().await;
    let (node, session) = (node(&connection, &options()).await, session(&connection).await);
    let bits = async || {
        let rows = session.query_unpaged("SELECT id, bits FROM node", ()).await.expect("rows").into_rows_result();
        let rows = rows.expect("rows");
        rows.rows::<(Vec<u8>, i16)>().expect("rows").map(|row| row.expect("a row")).collect::<HashMap<_, _>>()
    };
    let stop = CancellationToken::new();
    let runs = run(&node, Arc::new(SystemClock), &stop);
    until("it runs", async || !bits().await.is_empty()).await;
    let (id, drawn) = bits().await.into_iter().next().expect("its row");
    let insert = "INSERT INTO node (cluster, id, bits) VALUES (0, ?, ?) USING TTL 60";
    session.query_unpaged(insert, (vec![7_u8; 16], drawn)).await.expect("another node");
    until("it draws again", async || bits().await.get(&id).is_some_and(|bits| *bits != drawn)).await;
    stop.cancel();
    runs.await.expect("its end");
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn two_emails_with_one_sequence_keep_both_their_events() {
    type Row = (Vec<u8>, i64, Vec<u8>, Vec<u8>);
    let connection = keyspace().await;
    let (store, session) = (node(&connection, &options()).await, session(&connection).await);
    register(&*store, TO, "https://a.example/").await;
    store.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    let rows = async || {
        let rows = session.query_unpaged("SELECT webhook, due, email, record FROM event", ()).await.expect("rows");
        let rows = rows.into_rows_result().expect("rows");
        rows.rows::<Row>().expect("rows").map(|row| row.expect("a row")).collect::<Vec<_>>()
    };
    let (webhook, due, _, record) = rows().await.remove(0);
    let email = random::email_id(NOW).octets().to_vec();
    let insert = "INSERT INTO event (webhook, due, email, record) VALUES (?, ?, ?, ?) USING TIMESTAMP ?";
    session.query_unpaged(insert, (webhook, due, email, record, due * 1000)).await.expect("another event");
    assert_eq!(store.pending_webhooks().await.map(|webhooks| webhooks.len()), Ok(1));
    assert_eq!(rows().await.len(), 2);
}
