//! Events where nodes die, and where there are several.
//! Promise: it outlives the code below it.

use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tempmail::clock::SystemClock;
use tempmail::model::{EmailId, Timestamp, Verdict};
use tempmail::store::backup::BackupRecord;
use tempmail::store::cassandra::CassandraStore;
use tempmail::store::{
    Outbox, OutboxLimits, PageRequest, Registry, Replay, Storage, Store, WebhookLimits, WebhookRegistration,
};
use tokio_util::sync::CancellationToken;

use super::backup::items;
use super::{keyspace, node};
use crate::suites::options;
use crate::suites::outbox::{attempt, pending, proven, register};
use crate::suites::outbox_conformance::within;
use crate::suites::replays::came_to;
use crate::support::mail::{delivery, mailbox};
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";
/// The most steps at which a message is cut off.
const STEPS_MAX: usize = 200;

/// Begins to receive a message, and stops after so many steps. `true` if it was done before.
async fn receive_until(store: &CassandraStore, raw: String, steps: usize) -> bool {
    let (mut receiving, mut steps_left) = (pin!(store.receive(delivery(&[TO], raw, NOW))), steps);
    poll_fn(|context| {
        if steps_left == 0 {
            return Poll::Ready(false);
        }
        steps_left -= 1;
        receiving.as_mut().poll(context).map(|received| received.is_ok())
    })
    .await
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn wherever_a_message_is_cut_off_it_has_an_event_exactly_if_it_is_stored() {
    let connection = keyspace().await;
    let (dying, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let webhook = register(&*other, TO, "https://a.example/").await;
    let mut begun = 0;
    while begun < STEPS_MAX && !receive_until(&dying, format!("cut off after {begun}"), begun).await {
        begun += 1;
    }
    let page = other.list(&mailbox(TO), PageRequest { offset: 0, limit: STEPS_MAX }, NOW).await.expect("list");
    let stored: HashSet<EmailId> = page.emails.iter().map(|listed| listed.id).collect();
    let events = pending(&*other, webhook).await;
    assert_eq!(events.iter().map(|event| event.email.id).collect::<HashSet<_>>(), stored);
    assert!(stored.len() > 1 && stored.len() <= begun, "{} of {begun} are stored", stored.len());
    assert!(other.load_event(&events[0]).await.expect("load").is_some());
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn an_event_that_has_ended_is_not_brought_back_by_a_second_delivery() {
    let connection = keyspace().await;
    let (one, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let webhook = register(&*other, TO, "https://a.example/").await;
    let mail = delivery(&[TO], "mail", NOW);
    one.receive(mail.clone()).await.expect("receive");
    let event = pending(&*other, webhook).await.pop().expect("an event");
    let later = NOW.plus(Duration::from_secs(5));
    other.record_attempt(attempt(&event, Verdict::Retry(later))).await.expect("record");
    one.receive(mail.clone()).await.expect("receive");
    let retried = pending(&*other, webhook).await;
    assert_eq!(retried.iter().map(|event| (event.attempts, event.due_at)).collect::<Vec<_>>(), [(1, later)]);
    let is_pending = async || other.load_event(&event).await.map(|email| email.is_some());
    for ends in 0..2 {
        other.record_attempt(attempt(&retried[0], Verdict::Delivered)).await.expect("record");
        one.receive(mail.clone()).await.expect("receive");
        assert_eq!(is_pending().await, Ok(false), "delivered {ends} times before");
        assert_eq!(other.replay(webhook, Replay::Event(event.id), NOW).await, came_to(1, 0));
        assert_eq!(is_pending().await, Ok(true), "replayed {ends} times before");
    }
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn what_another_node_ends_is_seen_within_a_second_or_so() {
    let connection = keyspace().await;
    let (one, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let webhook = register(&*one, TO, "https://a.example/").await;
    one.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    let event = pending(&*other, webhook).await.remove(0);
    assert_eq!(one.delete_webhook(webhook).await, Ok(true));
    assert_eq!(other.load_event(&event).await, Ok(None));
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn nodes_keep_together_to_the_limits_of_a_webhook() {
    let connection = keyspace().await;
    let limits = within(OutboxLimits { events_per_webhook: 3, ..OutboxLimits::default() });
    let webhook = {
        let one = node(&connection, &limits).await;
        let webhook = register(&*one, TO, "https://a.example/").await;
        for _ in 0..3 {
            one.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
        }
        webhook
    };
    let other = node(&connection, &limits).await;
    other.receive(delivery(&[TO], "one more", NOW)).await.expect("receive");
    assert_eq!(pending(&*other, webhook).await.len(), 3);
    assert_eq!(other.webhook(webhook).await.expect("read").expect("the webhook").dropped, 1);
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn of_running_nodes_one_sends_the_events_of_a_webhook() {
    let connection = keyspace().await;
    let nodes = [node(&connection, &options()).await, node(&connection, &options()).await];
    let mut webhooks = HashSet::new();
    for number in 0..16 {
        let to = format!("a{number}@example.test");
        let record = proven(&to, "https://a.example/");
        webhooks.insert(record.id);
        let registered = nodes[0].register_webhook(record, WebhookLimits::UNBOUNDED).await;
        assert_eq!(registered, Ok(WebhookRegistration::New));
        nodes[0].receive(delivery(&[&to], "mail", NOW)).await.expect("receive");
    }
    let shutdown = CancellationToken::new();
    for node in &nodes {
        let (node, shutdown) = (Arc::clone(node), shutdown.clone());
        tokio::spawn(async move { node.run(Arc::new(SystemClock), shutdown).await });
    }
    until("each webhook is one node's", async || {
        let mut sent = Vec::new();
        for node in &nodes {
            for (webhook, _) in node.pending_webhooks().await.expect("pending webhooks") {
                let event = &pending(&**node, webhook).await;
                sent.extend(event.first().map(|event| event.webhook));
            }
        }
        sent.len() == webhooks.len() && sent.into_iter().collect::<HashSet<_>>() == webhooks
    })
    .await;
    for node in &nodes {
        let backup = items(&**node).await;
        let events = backup.iter().filter(|item| matches!(item.record, BackupRecord::Event { .. })).count();
        assert_eq!(events, webhooks.len(), "a backup has the events that other nodes send too");
    }
    shutdown.cancel();
}
