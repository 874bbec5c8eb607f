//! An event that ends while its body is being read and rendered is not sent: the last look is right before the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tempmail::clock::Clock;
use tempmail::model::{
    AttemptRecord, Mailbox, PendingEvent, StoredEmail, Timestamp, WebhookId, WebhookLimits, WebhookRecord,
};
use tempmail::store::{
    DueEvents, EmbeddedStore, Outbox, OutboxVersion, Replay, Store, StoreError, Wanted, WebhookRegistration,
};
use tempmail::webhook::dispatcher;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::ends::{NOW, PACING, delivery_to, watched};
use crate::store::embedded::options;
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// What happens to the outbox each time an event was read whole, before whoever has read it goes on.
#[derive(Clone, Copy)]
enum Meddling {
    /// The event's webhook is deleted.
    Delete,
    /// Another webhook is: what was read may not hold any more, but does. So often.
    DeleteAnother(usize),
}

/// A store that is changed amid reading.
struct Meddled {
    store: Arc<EmbeddedStore>,
    meddling: Meddling,
    loads: AtomicUsize,
}

impl Meddled {
    async fn delete_another(&self) {
        let another = webhook("b@example.test", "http://b.example/");
        let id = another.id;
        let limits = WebhookLimits { per_recipient: 9, total: 9 };
        self.store.register_webhook(another, limits).await.expect("register");
        assert_eq!(self.store.delete_webhook(id).await, Ok(true));
    }
}

#[async_trait]
impl Outbox for Meddled {
    async fn load_event(&self, event: &PendingEvent) -> Result<Option<StoredEmail>, StoreError> {
        let loaded = self.store.load_event(event).await;
        self.loads.fetch_add(1, Ordering::Relaxed);
        match self.meddling {
            Meddling::Delete => assert_eq!(self.store.delete_webhook(event.webhook).await, Ok(true)),
            Meddling::DeleteAnother(_) => self.delete_another().await,
        }
        loaded
    }

    async fn is_pending(&self, event: &PendingEvent) -> Result<bool, StoreError> {
        let is_pending = self.store.is_pending(event).await;
        let looks = self.loads.fetch_add(1, Ordering::Relaxed);
        if matches!(self.meddling, Meddling::DeleteAnother(times) if looks < times) {
            self.delete_another().await;
        }
        is_pending
    }

    async fn register_webhook(
        &self,
        record: WebhookRecord,
        limits: WebhookLimits,
    ) -> Result<WebhookRegistration, StoreError> {
        self.store.register_webhook(record, limits).await
    }

    async fn webhooks(&self, mailbox: &Mailbox) -> Result<Vec<WebhookRecord>, StoreError> {
        self.store.webhooks(mailbox).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        self.store.webhook(id).await
    }

    async fn delete_webhook(&self, id: WebhookId) -> Result<bool, StoreError> {
        self.store.delete_webhook(id).await
    }

    async fn delete_idle_webhooks(&self, idle_since: Timestamp) -> Result<usize, StoreError> {
        self.store.delete_idle_webhooks(idle_since).await
    }

    async fn lanes(&self) -> Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError> {
        self.store.lanes().await
    }

    async fn due_events(&self, webhook: WebhookId, wanted: Wanted) -> Result<Option<DueEvents>, StoreError> {
        self.store.due_events(webhook, wanted).await
    }

    fn version(&self) -> OutboxVersion {
        self.store.version()
    }

    fn is_current(&self, version: OutboxVersion) -> bool {
        self.store.is_current(version)
    }

    /// Nothing is read ahead.
    async fn emails(&self, events: Vec<PendingEvent>) -> Result<Vec<Option<StoredEmail>>, StoreError> {
        Ok(vec![None; events.len()])
    }

    async fn record_attempts(&self, attempts: Vec<AttemptRecord>) -> Result<(), StoreError> {
        self.store.record_attempts(attempts).await
    }

    async fn end_events(&self, expired_by: Timestamp) -> Result<usize, StoreError> {
        self.store.end_events(expired_by).await
    }

    async fn attempts(
        &self,
        webhook: WebhookId,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        self.store.attempts(webhook, limit, now).await
    }

    async fn replay(&self, webhook: WebhookId, which: Replay, now: Timestamp) -> Result<usize, StoreError> {
        self.store.replay(webhook, which, now).await
    }

    fn outbox_hint(&self) -> Arc<Notify> {
        self.store.outbox_hint()
    }
}

/// How many requests come of an event for a webhook, until its outbox is empty.
async fn requests(meddling: Meddling) -> usize {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    sink.script("/", Behaviour::status(200));
    let store = Arc::new(EmbeddedStore::open(dir.path(), &options()).expect("open"));
    let record = webhook("a@example.test", &sink.url("/"));
    let limits = WebhookLimits { per_recipient: 9, total: 9 };
    store.register_webhook(record, limits).await.expect("register");
    store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
    let guard = watched(&*clock);
    let meddled = Meddled { store: Arc::clone(&store), meddling, loads: AtomicUsize::new(0) };
    let delivery = delivery_to(Arc::new(meddled), clock, Duration::from_secs(20));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(dispatcher::run(delivery, PACING, guard, shutdown.clone()));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !store.lanes().await.expect("lanes").is_empty() {
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

#[tokio::test]
async fn an_event_has_another_turn_where_the_outbox_changes_faster_than_one_can_look() {
    assert_eq!(requests(Meddling::DeleteAnother(12)).await, 1);
}
