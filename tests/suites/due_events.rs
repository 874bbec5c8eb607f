//! Events that are read ahead from the outbox, and when they are no longer valid.
//! Mechanism: it goes with the versions of the outbox.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{AttemptRecord, PendingEvent, Timestamp, Verdict, WebhookId};
use tempmail::random;
use tempmail::store::{DueEvents, DueQuery, OutboxLimits, Storage, StoreOptions, WebhookSweep};

use super::options;
use super::outbox::{attempt, pending, register};
use super::outbox_conformance::Open;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TO: &str = "a@example.test";

/// A store with `mails` events for a webhook that may have three.
pub async fn store(open: Open, mails: usize) -> (Arc<dyn Storage>, WebhookId) {
    let limits = OutboxLimits { events_per_webhook: 3, ..OutboxLimits::default() };
    let options = StoreOptions { outbox: limits, ..options() };
    let store = open(options).await;
    let webhook = register(&*store, TO, "https://a.example/").await;
    for _ in 0..mails {
        receive(&*store).await;
    }
    (store, webhook)
}

pub async fn receive(store: &dyn Storage) {
    store.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
}

pub fn wanted(limit: usize, without: &[&PendingEvent]) -> DueQuery {
    let without = without.iter().map(|event| event.email.sequence).collect::<HashSet<_>>();
    DueQuery { due_by: NOW, due_after: Timestamp::MAX, without, limit }
}

pub async fn due(store: &dyn Storage, webhook: WebhookId, query: DueQuery) -> DueEvents {
    store.due_events(webhook, query).await.expect("events").expect("a webhook")
}

pub async fn so_many_as_are_wanted_are_read(open: Open) {
    let (store, webhook) = store(open, 3).await;
    let events = pending(&*store, webhook).await;
    let all = due(&*store, webhook, wanted(3, &[])).await;
    assert_eq!(all.events, events);
    assert_eq!(all.next_due_at, None);
    let one = due(&*store, webhook, wanted(1, &[&events[0]])).await;
    assert_eq!((&one.events[0], one.events.len()), (&events[1], 1));
    let later = NOW.plus(Duration::from_secs(5));
    store.record_attempt(attempt(&events[0], Verdict::Retry(later))).await.expect("record");
    let rest = due(&*store, webhook, wanted(3, &[])).await;
    assert_eq!((rest.events.len(), rest.next_due_at), (2, Some(later)));
    assert_eq!(store.due_events(random::webhook_id(), wanted(3, &[])).await, Ok(None));
}

pub async fn events_come_in_the_order_of_time_whether_they_were_tried_or_not(open: Open) {
    let (store, webhook) = store(open, 2).await;
    let events = pending(&*store, webhook).await;
    let (soon, later) = (NOW.plus(Duration::from_secs(5)), NOW.plus(Duration::from_secs(7)));
    store.record_attempt(attempt(&events[1], Verdict::Retry(soon))).await.expect("record");
    store.record_attempt(attempt(&events[0], Verdict::Retry(later))).await.expect("record");
    store.receive(delivery(&[TO], "mail", NOW.plus(Duration::from_secs(6)))).await.expect("receive");
    let all = due(&*store, webhook, DueQuery { due_by: later, ..wanted(9, &[]) }).await.events;
    let found: Vec<_> = all.iter().map(|event| (event.attempts, event.due_at.since(NOW).as_secs())).collect();
    assert_eq!(found, [(1, 5), (0, 6), (1, 7)]);
    let one = due(&*store, webhook, DueQuery { due_by: later, ..wanted(1, &[&all[0]]) }).await;
    assert_eq!((&one.events[0], one.events.len()), (&all[1], 1));
}

pub async fn an_event_that_was_not_tried_is_due_also_where_the_clock_was_put_back(open: Open) {
    let (store, webhook) = store(open, 0).await;
    store.receive(delivery(&[TO], "mail", NOW.plus(Duration::from_mins(10)))).await.expect("receive");
    assert_eq!(store.pending_webhooks().await, Ok(vec![(webhook, None)]));
    let all = due(&*store, webhook, DueQuery { due_after: NOW.plus(Duration::from_hours(1)), ..wanted(3, &[]) }).await;
    assert_eq!((all.events.len(), all.next_due_at), (1, None));
}

pub async fn a_backoff_is_recorded_though_its_event_was_dropped_meanwhile(open: Open) {
    let (store, webhook) = store(open, 2).await;
    let event = pending(&*store, webhook).await.remove(0);
    store.record_attempt(attempt(&event, Verdict::GivenUp)).await.expect("record");
    let until = NOW.plus(Duration::from_secs(7));
    let asks = AttemptRecord { backs_off_until: Some(until), ..attempt(&event, Verdict::Retry(until)) };
    store.record_attempt(asks).await.expect("record");
    let read = due(&*store, webhook, wanted(3, &[])).await;
    assert_eq!((read.backs_off_until, read.events.len()), (Some(until), 1));
}

pub async fn an_event_is_pending_until_it_ends(open: Open) {
    let (store, webhook) = store(open, 2).await;
    let events = pending(&*store, webhook).await;
    store.record_attempt(attempt(&events[0], Verdict::Delivered)).await.expect("record");
    store.record_attempt(attempt(&events[1], Verdict::Retry(NOW))).await.expect("record");
    let is_pending = async |event| store.load_event(event).await.expect("load").is_some();
    assert_eq!((is_pending(&events[0]).await, is_pending(&events[1]).await), (false, true));
    assert_eq!(store.delete_webhook(webhook).await, Ok(true));
    assert!(!is_pending(&events[1]).await);
}

pub async fn an_event_that_was_read_ends_with_its_webhook_and_when_it_is_dropped(open: Open) {
    for way in ["deleted", "swept", "disabled", "dropped"] {
        let (store, webhook) = store(open, 3).await;
        let read = due(&*store, webhook, wanted(1, &[])).await;
        match way {
            "deleted" => assert_eq!(store.delete_webhook(webhook).await, Ok(true)),
            "swept" => assert_eq!(store.delete_webhooks(WebhookSweep::IdleSince(Timestamp::MAX)).await, Ok(1)),
            "disabled" => {
                let mut gone = attempt(&read.events[0], Verdict::GivenUp);
                (gone.status, gone.disables) = (Some(410), Some("gone".into()));
                store.record_attempt(gone).await.expect(way);
            }
            _ => receive(&*store).await,
        }
        assert_eq!(store.load_event(&read.events[0]).await, Ok(None), "{way}");
    }
}
