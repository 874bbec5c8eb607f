//! A clock that is put back: nobody waits for a time that was set by the clock before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tempmail::clock::Clock;
use tempmail::model::{Timestamp, Verdict, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::{CallerSettings, dispatcher};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::between::{Between, OutboxWith};
use super::ends::{NOW, PACING, Stepped, delivery_of, delivery_to, store, watched};
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// Less than the schedule's longest wait.
const STEP: Duration = Duration::from_mins(30);

fn before(at: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(at.millis() - i64::try_from(by.as_millis()).expect("a short time"))
}

#[tokio::test]
async fn an_event_that_was_never_attempted_is_due_though_it_was_received_by_a_clock_that_was_ahead() {
    let stepped = Stepped::to(before(NOW, STEP), SetClock::ticking_from(NOW), 200).await;
    assert_eq!(stepped.verdicts(1).await, [Verdict::Delivered]);
}

/// A dispatcher whose first request is answered in some way, before the clock is put back.
struct Answered {
    store: Arc<EmbeddedStore>,
    sink: WebhookSink,
    clock: Arc<SetClock>,
    _dir: tempfile::TempDir,
}

impl Answered {
    async fn with(first: Behaviour) -> Self {
        let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
        let (store, id) = store(dir.path(), &sink).await;
        sink.script("/", Behaviour::InTurn(vec![first, Behaviour::status(200)]));
        store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
        let clock = Arc::new(SetClock::ticking_from(NOW));
        let guard = watched(&*clock);
        let sender = delivery_of(&store, Arc::clone(&clock) as Arc<dyn Clock>, CallerSettings::default().timeout);
        tokio::spawn(dispatcher::run(sender, PACING, guard, CancellationToken::new()));
        sink.wait_for(1).await;
        while store.attempts(id, 1, clock.now()).await.is_ok_and(|log| log.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        clock.step_to(before(NOW, STEP));
        clock.advance(Duration::from_secs(6));
        store.outbox_hint().notify_one();
        Self { store, sink, clock, _dir: dir }
    }

    fn requests(&self, path: &str) -> usize {
        self.sink.requests().iter().filter(|request| request.path == path).count()
    }
}

#[tokio::test]
async fn a_retry_waits_for_no_longer_than_its_own_wait() {
    let answered = Answered::with(Behaviour::status(500)).await;
    assert_eq!(answered.sink.wait_for(2).await.len(), 2);
}

/// Nobody goes on that has noted something until there is a permit.
struct HeldUp {
    permits: Semaphore,
    looks: AtomicUsize,
}

#[async_trait]
impl Between for Arc<HeldUp> {
    fn looks(&self) {
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    async fn noted(&self) {
        self.permits.acquire().await.expect("a permit").forget();
    }
}

#[tokio::test]
async fn a_retry_that_was_being_noted_waits_for_no_longer_either() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let (store, id) = store(dir.path(), &sink).await;
    sink.script("/", Behaviour::InTurn(vec![Behaviour::status(500), Behaviour::status(200)]));
    store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    let clock = Arc::new(SetClock::ticking_from(NOW));
    let guard = watched(&*clock);
    let held_up = Arc::new(HeldUp { permits: Semaphore::new(0), looks: AtomicUsize::new(0) });
    let outbox = Arc::new(OutboxWith { store: Arc::clone(&store), between: Arc::clone(&held_up) });
    let sender = delivery_to(outbox, Arc::clone(&clock) as Arc<dyn Clock>, CallerSettings::default().timeout);
    tokio::spawn(dispatcher::run(sender, PACING, guard, CancellationToken::new()));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while store.attempts(id, 1, clock.now()).await.is_ok_and(|log| log.is_empty()) {
        assert!(tokio::time::Instant::now() < deadline, "the attempt is not noted");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    clock.step_to(before(NOW, STEP));
    clock.advance(Duration::from_secs(6));
    // What rests by the clock before is looked for while that event is still held; a look begins when the last one is over.
    let looks = held_up.looks.load(Ordering::Relaxed);
    while held_up.looks.load(Ordering::Relaxed) < looks + 3 {
        assert!(tokio::time::Instant::now() < deadline, "nobody looks");
        store.outbox_hint().notify_one();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    held_up.permits.add_permits(100);
    assert_eq!(sink.wait_for(2).await.len(), 2);
}

#[tokio::test]
async fn a_receiver_that_asked_for_a_rest_has_it() {
    let answered = Answered::with(Behaviour::with_header(429, "retry-after", "3600")).await;
    let other = webhook("b@example.test", &answered.sink.url("/other"));
    let limits = WebhookLimits { per_recipient: 1, total: 2 };
    answered.store.register_webhook(other, limits).await.expect("register");
    answered.sink.script("/other", Behaviour::status(200));
    // Each is told after a look at all that waits.
    for told in 1..=5 {
        answered.clock.advance(Duration::from_secs(6));
        let now = answered.clock.now();
        answered.store.receive(delivery(&["b@example.test"], "mail", now)).await.expect("receive");
        while answered.requests("/other") < told {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    assert_eq!(answered.requests("/"), 1);
}
