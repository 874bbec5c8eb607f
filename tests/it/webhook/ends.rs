//! Events that end without a call: those that are past their time, and those whose octets are damaged.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::dns::{DnsResolver, ResolverSettings};
use tempmail::mime::Parser;
use tempmail::model::{Timestamp, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::{
    Bodies, Caller, CallerSettings, Delivery, Guard, GuardSettings, PacingLimits, Schedule, dispatcher,
};
use tokio_util::sync::CancellationToken;

use crate::store::embedded::options;
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

pub const PACING: PacingLimits = PacingLimits { in_flight_per_endpoint: 4, in_flight: 64, per_minute: 600 };

pub const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const GRACE: Duration = Duration::from_hours(1);

/// A store with a webhook for `a@example.test` that leads to `sink`.
async fn store(path: &Path, sink: &WebhookSink) -> (Arc<EmbeddedStore>, WebhookId) {
    sink.script("/", Behaviour::status(200));
    let store = Arc::new(EmbeddedStore::open(path, &options()).expect("open"));
    let record = webhook("a@example.test", &sink.url("/"));
    let id = record.id;
    store.register_webhook(record, WebhookLimits { per_recipient: 1, total: 1 }).await.expect("register");
    (store, id)
}

/// What makes attempts that take no longer than `timeout`, at loopback too.
pub fn delivery_of(store: &Arc<EmbeddedStore>, clock: Arc<dyn Clock>, timeout: Duration) -> Arc<Delivery> {
    delivery_to(Arc::clone(store) as Arc<dyn Outbox>, clock, timeout)
}

/// The same over any outbox.
pub fn delivery_to(outbox: Arc<dyn Outbox>, clock: Arc<dyn Clock>, timeout: Duration) -> Arc<Delivery> {
    let allow = vec!["127.0.0.0/8".parse().expect("network")];
    let guard = Arc::new(Guard::new(GuardSettings { allow, ..GuardSettings::default() }));
    let resolver = Arc::new(DnsResolver::new(ResolverSettings::new(Vec::new())));
    let settings = CallerSettings { timeout, ..CallerSettings::default() };
    Arc::new(Delivery {
        outbox,
        parser: Parser::start(1).expect("parser"),
        bodies: Bodies::default(),
        caller: Caller::new(settings, guard, resolver, Arc::clone(&clock)).expect("caller"),
        schedule: Schedule::default(),
        grace: GRACE,
        clock,
        counters: Arc::default(),
    })
}

/// Sends what waits, from `now` on, until `count` lines are in the log; these, the newest first.
async fn dispatched(store: &Arc<EmbeddedStore>, webhook: WebhookId, now: Timestamp, count: usize) -> Vec<String> {
    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(now));
    let delivery = delivery_of(store, clock, CallerSettings::default().timeout);
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(dispatcher::run(delivery, PACING, shutdown.clone()));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    let mut log = store.attempts(webhook, 100, now).await.expect("log");
    while log.len() < count && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
        log = store.attempts(webhook, 100, now).await.expect("log");
    }
    shutdown.cancel();
    running.await.expect("dispatcher");
    log.into_iter().map(|line| line.error.unwrap_or_default()).collect()
}

#[tokio::test]
async fn an_event_past_its_end_is_not_sent() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let (store, id) = store(dir.path(), &sink).await;
    store.receive(delivery(&["a@example.test"], "late", NOW)).await.expect("receive");
    let expires_at = NOW.plus(Duration::from_hours(1));
    let log = dispatched(&store, id, expires_at.plus(GRACE + Duration::from_secs(1)), 1).await;
    assert_eq!((log, sink.requests().len()), (vec!["too_late".to_owned()], 0));
    assert_eq!(store.lanes().await, Ok(vec![]));
}

#[tokio::test]
async fn damaged_events_end_and_hold_up_no_other() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let (store, id) = store(dir.path(), &sink).await;
    for n in 0..10 {
        store
            .receive(delivery(&["a@example.test"], format!("Subject: {n}\r\n\r\nBROKEN"), NOW))
            .await
            .expect("receive");
    }
    for file in std::fs::read_dir(dir.path()).expect("list").map(|entry| entry.expect("entry").path()) {
        let mut octets = std::fs::read(&file).expect("read");
        let places: Vec<usize> =
            (0..octets.len().saturating_sub(6)).filter(|at| &octets[*at..at + 6] == b"BROKEN").collect();
        if !places.is_empty() {
            for at in places {
                octets[at] = b'b';
            }
            let mut file = std::fs::OpenOptions::new().write(true).open(&file).expect("open");
            std::io::Write::write_all(&mut file, &octets).expect("write");
        }
    }
    store.receive(delivery(&["a@example.test"], "Subject: whole\r\n\r\n", NOW)).await.expect("receive");
    let log = dispatched(&store, id, NOW, 11).await;
    assert_eq!(log.iter().filter(|error| *error == "damaged").count(), 10, "{log:?}");
    assert_eq!(sink.requests().len(), 1);
    assert_eq!(store.lanes().await, Ok(vec![]));
}
