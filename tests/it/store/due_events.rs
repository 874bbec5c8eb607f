//! What is read ahead of the outbox, and when it no longer holds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{PendingEvent, Timestamp, Verdict, WebhookId};
use tempmail::store::{DueEvents, EmbeddedStore, Outbox, OutboxLimits, Replay, Store, StoreOptions, Wanted};

use super::embedded::options;
use super::outbox::{attempt, pending, register};
use crate::support::mail::{delivery, mailbox};
use crate::support::recording_disk::RecordingDisk;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";

/// A store with `mails` events for a webhook that may have three.
async fn store(mails: usize) -> (EmbeddedStore, WebhookId) {
    let limits = OutboxLimits { events_per_webhook: 3, ..OutboxLimits::default() };
    let options = StoreOptions { outbox: limits, ..options() };
    let store = EmbeddedStore::open_on(Arc::new(RecordingDisk::default()), &options).expect("open");
    let webhook = register(&store, TO, "https://a.example/").await;
    for _ in 0..mails {
        receive(&store).await;
    }
    (store, webhook)
}

async fn receive(store: &EmbeddedStore) {
    store.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
}

fn wanted(limit: usize, without: &[&PendingEvent]) -> Wanted {
    let without = without.iter().map(|event| event.sequence).collect::<HashSet<_>>();
    Wanted { due_by: NOW, due_after: Timestamp::MAX, without, limit, octets_max: 1 << 20 }
}

async fn due(store: &EmbeddedStore, webhook: WebhookId, wanted: Wanted) -> DueEvents {
    store.due_events(webhook, wanted).await.expect("events").expect("a webhook")
}

#[tokio::test]
async fn so_many_as_are_wanted_are_read_with_their_emails() {
    let (store, webhook) = store(3).await;
    let events = pending(&store, webhook).await;
    let all = due(&store, webhook, wanted(3, &[])).await;
    assert_eq!(all.events.iter().map(|due| due.event.clone()).collect::<Vec<_>>(), events);
    assert!(all.events.iter().all(|due| due.email.as_ref().is_some_and(|email| email.raw == "mail")));
    assert_eq!((all.has_more, all.next_due_at), (false, None));
    let one = due(&store, webhook, wanted(1, &[&events[0]])).await;
    assert_eq!((&one.events[0].event, one.events.len(), one.has_more), (&events[1], 1, true));
    let later = NOW.plus(Duration::from_secs(5));
    store.record_attempt(attempt(&events[0], Verdict::Retry(later))).await.expect("record");
    let rest = due(&store, webhook, wanted(3, &[])).await;
    assert_eq!((rest.events.len(), rest.has_more, rest.next_due_at), (2, false, Some(later)));
    assert_eq!(store.due_events(WebhookId::fresh(), wanted(3, &[])).await, Ok(None));
}

#[tokio::test]
async fn emails_beyond_the_octets_wanted_are_left_out() {
    let (store, webhook) = store(3).await;
    // Two of three messages of 4 octets.
    let read = due(&store, webhook, Wanted { octets_max: 11, ..wanted(3, &[]) }).await;
    assert_eq!(read.events.iter().map(|due| due.email.is_some()).collect::<Vec<_>>(), [true, true, false]);
}

#[tokio::test]
async fn what_was_read_holds_while_events_come_and_are_delivered() {
    let (store, webhook) = store(2).await;
    let read = due(&store, webhook, wanted(3, &[])).await;
    let later = NOW.plus(Duration::from_secs(5));
    store.record_attempt(attempt(&read.events[0].event, Verdict::Delivered)).await.expect("record");
    store.record_attempt(attempt(&read.events[1].event, Verdict::Retry(later))).await.expect("record");
    receive(&store).await;
    store.delete_all(&mailbox(TO), NOW).await.expect("delete");
    assert!(store.is_current(read.version));
}

#[tokio::test]
async fn what_was_read_holds_no_longer_once_webhooks_or_events_may_have_ended() {
    for way in ["deleted", "swept", "disabled", "dropped", "replayed"] {
        let (store, webhook) = store(3).await;
        let read = due(&store, webhook, wanted(1, &[])).await;
        assert!(store.is_current(read.version));
        match way {
            "deleted" => assert_eq!(store.delete_webhook(webhook).await, Ok(true)),
            "swept" => assert_eq!(store.delete_idle_webhooks(Timestamp::MAX).await, Ok(1)),
            "disabled" => {
                let mut gone = attempt(&read.events[0].event, Verdict::GivenUp);
                (gone.status, gone.disables) = (Some(410), Some("gone".into()));
                store.record_attempt(gone).await.expect(way);
            }
            "dropped" => receive(&store).await,
            _ => assert_eq!(store.replay(webhook, Replay::Failed, NOW).await, Ok(0)),
        }
        assert!(!store.is_current(read.version), "{way}");
        let again = store.due_events(webhook, wanted(1, &[])).await.expect(way);
        assert!(again.is_none_or(|again| store.is_current(again.version)), "{way}");
    }
}
