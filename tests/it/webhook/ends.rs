//! Events that end without a call: those that are past their time, and those whose octets are damaged.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::dns::{DnsResolver, ResolverSettings};
use tempmail::expiry::StepDetector;
use tempmail::mime::Parser;
use tempmail::model::{AttemptRecord, RoleAddresses, Timestamp, Verdict, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::{Caller, CallerSettings, Delivery, Guard, GuardSettings, Schedule, dispatcher};
use tokio_util::sync::CancellationToken;

use crate::store::embedded::options;
use crate::store::outbox::{proven, webhook};
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// Attempts under way in all, and at one origin.
pub const IN_FLIGHT: usize = 64;
pub const PER_ORIGIN: usize = 4;

pub const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const GRACE: Duration = Duration::from_hours(1);

/// A store with a webhook for `a@example.test` that leads to `sink`.
pub async fn store(path: &Path, sink: &WebhookSink) -> (Arc<EmbeddedStore>, WebhookId) {
    sink.script("/", Behaviour::status(200));
    let store = Arc::new(EmbeddedStore::open(path, &options()).expect("open"));
    let record = proven("a@example.test", &sink.url("/"));
    let id = record.id;
    store
        .register_webhook(record, WebhookLimits { per_recipient: 1, total: 1, ..WebhookLimits::UNBOUNDED })
        .await
        .expect("register");
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
    let settings = CallerSettings { timeout, has_probation: false, ..CallerSettings::default() };
    Arc::new(Delivery {
        outbox,
        parser: Parser::start(1).expect("parser"),
        caller: Caller::new(settings, guard, resolver, Arc::clone(&clock)).expect("caller"),
        schedule: Schedule::default(),
        grace: GRACE,
        roles: RoleAddresses::default(),
        clock,
        counters: Arc::default(),
    })
}

/// What has seen the clock go as it should.
pub fn watched(clock: &dyn Clock) -> StepDetector {
    StepDetector::settled(clock.now(), clock.boot())
}

/// Sends what waits, from `now` on, until `count` lines are in the log; these, the newest first.
async fn dispatched(store: &Arc<EmbeddedStore>, webhook: WebhookId, now: Timestamp, count: usize) -> Vec<String> {
    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(now));
    let guard = watched(&*clock);
    let delivery = delivery_of(store, clock, CallerSettings::default().timeout);
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(dispatcher::run(delivery, IN_FLIGHT, guard, shutdown.clone()));
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
    assert_eq!(store.pending_webhooks().await, Ok(vec![]));
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
    assert_eq!(store.pending_webhooks().await, Ok(vec![]));
}

/// What happens after the clock has stepped from `NOW` to `to`, with the mail of then waiting.
pub struct Stepped {
    store: Arc<EmbeddedStore>,
    webhook: WebhookId,
    sink: WebhookSink,
    clock: Arc<SetClock>,
    _dir: tempfile::TempDir,
}

impl Stepped {
    pub async fn to(to: Timestamp, clock: SetClock, status: u16) -> Self {
        let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
        let (store, webhook) = store(dir.path(), &sink).await;
        sink.script("/", Behaviour::status(status));
        store.receive(delivery(&["a@example.test"], "before", NOW)).await.expect("receive");
        let clock = Arc::new(clock);
        let guard = watched(&*clock);
        clock.step_to(to);
        let sender = delivery_of(&store, Arc::clone(&clock) as Arc<dyn Clock>, CallerSettings::default().timeout);
        tokio::spawn(dispatcher::run(sender, IN_FLIGHT, guard, CancellationToken::new()));
        Self { store, webhook, sink, clock, _dir: dir }
    }

    /// The verdicts in the log, the newest first, once there are `count`.
    pub async fn verdicts(&self, count: usize) -> Vec<Verdict> {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let log = self.store.attempts(self.webhook, 100, self.clock.now()).await.expect("log");
            if log.len() >= count {
                return log.into_iter().map(|line| line.verdict).collect();
            }
            assert!(tokio::time::Instant::now() < deadline, "{log:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn an_event_that_only_a_step_of_the_clock_has_made_late_is_sent() {
    let wrong = NOW.plus(Duration::from_hours(24));
    let stepped = Stepped::to(wrong, SetClock::ticking_from(NOW), 200).await;
    stepped.store.receive(delivery(&["a@example.test"], "while it is wrong", wrong)).await.expect("receive");
    assert_eq!(stepped.verdicts(2).await, [Verdict::Delivered; 2]);
    stepped.clock.step_to(NOW);
    stepped.store.receive(delivery(&["a@example.test"], "after it", NOW)).await.expect("receive");
    assert_eq!(stepped.verdicts(3).await, [Verdict::Delivered; 3]);
    assert_eq!(stepped.sink.requests().len(), 3);
}

#[tokio::test]
async fn an_event_is_late_once_the_clock_has_stayed_where_it_stepped_to() {
    let stepped = Stepped::to(NOW.plus(Duration::from_hours(24)), SetClock::ticking_from(NOW), 500).await;
    assert!(matches!(stepped.verdicts(1).await[..], [Verdict::Retry(_)]));
    stepped.clock.advance(Duration::from_mins(10));
    assert_eq!(stepped.verdicts(2).await[0], Verdict::GivenUp);
    assert_eq!(stepped.sink.requests().len(), 1);
}

#[tokio::test]
async fn an_event_that_fails_after_a_step_of_the_clock_is_tried_again() {
    let end = NOW.plus(Duration::from_hours(1) + GRACE);
    let stepped = Stepped::to(end, SetClock::at(NOW), 500).await;
    let verdicts = stepped.verdicts(1).await;
    assert!(matches!(verdicts[..], [Verdict::Retry(at)] if at > end), "{verdicts:?}");
}

#[tokio::test]
async fn a_receiver_that_asks_for_a_rest_has_it_from_the_whole_webhook() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let (store, id) = store(dir.path(), &sink).await;
    let other = webhook("b@example.test", &sink.url("/other"));
    store
        .register_webhook(other, WebhookLimits { per_recipient: 1, total: 2, ..WebhookLimits::UNBOUNDED })
        .await
        .expect("register");
    sink.script("/other", Behaviour::status(200));
    let busy = Behaviour::with_header(429, "retry-after", "3600");
    sink.script("/", busy);
    for _ in 0..60 {
        store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    }
    let clock = Arc::new(SetClock::ticking_from(NOW));
    let guard = watched(&*clock);
    let sender = delivery_of(&store, Arc::clone(&clock) as Arc<dyn Clock>, CallerSettings::default().timeout);
    tokio::spawn(dispatcher::run(sender, IN_FLIGHT, guard, CancellationToken::new()));
    sink.wait_for(1).await;
    // Each of these has its turn behind all that might be sent to the first.
    for told in 1..=20 {
        store.receive(delivery(&["b@example.test"], "mail", NOW)).await.expect("receive");
        let others = || sink.requests().iter().filter(|request| request.path == "/other").count();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        while others() < told {
            assert!(tokio::time::Instant::now() < deadline, "{told}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let refused = sink.requests().len() - 20;
    assert!(refused <= PER_ORIGIN, "{refused} were under way");
    let log = store.attempts(id, 1, clock.now()).await.expect("log");
    let asked = NOW.plus(Duration::from_hours(1));
    assert!(matches!(log[..], [AttemptRecord { verdict: Verdict::Retry(at), .. }] if at >= asked), "{log:?}");
    sink.script("/", Behaviour::status(200));
    clock.advance(Duration::from_mins(61));
    assert!(sink.wait_for(80).await.len() >= 80, "the rest ends");
}
