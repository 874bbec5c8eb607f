//! When a webhook is disabled: by its receiver, or after five days of nothing but failures.
//! Promise: it outlives the code below it.

use std::sync::Arc;
use std::time::Duration;

use tempmail::model::{AttemptRecord, Timestamp, Verdict, WebhookId, WebhookStatus};
use tempmail::store::Storage;

use super::options;
use super::outbox::{attempt, pending, register};
use super::outbox_conformance::Open;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOUR: Duration = Duration::from_hours(1);

/// A store with a webhook and events for it.
pub async fn store(open: Open, events: usize) -> (Arc<dyn Storage>, WebhookId) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    for number in 0..events {
        store.receive(delivery(&["a@example.test"], format!("mail {number}"), NOW)).await.expect("receive");
    }
    (store, id)
}

/// Records an attempt of the first pending event, so many hours after the start. Returns the webhook's status.
pub async fn note(store: &dyn Storage, id: WebhookId, hours: u32, verdict: Verdict) -> WebhookStatus {
    let event = pending(store, id).await.remove(0);
    let made = AttemptRecord { at: NOW.plus(HOUR * hours), ..attempt(&event, verdict) };
    store.record_attempt(made).await.expect("note");
    store.webhook(id).await.expect("read").expect("the webhook").status
}

/// The status after an event failed at each of these hours.
async fn failing_at(open: Open, hours: &[u32]) -> WebhookStatus {
    let (store, id) = store(open, 1).await;
    let mut status = WebhookStatus::Active;
    for hour in hours {
        assert_eq!(status, WebhookStatus::Active, "before {hour}");
        status = note(&*store, id, *hour, Verdict::Retry(NOW)).await;
    }
    status
}

pub fn disabled() -> WebhookStatus {
    WebhookStatus::Disabled("nothing but failures for 5 days".into())
}

pub async fn five_days_of_nothing_but_failures_disable_a_webhook(open: Open) {
    assert_eq!(failing_at(open, &[0, 48, 96, 119]).await, WebhookStatus::Active);
    assert_eq!(failing_at(open, &[0, 48, 96, 120]).await, disabled());
}

pub async fn of_the_time_between_two_failures_two_days_count_at_most(open: Open) {
    assert_eq!(failing_at(open, &[0, 120]).await, WebhookStatus::Active);
    // Mail comes every four days, and fails for 26 hours.
    assert_eq!(failing_at(open, &[0, 26, 96, 122, 141]).await, WebhookStatus::Active);
    assert_eq!(failing_at(open, &[0, 26, 96, 122, 142]).await, disabled());
    assert_eq!(failing_at(open, &[0, 1_000, 2_000, 2_023]).await, WebhookStatus::Active);
    assert_eq!(failing_at(open, &[0, 1_000, 2_000, 2_024]).await, disabled());
}

pub async fn a_clock_that_comes_back_makes_no_days_of_failures(open: Open) {
    assert_eq!(failing_at(open, &[1_000, 0, 24, 72, 119]).await, WebhookStatus::Active);
    assert_eq!(failing_at(open, &[1_000, 0, 24, 72, 120]).await, disabled());
}

pub async fn a_success_among_attempts_that_were_decided_on_together_keeps_a_webhook_active(open: Open) {
    let (store, id) = store(open, 4).await;
    for hours in [0, 48, 96, 119] {
        note(&*store, id, hours, Verdict::Retry(NOW)).await;
    }
    let events = pending(&*store, id).await;
    let at = NOW.plus(HOUR * 121);
    let verdicts = [Verdict::Delivered, Verdict::Retry(at), Verdict::Retry(at)];
    let made = events.iter().zip(verdicts).map(|(event, verdict)| AttemptRecord { at, ..attempt(event, verdict) });
    store.record_attempts(made.collect()).await.expect("note");
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    assert_eq!((record.status, record.failures, record.failing_since), (WebhookStatus::Active, 2, Some(at)));
    assert_eq!(pending(&*store, id).await.len(), 3);
}
