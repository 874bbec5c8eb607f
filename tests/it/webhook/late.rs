//! An event that ends while its body is being read and rendered is not sent: the last look is right before the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tempmail::clock::Clock;
use tempmail::model::{PendingEvent, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::dispatcher;
use tokio_util::sync::CancellationToken;

use super::between::{Between, OutboxWith};
use super::ends::{IN_FLIGHT, NOW, delivery_to, watched};
use crate::store::embedded::options;
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// What happens to the outbox each time an event was read whole, before whoever has read it goes on, or later.
#[derive(Clone, Copy)]
enum Meddling {
    /// The event's webhook is deleted.
    Delete,
    /// Another webhook is: what was read may not hold any more, but does. So often.
    DeleteAnother(usize),
}

/// Changes the store amid reading.
struct Meddled {
    meddling: Meddling,
    looks: AtomicUsize,
}

impl Meddled {
    async fn delete_another(&self, store: &EmbeddedStore) {
        let another = webhook("b@example.test", "http://b.example/");
        let id = another.id;
        let limits = WebhookLimits { per_recipient: 9, total: 9, ..WebhookLimits::UNBOUNDED };
        store.register_webhook(another, limits).await.expect("register");
        assert_eq!(store.delete_webhook(id).await, Ok(true));
    }
}

#[async_trait]
impl Between for Meddled {
    async fn loaded(&self, store: &EmbeddedStore, event: &PendingEvent) {
        self.looks.fetch_add(1, Ordering::Relaxed);
        match self.meddling {
            Meddling::Delete => assert_eq!(store.delete_webhook(event.webhook).await, Ok(true)),
            Meddling::DeleteAnother(_) => self.delete_another(store).await,
        }
    }

    async fn looked_at(&self, store: &EmbeddedStore, _: &PendingEvent) {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        if matches!(self.meddling, Meddling::DeleteAnother(times) if looks < times) {
            self.delete_another(store).await;
        }
    }
}

/// How many requests come of an event for a webhook, until its outbox is empty.
async fn requests(meddling: Meddling) -> usize {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    sink.script("/", Behaviour::status(200));
    let store = Arc::new(EmbeddedStore::open(dir.path(), &options()).expect("open"));
    let record = webhook("a@example.test", &sink.url("/"));
    let limits = WebhookLimits { per_recipient: 9, total: 9, ..WebhookLimits::UNBOUNDED };
    store.register_webhook(record, limits).await.expect("register");
    store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
    let guard = watched(&*clock);
    let meddled = Meddled { meddling, looks: AtomicUsize::new(0) };
    let outbox = Arc::new(OutboxWith { store: Arc::clone(&store), between: meddled });
    let delivery = delivery_to(outbox, clock, Duration::from_secs(20));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(dispatcher::run(delivery, IN_FLIGHT, guard, shutdown.clone()));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !store.pending_webhooks().await.expect("pending webhooks").is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "the event still waits");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The stop waits for attempts that have begun.
    shutdown.cancel();
    running.await.expect("dispatcher");
    sink.requests().len()
}

#[tokio::test]
async fn an_event_whose_webhook_is_deleted_while_its_body_is_read_is_not_sent() {
    assert_eq!(requests(Meddling::Delete).await, 0);
}

#[tokio::test]
async fn an_event_is_sent_once_although_others_end_meanwhile() {
    assert_eq!(requests(Meddling::DeleteAnother(3)).await, 1);
}
