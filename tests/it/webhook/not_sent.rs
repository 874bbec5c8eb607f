//! What was read ahead of its turn is not sent once it must not be: webhooks that end amid their events.

use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{WebhookId, WebhookLimits, WebhookStatus};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::dispatcher;
use tokio_util::sync::CancellationToken;

use super::ends::{IN_FLIGHT, NOW, PER_ORIGIN, delivery_of, watched};
use crate::store::embedded::options;
use crate::store::outbox::proven;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// More than are read ahead.
const MAILS: usize = 140;

/// A dispatcher over a store, and a receiver with an endpoint that all webhooks share.
struct Running {
    store: Arc<EmbeddedStore>,
    sink: WebhookSink,
    shutdown: CancellationToken,
    dispatcher: tokio::task::JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl Running {
    /// Begins with `MAILS` events for a webhook at `/hook`, which the sink answers as `behaviour` says.
    async fn start(behaviour: Behaviour) -> (Self, WebhookId) {
        let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
        sink.script("/hook", behaviour);
        sink.script("/other", Behaviour::status(200));
        let store = Arc::new(EmbeddedStore::open(dir.path(), &options()).expect("open"));
        let webhook = register(&store, "a@example.test", &sink.url("/hook")).await;
        receive(&store, "a@example.test").await;
        let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
        let guard = watched(&*clock);
        let (delivery, shutdown) = (delivery_of(&store, clock, Duration::from_secs(1)), CancellationToken::new());
        let dispatcher = tokio::spawn(dispatcher::run(delivery, IN_FLIGHT, guard, shutdown.clone()));
        (Self { store, sink, shutdown, dispatcher, _dir: dir }, webhook)
    }

    /// How many requests came to `/hook`, once as many events of another webhook have had their turn at the same endpoint.
    async fn requests_in_the_end(self) -> usize {
        register(&self.store, "b@example.test", &self.sink.url("/other")).await;
        receive(&self.store, "b@example.test").await;
        self.store.outbox_hint().notify_one();
        let count = |path: &str| self.sink.requests().iter().filter(|request| request.path == path).count();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        while count("/other") < MAILS {
            assert!(tokio::time::Instant::now() < deadline, "{} of {MAILS}", count("/other"));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.shutdown.cancel();
        self.dispatcher.await.expect("dispatcher");
        count("/hook")
    }
}

async fn register(store: &EmbeddedStore, recipient: &str, url: &str) -> WebhookId {
    let record = proven(recipient, url);
    let id = record.id;
    store
        .register_webhook(record, WebhookLimits { per_recipient: 9, total: 9, ..WebhookLimits::UNBOUNDED })
        .await
        .expect("register");
    id
}

async fn receive(store: &EmbeddedStore, recipient: &str) {
    for number in 0..MAILS {
        store.receive(delivery(&[recipient], format!("Subject: {number}\r\n\r\n"), NOW)).await.expect("receive");
    }
}

#[tokio::test]
async fn a_deleted_webhook_gets_no_event_that_was_read_ahead() {
    let (running, webhook) = Running::start(Behaviour::Hang).await;
    running.sink.wait_for(PER_ORIGIN).await;
    assert_eq!(running.store.delete_webhook(webhook).await, Ok(true));
    assert_eq!(running.requests_in_the_end().await, PER_ORIGIN);
}

#[tokio::test]
async fn a_webhook_that_is_gone_gets_no_event_that_was_read_ahead() {
    let (running, webhook) = Running::start(Behaviour::InTurn(vec![Behaviour::status(410), Behaviour::Hang])).await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    let is_disabled = async || {
        let record = running.store.webhook(webhook).await.expect("webhook").expect("it is there");
        matches!(record.status, WebhookStatus::Disabled(_))
    };
    while !is_disabled().await {
        assert!(tokio::time::Instant::now() < deadline, "it is not disabled");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Those that were under way when it was disabled.
    assert!(running.requests_in_the_end().await <= PER_ORIGIN);
}
