//! Webhooks and events of the store in one directory, beside what every store must do.
//! Promise: it outlives the code below it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tempmail::model::{AttemptRecord, DomainName, Verdict, WebhookRecord};
use tempmail::store::{
    DueQuery, Outbox, OutboxLimits, Registration, Registry, Store, StoreOptions, WebhookLimits, WebhookRegistration,
    WebhookSweep,
};

use super::{HOUR, NOW, open};
use crate::suites::outbox::{attempt, pending, register, webhook};
use crate::suites::outbox_bounds::{receive, registered};
use crate::suites::outbox_conformance::{embedded, within};
use crate::suites::{due_events, options};
use crate::support::mail::delivery;
use crate::support::test_disk::TestDisk;

#[tokio::test]
async fn a_sweep_goes_through_all_webhooks_and_writes_nothing_where_none_is_idle() {
    let store = embedded(&options());
    let limits = WebhookLimits { per_recipient: 3, total: 2_000, ..WebhookLimits::UNBOUNDED };
    let later = NOW.plus(24 * HOUR);
    let mut idle = Vec::new();
    // More than one read looks at, and idle ones more than one change deletes.
    for number in 0..1_100 {
        let record = webhook(&format!("r{number}@example.test"), "https://a.example/");
        let record = WebhookRecord { last_mail_at: if number % 50 == 7 { NOW } else { later }, ..record };
        idle.extend((number % 50 == 7).then_some(record.id));
        assert_eq!(store.register_webhook(record, limits).await, Ok(WebhookRegistration::New));
    }
    assert_eq!(store.delete_webhooks(WebhookSweep::IdleSince(NOW)).await, Ok(0));
    assert_eq!(store.delete_webhooks(WebhookSweep::IdleSince(later)).await, Ok(idle.len()));
    for id in idle {
        assert_eq!(store.webhook(id).await, Ok(None));
    }
    assert_eq!(
        store.delete_webhooks(WebhookSweep::IdleSince(later.plus(Duration::from_secs(1)))).await,
        Ok(1_100 - 22)
    );
}

#[tokio::test]
async fn a_new_record_removes_those_that_are_too_old() {
    let store = embedded(&options());
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    store.receive(delivery(&["a@example.test"], "hello", NOW)).await.expect("receive");
    let event = pending(&*store, id).await.remove(0);
    for days in [0, 31] {
        let at = NOW.plus(days * 24 * HOUR);
        let failed = AttemptRecord { email: None, at, ..attempt(&event, Verdict::GivenUp) };
        store.record_attempt(failed).await.expect("record");
        store.expire(NOW, 1).await.expect("written");
    }
    assert_eq!(store.attempts(id, 1_000, NOW).await.expect("log").len(), 1);
}

#[tokio::test]
async fn no_webhook_outlives_its_domain_wherever_its_removal_was_cut_off() {
    let domain: DomainName = "example.test".parse().expect("domain");
    for polls in 0..6 {
        let store = embedded(&within(OutboxLimits::default()));
        assert_eq!(store.register_domain(registered(&domain), 9).await, Ok(Registration::Won));
        let id = register(&*store, "a@example.test", "https://a.example/").await;
        {
            let (mut removal, mut polls_left) = (pin!(store.remove_domain(&domain)), polls);
            poll_fn(|context| {
                if polls_left == 0 {
                    return Poll::Ready(());
                }
                polls_left -= 1;
                removal.as_mut().poll(context).map(drop)
            })
            .await;
        }
        let is_registered = !store.domains().await.expect("domains").is_empty();
        let has_webhook = store.webhook(id).await.expect("read").is_some();
        assert!(is_registered || !has_webhook, "cut off at {polls}");
    }
}

#[tokio::test]
async fn what_is_replayed_keeps_to_the_limits_that_it_was_received_under() {
    assert_eq!(replayed(1_000, 1).await, (3, 0));
    assert_eq!(replayed(2, 1_000).await, (2, 1));
    assert_eq!(replayed(1_000, 0).await, (3, 0), "a start that sends nothing");
    assert_eq!(replayed(0, 1_000).await, (0, 0), "mail without events");
}

/// How many events are pending and how many were dropped, after three mails under one limit were replayed under another.
async fn replayed(under: u32, then: u32) -> (usize, u64) {
    let options = |events_per_webhook| StoreOptions {
        outbox: OutboxLimits { events_per_webhook, ..OutboxLimits::default() },
        ..options()
    };
    let disk = TestDisk::default();
    let store = open(&disk, &options(under));
    let id = register(&store, "a@example.test", "https://a.example/").await;
    for _ in 0..3 {
        receive(&store, "a@example.test", 5).await;
    }
    // What is learnt of webhooks is durable within a second.
    store.expire(NOW, 1).await.expect("written");
    let disk = disk.kill();
    let store = open(&disk, &options(then));
    let dropped = store.webhook(id).await.expect("read").expect("the webhook").dropped;
    (pending(&store, id).await.len(), dropped)
}

#[tokio::test]
async fn a_backoff_that_a_receiver_asked_for_is_read_with_its_events_after_a_kill_as_well() {
    let disk = TestDisk::default();
    let options = options();
    let store = open(&disk, &options);
    let webhook = register(&store, "a@example.test", "https://a.example/").await;
    due_events::receive(&store).await;
    due_events::receive(&store).await;
    let read = due_events::due(&store, webhook, due_events::wanted(1, &[])).await;
    assert_eq!(read.backs_off_until, None);
    let until = NOW.plus(Duration::from_secs(7));
    let asks = AttemptRecord { backs_off_until: Some(until), ..attempt(&read.events[0], Verdict::Retry(until)) };
    store.record_attempt(asks).await.expect("record");
    store.expire(NOW, 1).await.expect("written");
    let again = open(&disk.kill(), &options);
    for store in [store, again] {
        let read = due_events::due(&store, webhook, due_events::wanted(3, &[])).await;
        assert_eq!((read.backs_off_until, read.events.len()), (Some(until), 1));
        let read = due_events::due(&store, webhook, DueQuery { due_by: until, ..due_events::wanted(3, &[]) }).await;
        assert_eq!((read.backs_off_until, read.events.len()), (None, 2));
    }
}
