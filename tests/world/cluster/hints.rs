//! Daemons over one keyspace: one of them learns of mail that another received.
//! Promise: who waits for mail at one node wakes for mail that another node received.

use std::time::Duration;

use tempmail::events::Hint;
use tokio::time::timeout;

use crate::support::keyspaces;
use crate::support::mail::mailbox;
use crate::support::test_server::TestServer;

const TO: &str = "far@example.test";
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_subscriber_at_one_node_learns_of_mail_of_another() {
    let settings = keyspaces::settings(&keyspaces::empty().await);
    let (from, to) = (TestServer::with(&settings).await, TestServer::with(&settings).await);
    let mut hints = to.store().subscribe(Some(&mailbox(TO)), 1000);
    from.send(TO, "a mail", "text").await;
    assert!(matches!(timeout(PATIENCE, hints.next()).await, Ok(Hint::Event(_))));
    for server in [from, to] {
        server.stop().await;
    }
}
