//! Events end in steps that mail does not wait for. They end without a dispatcher, too.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;
use std::time::Duration;

use tempmail::model::{AttemptRecord, Timestamp, Verdict, WebhookId, WebhookStatus};
use tempmail::store::{EmbeddedStore, Outbox, OutboxLimits, Registry, Store, StoreOptions, WebhookSweep};

use super::{HOUR, NOW, REGISTRY, TO, receive, receive_all};
use crate::suites::options;
use crate::suites::outbox::{attempt, pending, register};
use crate::support::mail::delivery;
use crate::support::test_disk::{Kind, TestDisk};

/// More events than two changes end.
const MANY: usize = 600;
/// Before anything expires.
const NEVER: Timestamp = Timestamp::from_millis(0);

/// A store on a disk, with a webhook for which events wait.
async fn store(events: usize) -> (TestDisk, EmbeddedStore, WebhookId) {
    let disk = TestDisk::default();
    let store = open(&disk, OutboxLimits::default());
    let id = register(&store, TO, "https://a.example/").await;
    receive_all(&store, (0..events).map(|n| delivery(&[TO], format!("mail {n}"), NOW))).await;
    (disk, store, id)
}

fn open(disk: &TestDisk, outbox: OutboxLimits) -> EmbeddedStore {
    super::open(disk, &StoreOptions { outbox, ..options() })
}

/// The first event is answered with 410.
async fn gone(store: &EmbeddedStore, id: WebhookId) {
    let event = pending(store, id).await.remove(0);
    let gone =
        AttemptRecord { disables: Some("410 Gone".into()), status: Some(410), ..attempt(&event, Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("note");
}

/// The messages whose octets something still needs.
async fn needed(store: &EmbeddedStore) -> u64 {
    store.detailed_stats().await.expect("survey").stats.messages
}

#[tokio::test]
async fn a_webhook_with_many_events_is_deleted_with_them() {
    let (_, store, id) = store(MANY).await;
    assert_eq!(store.delete_webhook(id).await, Ok(true));
    assert_eq!((store.webhook(id).await, store.pending_webhooks().await), (Ok(None), Ok(vec![])));
    assert_eq!(store.expire(NOW.plus(30 * HOUR), 2 * MANY).await.expect("expire").removed, MANY);
    assert_eq!(store.stats().await.expect("stats").live_octets, 0);
}

#[tokio::test]
async fn a_webhook_with_many_events_is_swept_in_steps() {
    let (_, store, _) = store(MANY).await;
    let other = register(&store, "b@example.test", "https://b.example/").await;
    let later = NOW.plus(Duration::from_secs(1));
    assert_eq!(store.delete_webhooks(WebhookSweep::IdleSince(later)).await, Ok(2));
    assert_eq!((store.webhook(other).await, store.pending_webhooks().await), (Ok(None), Ok(vec![])));
}

#[tokio::test]
async fn what_waits_for_a_webhook_that_is_disabled_is_dropped_in_steps_and_counted() {
    let (_, store, id) = store(MANY).await;
    gone(&store, id).await;
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    assert_eq!(record.dropped, MANY as u64 - 1);
    assert_eq!(
        (record.status, store.pending_webhooks().await),
        (WebhookStatus::Disabled("410 Gone".into()), Ok(vec![]))
    );
}

#[tokio::test]
async fn events_that_a_power_cut_left_to_a_disabled_webhook_are_not_sent_and_end_later() {
    let (disk, store, id) = store(MANY).await;
    let events = pending(&store, id).await;
    // The webhook is disabled durably, and then its events could not be ended.
    let mut is_disabled = false;
    let failing = disk.fail(move |call| {
        let fails = is_disabled && call.is(Kind::Write, "journal-");
        is_disabled |= call.is(Kind::Sync, REGISTRY);
        fails.then_some(ErrorKind::Other)
    });
    gone(&store, id).await;
    let disk = disk.kill();
    drop((failing, store));
    let store = open(&disk, OutboxLimits::default());
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    assert_eq!(record.status, WebhookStatus::Disabled("410 Gone".into()));
    assert_eq!(pending(&store, id).await, []);
    assert_eq!(store.load_event(&events[MANY - 1]).await, Ok(None));
    assert_eq!(store.end_events(NEVER).await, Ok(MANY - 1));
    assert_eq!(store.pending_webhooks().await, Ok(vec![]));
    assert_eq!(store.webhook(id).await.expect("read").expect("the webhook").dropped, MANY as u64 - 1);
}

#[tokio::test]
async fn without_a_dispatcher_events_of_an_earlier_start_end_after_their_time() {
    let (disk, before, id) = store(MANY).await;
    before.close().await.expect("close");
    drop(before);
    let store = open(&disk, OutboxLimits { events_per_webhook: 0, ..OutboxLimits::default() });
    receive(&store, "a message without an event").await.expect("receive");
    let expired_at = pending(&store, id).await[0].email.expires_at;
    assert_eq!(
        store.expire(expired_at.plus(Duration::from_secs(1)), 2 * MANY).await.expect("expire").removed,
        MANY + 1
    );
    assert_eq!((store.end_events(expired_at).await, needed(&store).await), (Ok(0), MANY as u64));
    assert_eq!(store.end_events(expired_at.plus(Duration::from_millis(1))).await, Ok(MANY));
    assert_eq!((needed(&store).await, store.stats().await.expect("stats").live_octets), (0, 0));
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    assert_eq!((record.status, record.dropped), (WebhookStatus::Active, MANY as u64));
}
