//! More mail at once than the cluster can write at once.
//! Promise: it outlives the code below it.

use futures_util::future::join_all;
use tempmail::config::{Config, Revision};
use tempmail::model::Timestamp;
use tempmail::store::cassandra::CassandraOptions;
use tempmail::store::{PageRequest, Registry, Store, WebhookLimits};

use super::{keyspace, node};
use crate::suites::options;
use crate::suites::outbox::proven;
use crate::support::mail::{delivery, mailbox};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const MAILS: usize = 250;
/// Each mail has an event for each of them, so it costs the cluster five times as much.
const WEBHOOKS: usize = 10;
const TO: &str = "ann@example.test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_burst_of_mail_waits_for_its_turn_and_all_of_it_is_stored() {
    let keyspace = keyspace().await;
    let timeout = Config::of_revision(Revision::Two, "unused".into()).store.cluster_timeout;
    let keyspace = CassandraOptions { timeout, ..keyspace };
    let store = node(&keyspace, &options()).await;
    for webhook in 0..WEBHOOKS {
        let webhook = proven(TO, &format!("https://hooks.example/{webhook}"));
        store.register_webhook(webhook, WebhookLimits::UNBOUNDED).await.expect("a webhook");
    }
    let sent = (0..MAILS).map(async |number| store.receive(delivery(&[TO], format!("mail {number}"), NOW)).await);
    let outcomes = join_all(sent).await;
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} of {MAILS} were not stored, such as {:?}", failed.len(), failed[0]);
    let page = store.list(&mailbox(TO), PageRequest { offset: 0, limit: 1 }, NOW).await.expect("a list");
    assert_eq!(page.total, MAILS as u64);
}
