//! What is missing in a cluster is found and named.
//! Promise: it outlives the code below it.

use std::time::Duration;

use scylla::client::session::Session;
use tempmail::model::{EmailId, Timestamp};
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::check::{CheckReport, FindingKind};
use tempmail::store::{Store, StoreOptions};
use uuid::Uuid;

use super::backup::{fill, large_options};
use super::keyspace;
use crate::support::keyspaces;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const LARGE: usize = 600_000;

async fn check(options: &CassandraOptions, now: Timestamp) -> CheckReport {
    Box::pin(CassandraStore::check(options, &large_options(), now, &mut |_, _| {})).await.expect("a check")
}

fn uuid(id: EmailId) -> Uuid {
    Uuid::from_bytes(id.octets())
}

/// The mailbox, the number and the expiry of an Email.
async fn place(session: &Session, id: EmailId) -> (Vec<u8>, i64, i64) {
    let row = "SELECT mailbox, sequence, expires_at FROM email_by_id WHERE id = ?";
    let row = session.query_unpaged(row, (uuid(id),)).await.expect("a row").into_rows_result().expect("rows");
    row.first_row().expect("a row")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_whole_store_has_no_findings() {
    let options = keyspace().await;
    let store = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    fill(&store, LARGE).await;
    let report = check(&options, NOW.plus(Duration::from_mins(10))).await;
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(report.emails, store.stats().await.expect("stats").emails);
    assert!(report.records > report.emails / 3, "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn each_row_that_is_missing_is_named() {
    let options = keyspace().await;
    let plain = StoreOptions { retention: None, ..large_options() };
    let store = CassandraStore::connect(&options, &plain).await.expect("connect");
    let mut ids = Vec::new();
    for _ in 0..6 {
        let sent = delivery(&["a@example.test"], vec![b'x'; LARGE], NOW);
        ids.push(sent.envelope.recipients[0].id);
        store.receive(sent).await.expect("receive");
    }
    let session = keyspaces::session(&options).await;
    session.query_unpaged("DELETE FROM raw WHERE id = ? AND part = 1", (uuid(ids[0]),)).await.expect("delete");
    session.query_unpaged("DELETE FROM raw WHERE id = ? AND part = 0", (uuid(ids[1]),)).await.expect("delete");
    session.query_unpaged("DELETE FROM email_by_id WHERE id = ?", (uuid(ids[2]),)).await.expect("delete");
    let (mailbox, sequence, _) = place(&session, ids[3]).await;
    let statement = "DELETE FROM email WHERE mailbox = ? AND sequence = ? AND id = ?";
    session.query_unpaged(statement, (&mailbox, sequence, uuid(ids[3]))).await.expect("delete");
    let (_, sequence, expires_at) = place(&session, ids[4]).await;
    let shard = i8::try_from(ids[4].octets()[15] % 8).expect("a shard");
    let statement = "DELETE FROM email_by_expiry WHERE slot = ? AND shard = ? AND expires_at = ? AND sequence = ?";
    let values = (expires_at.div_euclid(600_000), shard, expires_at, sequence);
    session.query_unpaged(statement, values).await.expect("delete");

    let slot = NOW.millis().div_euclid(10_000);
    let statement = "INSERT INTO intent (slot, shard, message, intent) VALUES (?, 0, ?, 0x00) USING TIMESTAMP ?";
    session.query_unpaged(statement, (slot, uuid(ids[5]), NOW.millis() * 1000)).await.expect("insert");

    // What is young may be in writing.
    assert!(check(&options, NOW.plus(Duration::from_secs(59))).await.is_clean());
    let report = check(&options, NOW.plus(Duration::from_mins(10))).await;
    let found = |id: EmailId| {
        let named = report.findings.iter().filter(move |finding| finding.detail.contains(&uuid(id).to_string()));
        named.map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!(found(ids[0]), [FindingKind::Email], "{report:?}");
    assert_eq!(found(ids[1]), [FindingKind::Email], "{report:?}");
    assert_eq!(found(ids[2]), [FindingKind::Rows], "{report:?}");
    assert!(found(ids[3]).contains(&FindingKind::Rows), "{report:?}");
    assert_eq!(found(ids[4]), [FindingKind::Rows], "{report:?}");
    let intent = report.findings.iter().filter(|finding| finding.kind == FindingKind::Intent);
    assert_eq!(intent.count(), 1, "{report:?}");
    session.query_unpaged("DELETE FROM intent WHERE slot = ? AND shard = 0", (slot,)).await.expect("delete");
    // What has expired is not looked for.
    assert!(check(&options, NOW.plus(Duration::from_hours(1))).await.is_clean());
}
