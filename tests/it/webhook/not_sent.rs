//! An event is not sent once its webhook is deleted or disabled, even if the event was read before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tempmail::model::{PendingEvent, WebhookId, WebhookLimits, WebhookStatus};
use tempmail::store::{EmbeddedStore, Outbox};

use super::observed::{ObservedOutbox, Observer};
use super::running::{PER_ORIGIN, Running};
use crate::suites::outbox::webhook;
use crate::support::until::until;
use crate::support::webhook_sink::Behaviour;

const TO: &str = "a@example.test";
/// More events than are read at once.
const MAILS: usize = 140;

/// A dispatcher with many events for a webhook at `/hook`.
async fn with_many_events(behaviour: Behaviour) -> (Running, WebhookId) {
    let mut running = Running::new().await.with_timeout(Duration::from_secs(1));
    let webhook = running.register(TO, "/hook", behaviour).await;
    for _ in 0..MAILS {
        running.receive(TO).await;
    }
    running.run();
    (running, webhook)
}

/// How many requests came to `/hook`, once another webhook of the receiver has had as many events.
async fn requests_in_the_end(mut running: Running) -> usize {
    running.register("b@example.test", "/b", Behaviour::status(200)).await;
    for _ in 0..MAILS {
        running.receive("b@example.test").await;
    }
    running.requested("/b", MAILS).await;
    running.stop().await;
    running.requests("/hook")
}

#[tokio::test]
async fn a_deleted_webhook_gets_no_event_that_was_read_before() {
    let (running, webhook) = with_many_events(Behaviour::Hang).await;
    running.requested("/hook", PER_ORIGIN).await;
    assert_eq!(running.store.delete_webhook(webhook).await, Ok(true));
    assert_eq!(requests_in_the_end(running).await, PER_ORIGIN);
}

#[tokio::test]
async fn a_webhook_that_answered_410_gets_no_event_that_was_read_before() {
    let gone_at_first = Behaviour::InTurn(vec![Behaviour::status(410), Behaviour::Hang]);
    let (running, webhook) = with_many_events(gone_at_first).await;
    let is_disabled = async || {
        let record = running.store.webhook(webhook).await.expect("webhook").expect("the webhook");
        matches!(record.status, WebhookStatus::Disabled(_))
    };
    until("the webhook is disabled", is_disabled).await;
    // Those were in flight when it was disabled.
    assert!(requests_in_the_end(running).await <= PER_ORIGIN);
}

/// What happens to the store right after an event was read whole.
#[derive(Clone, Copy)]
enum Change {
    /// The event's webhook is deleted.
    Delete,
    /// Another webhook is deleted, so often: the event must be checked again, but stays pending.
    DeleteAnother(usize),
}

struct Changing {
    change: Change,
    checks: AtomicUsize,
}

async fn delete_another(store: &EmbeddedStore) {
    let another = webhook("b@example.test", "http://b.example/");
    let id = another.id;
    store.register_webhook(another, WebhookLimits::UNBOUNDED).await.expect("register");
    assert_eq!(store.delete_webhook(id).await, Ok(true));
}

#[async_trait]
impl Observer for Changing {
    async fn loaded(&self, store: &EmbeddedStore, event: &PendingEvent) {
        self.checks.fetch_add(1, Ordering::Relaxed);
        match self.change {
            Change::Delete => assert_eq!(store.delete_webhook(event.webhook).await, Ok(true)),
            Change::DeleteAnother(_) => delete_another(store).await,
        }
    }

    async fn checked(&self, store: &EmbeddedStore) {
        let checks = self.checks.fetch_add(1, Ordering::Relaxed);
        if matches!(self.change, Change::DeleteAnother(times) if checks < times) {
            delete_another(store).await;
        }
    }
}

#[tokio::test]
async fn the_last_check_is_right_before_the_request() {
    for (change, requests) in [(Change::Delete, 0), (Change::DeleteAnother(3), 1)] {
        let mut running = Running::new().await;
        running.register(TO, "/", Behaviour::status(200)).await;
        running.receive(TO).await;
        let observer = Changing { change, checks: AtomicUsize::new(0) };
        running.run_over(Arc::new(ObservedOutbox { store: Arc::clone(&running.store), observer }));
        running.sent_all().await;
        running.stop().await;
        assert_eq!(running.requests("/"), requests);
    }
}
