//! What is missing in a cluster is found and named.
//! Promise: it outlives the code below it.

use std::thread;
use std::time::Duration;

use tempmail::model::{EmailId, Timestamp};
use tempmail::store::Store;
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::check::{CheckReport, FindingKind};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::backup::{fill, large_options};
use super::keyspace;
use crate::support::keyspaces;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const LARGE: usize = 600_000;
/// More messages than are read at once.
const MESSAGES: u64 = 40;

async fn check(options: &CassandraOptions, now: Timestamp) -> CheckReport {
    Box::pin(CassandraStore::check(options, &large_options(), now, &mut |_, _| {})).await.expect("a check")
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
async fn each_message_that_is_not_whole_is_named() {
    let options = keyspace().await;
    let store = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    let mut ids = Vec::new();
    for _ in 0..3 {
        let sent = delivery(&["a@example.test"], vec![b'x'; LARGE], NOW);
        ids.push(sent.envelope.recipients[0].id);
        store.receive(sent).await.expect("receive");
    }
    let session = keyspaces::session(&options).await;
    let message = |id: EmailId| [&id.octets()[..8], &id.octets()[12..]].concat();
    session.query_unpaged("DELETE FROM message WHERE id = ? AND part = 1", (message(ids[0]),)).await.expect("delete");
    session.query_unpaged("DELETE FROM message WHERE id = ?", (message(ids[1]),)).await.expect("delete");
    let report = check(&options, NOW.plus(Duration::from_mins(10))).await;
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.kind, finding.detail.clone())).collect();
    let named =
        |id: EmailId| found.iter().any(|(kind, what)| *kind == FindingKind::Email && what.contains(&id.to_string()));
    assert_eq!(
        (ids.iter().map(|id| named(*id)).collect::<Vec<_>>(), found.len()),
        (vec![true, true, false], 2),
        "{report:?}"
    );
    // What has expired is not looked for.
    assert!(check(&options, NOW.plus(Duration::from_hours(1))).await.is_clean());
}

/// The cluster forgets what has expired, and it may do so while a check goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn what_expires_while_a_check_goes_on_is_not_missing() {
    let options = keyspace().await;
    let store = CassandraStore::connect(&options, &large_options()).await.expect("connect");
    for _ in 0..MESSAGES {
        store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    }
    let session = keyspaces::session(&options).await;
    let (left, mut is_forgotten) = (Duration::from_millis(500), false);
    let mut forget = |_: u64, _: u64| {
        if !std::mem::replace(&mut is_forgotten, true) {
            let forget = session.query_unpaged("TRUNCATE message", ());
            block_in_place(|| drop(Handle::current().block_on(forget).expect("its end")));
            thread::sleep(left);
        }
    };
    let now = NOW.plus(Duration::from_hours(1)).before(left);
    let report = Box::pin(CassandraStore::check(&options, &large_options(), now, &mut forget)).await.expect("a check");
    assert!(report.is_clean() && report.emails > 0 && report.emails < MESSAGES, "{report:?}");
}
