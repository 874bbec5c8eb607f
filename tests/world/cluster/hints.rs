//! Daemons over one keyspace. One of them learns of mail by the hints of another, and one through the cluster alone.
//! Mechanism: it goes with the push of hints between nodes.

use std::time::Duration;

use tempmail::events::Hint;
use tempmail::store::cassandra::CassandraOptions;
use tokio::time::timeout;

use crate::support::keyspaces;
use crate::support::mail::mailbox;
use crate::support::test_server::TestServer;
use crate::support::until::until;

/// Nothing listens there.
const DEAD: &str = "127.0.0.1:1";
/// How long a subscriber waits before the next mail is sent: a hint that finds no connection is lost.
const PAUSE: Duration = Duration::from_millis(500);
/// In microseconds since 1970, after all tests: 2100.
const LATER: i64 = 4_102_444_800_000_000;

/// A daemon that takes hints at an address that the others may be told wrongly.
async fn node(keyspace: &CassandraOptions, told: Option<&str>) -> TestServer {
    let told = told.map_or(String::new(), |told| format!("peer-address = '{told}'"));
    let settings = format!("{}peer-listen = '127.0.0.1:0'\n{told}", keyspaces::settings(keyspace));
    TestServer::with(&settings).await
}

/// Waits until a subscriber at `to` learns of mail that `from` receives.
async fn until_told(to: &TestServer, from: &TestServer, address: &str) {
    let mut hints = to.store().subscribe(Some(&mailbox(address)), 1000);
    until(format_args!("the other daemon learns of mail for {address}"), async || {
        from.send(address, "a mail", "text").await;
        matches!(timeout(PAUSE, hints.next()).await, Ok(Hint::Event(_)))
    })
    .await;
}

/// Hides the rows with the hints of a daemon from all, those that it will write included.
async fn hide_rows_of(node: &TestServer, keyspace: &CassandraOptions) {
    let id = node.store().cluster().expect("a cluster").node;
    let delete = format!("DELETE FROM hint USING TIMESTAMP {LATER} WHERE node = {id}");
    keyspaces::session(keyspace).await.query_unpaged(delete, ()).await.expect("the rows are hidden");
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn hints_go_straight_to_another_daemon_or_through_the_cluster() {
    let keyspace = keyspaces::empty().await;
    let from = node(&keyspace, None).await;
    let (near, far) = (node(&keyspace, None).await, node(&keyspace, Some(DEAD)).await);
    until_told(&far, &from, "far@example.test").await;
    hide_rows_of(&from, &keyspace).await;
    until_told(&near, &from, "near@example.test").await;
    for server in [from, near, far] {
        server.stop().await;
    }
}
