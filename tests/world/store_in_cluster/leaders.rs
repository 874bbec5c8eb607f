//! Events when the lead passes on, and when the log tells of mail late or never.
//! Mechanism: it knows how long the leader waits for the log.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{AttemptRecord, Timestamp, Verdict};
use tempmail::store::{Cluster, Outbox, Registry, Store};
use tokio_util::sync::CancellationToken;

use super::on_its_way::OnItsWay;
use super::{keyspace, node, run};
use crate::suites::options;
use crate::suites::outbox::{attempt, pending, register};
use crate::support::clock::SetClock;
use crate::support::keyspaces::session;
use crate::support::mail::delivery;
use crate::support::until::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";
const OTHER: &str = "b@example.test";
const URL: &str = "https://a.example/";

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_node_that_leads_no_longer_brings_no_event_back_and_disables_no_webhook() {
    let connection = keyspace().await;
    let (former, next) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let stop = CancellationToken::new();
    let runs = run(&former, Arc::new(SetClock::at(NOW)), &stop);
    until("it leads", async || former.leads()).await;
    let webhook = register(&*former, TO, URL).await;
    for text in ["one", "two"] {
        former.receive(delivery(&[TO], text, NOW)).await.expect("receive");
    }
    let events = pending(&*former, webhook).await;
    stop.cancel();
    runs.await.expect("its end");
    next.record_attempt(attempt(&events[0], Verdict::Delivered)).await.expect("record");
    let retry = Verdict::Retry(NOW.plus(Duration::from_secs(5)));
    former.record_attempt(attempt(&events[0], retry)).await.expect("record");
    let gone = AttemptRecord { disables: Some("gone".into()), ..attempt(&events[1], Verdict::GivenUp) };
    former.record_attempt(gone).await.expect("record");
    let left = pending(&*next, webhook).await;
    assert_eq!(left.iter().map(|event| event.id).collect::<Vec<_>>(), [events[1].id]);
    assert_eq!(next.webhook(webhook).await.expect("read").expect("the webhook").failures, 0);
}

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn what_the_log_tells_late_begins_no_event_that_has_ended() {
    let connection = keyspace().await;
    let (leader, other) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let command = node(&connection, &options()).await;
    let stop = CancellationToken::new();
    let leads = run(&leader, Arc::new(SetClock::at(NOW)), &stop);
    until("it leads", async || leader.leads()).await;
    // The leader looks at the minutes around its own time alone.
    let ahead = NOW.plus(Duration::from_mins(10));
    let clock = Arc::new(SetClock::at(ahead));
    let runs = run(&other, Arc::<SetClock>::clone(&clock), &stop);
    until("it follows", async || leader.cluster().is_some_and(|status| status.living_nodes == 2)).await;
    let webhook = register(&*leader, TO, URL).await;
    other.receive(delivery(&[TO], "mail", ahead)).await.expect("receive");
    let event = pending(&*command, webhook).await.pop().expect("an event");
    command.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("record");
    // The next row of that log shows that one is missing.
    clock.step_to(NOW);
    other.receive(delivery(&[OTHER], "mail", NOW)).await.expect("receive");
    until("it knows of both", async || leader.stats().await.is_ok_and(|stats| stats.emails == 2)).await;
    assert_eq!(leader.pending_webhooks().await, Ok(vec![]));
    stop.cancel();
    leads.await.expect("its end");
    runs.await.expect("its end");
}

/// A node died when it had shown a message. The leader leaves what is young to the log, which will not tell.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn an_event_that_no_log_tells_of_is_found_though_the_leader_goes_on_with_later_ones() {
    let connection = keyspace().await;
    let (leader, dying) = (node(&connection, &options()).await, node(&connection, &options()).await);
    let (clock, stop) = (Arc::new(SetClock::at(NOW)), CancellationToken::new());
    let runs = run(&leader, Arc::<SetClock>::clone(&clock), &stop);
    until("it leads", async || leader.leads()).await;
    let webhook = register(&*leader, TO, URL).await;
    let shown = OnItsWay::begin(&dying, delivery(&[TO], "shown", NOW)).shown(&session(&connection).await).await;
    drop(shown);
    // Its lead has ended, so it takes over and reads all.
    let takes_over_after = async |seconds: u64| {
        clock.advance(Duration::from_secs(seconds));
        until("it leads again", async || leader.leads()).await;
        pending(&*leader, webhook).await
    };
    assert_eq!(takes_over_after(20).await, [], "the log may tell of it");
    leader.receive(delivery(&[TO], "later", NOW.plus(Duration::from_secs(20)))).await.expect("receive");
    let later = pending(&*leader, webhook).await.pop().expect("an event");
    // A minute later it still leads.
    clock.step_to(NOW.plus(Duration::from_secs(80)));
    let delivered = AttemptRecord { at: NOW.plus(Duration::from_secs(80)), ..attempt(&later, Verdict::Delivered) };
    leader.record_attempt(delivered).await.expect("record");
    let found = takes_over_after(20).await;
    assert_eq!(found.iter().map(|event| event.due_at).collect::<Vec<_>>(), [NOW]);
    stop.cancel();
    runs.await.expect("its end");
}
