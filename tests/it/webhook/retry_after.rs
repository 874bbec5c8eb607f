//! A rest that a receiver asked for holds for the whole webhook, whoever comes to know of it from the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tempmail::clock::Clock;
use tempmail::model::{AttemptRecord, Timestamp, Verdict, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::{CallerSettings, dispatcher};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::ends::{IN_FLIGHT, NOW, delivery_of, store, watched};
use crate::store::outbox::{attempt, pending, webhook};
use crate::support::binary::Binary;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const REST: Duration = Duration::from_secs(600);

/// A store with two webhooks. The receiver of the first asks for a rest at the first event, and takes all others.
struct Rested {
    store: Arc<EmbeddedStore>,
    webhook: WebhookId,
    sink: WebhookSink,
    clock: Arc<SetClock>,
    running: Option<(JoinHandle<()>, CancellationToken)>,
    _dir: tempfile::TempDir,
}

impl Rested {
    /// It was asked for and is noted, and another event waits.
    async fn start() -> Self {
        let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
        let (store, id) = store(dir.path(), &sink).await;
        let other = webhook("b@example.test", &sink.url("/other"));
        store
            .register_webhook(other, WebhookLimits { per_recipient: 1, total: 2, ..WebhookLimits::UNBOUNDED })
            .await
            .expect("register");
        sink.script("/other", Behaviour::status(200));
        let asks = Behaviour::with_header(503, "retry-after", &REST.as_secs().to_string());
        sink.script("/", Behaviour::InTurn(vec![asks, Behaviour::status(200)]));
        let clock = Arc::new(SetClock::ticking_from(NOW));
        let mut rested = Self { store, webhook: id, sink, clock, running: None, _dir: dir };
        rested.run();
        rested.receive("a@example.test").await;
        let deadline = Instant::now() + Duration::from_secs(20);
        while rested.store.attempts(rested.webhook, 1, NOW.plus(REST)).await.expect("log").is_empty() {
            assert!(Instant::now() < deadline, "nobody asked for a rest");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        rested.receive("a@example.test").await;
        rested
    }

    fn run(&mut self) {
        let guard = watched(&*self.clock);
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let sender = delivery_of(&self.store, clock, CallerSettings::default().timeout);
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(dispatcher::run(sender, IN_FLIGHT, guard, shutdown.clone()));
        self.running = Some((running, shutdown));
    }

    async fn stop(&mut self) {
        let (running, shutdown) = self.running.take().expect("it runs");
        shutdown.cancel();
        running.await.expect("dispatcher");
    }

    async fn receive(&self, recipient: &str) {
        self.store.receive(delivery(&[recipient], "mail", self.clock.now())).await.expect("receive");
    }

    fn requests(&self, path: &str) -> usize {
        self.sink.requests().iter().filter(|request| request.path == path).count()
    }

    async fn told(&self, path: &str, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.requests(path) < count {
            assert!(Instant::now() < deadline, "{count} at {path}: {}", self.requests(path));
            self.store.outbox_hint().notify_one();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Tells the other webhook of some mail: the dispatcher has looked at all that waits as often.
    async fn looked(&self) {
        for _ in 0..3 {
            let told = self.requests("/other");
            self.receive("b@example.test").await;
            self.told("/other", told + 1).await;
        }
    }
}

#[tokio::test]
async fn a_dispatcher_that_begins_anew_keeps_to_the_rest() {
    let mut rested = Rested::start().await;
    rested.stop().await;
    rested.clock.advance(REST / 2);
    rested.run();
    rested.looked().await;
    // Mail that comes then waits as well.
    rested.receive("a@example.test").await;
    rested.looked().await;
    rested.clock.advance(REST / 3);
    rested.looked().await;
    assert_eq!(rested.requests("/"), 1);
    rested.clock.advance(REST / 3);
    rested.told("/", 4).await;
}

#[tokio::test]
async fn a_dispatcher_that_begins_anew_after_the_clock_was_put_back_waits_for_nobody() {
    let mut rested = Rested::start().await;
    rested.stop().await;
    rested.clock.step_to(Timestamp::from_millis(NOW.millis() - 600_000));
    rested.run();
    rested.told("/", 2).await;
}

#[tokio::test]
async fn a_rest_that_nobody_is_given_is_none() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let (store, id) = store(dir.path(), &sink).await;
    for _ in 0..2 {
        store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    }
    let event = pending(&*store, id).await.remove(0);
    let rests_until = Some(NOW.plus(Duration::from_secs(3601)));
    store.record_attempt(AttemptRecord { rests_until, ..attempt(&event, Verdict::GivenUp) }).await.expect("note");
    let clock: Arc<dyn Clock> = Arc::new(SetClock::at(NOW));
    let guard = watched(&*clock);
    let sender = delivery_of(&store, clock, CallerSettings::default().timeout);
    tokio::spawn(dispatcher::run(sender, IN_FLIGHT, guard, CancellationToken::new()));
    assert_eq!(sink.wait_for(1).await.len(), 1);
}

async fn send(server: &Binary) {
    SmtpPeer::greeted(server.smtp).await.deliver("ann@example.test", "Subject: s\r\n\r\ntext").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rest_outlives_the_process() {
    let (dir, sink) = (tempfile::tempdir().expect("directory"), WebhookSink::start().await);
    sink.script("/", Behaviour::InTurn(vec![Behaviour::with_header(503, "retry-after", "5"), Behaviour::status(200)]));
    let flags = ["--webhook-allow", "127.0.0.0/8", "--webhook-schedule", "50ms"];
    let daemon = Binary::serve(dir.path(), &flags);
    let added = daemon.tempmail(&["webhook", "add", "ann@example.test", &sink.url("/"), "-o", "id"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    let began = Instant::now();
    send(&daemon).await;
    sink.wait_for(1).await;
    while daemon.tempmail(&["webhook", "deliveries", added.stdout.trim()]).stdout.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "the attempt is not noted");
    }
    send(&daemon).await;
    daemon.kill();
    let _daemon = Binary::serve(dir.path(), &flags);
    sink.wait_for(2).await;
    assert!(began.elapsed() >= Duration::from_secs(5), "{:?}", began.elapsed());
    sink.wait_for(3).await;
}
