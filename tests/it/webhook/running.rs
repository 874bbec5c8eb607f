//! A store, a receiver, and a dispatcher between them. The test sets their clock.

use std::fmt::from_fn;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::dns::{DnsResolver, ResolverSettings};
use tempmail::expiry::StepDetector;
use tempmail::model::{AttemptRecord, RoleAddresses, Timestamp, Verdict, WebhookId, WebhookLimits, WebhookRecord};
use tempmail::reader::Reader;
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreOptions};
use tempmail::webhook::{Caller, CallerSettings, EventSender, Guard, GuardSettings, Schedule, dispatcher};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::suites::options;
use crate::suites::outbox::proven;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::until::{until, until_some};
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// The most attempts in flight in all, and at one origin.
const IN_FLIGHT: usize = 64;
pub const PER_ORIGIN: usize = 4;

pub const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// How long after its Email's expiry an event may be sent.
pub const GRACE: Duration = Duration::from_hours(1);

/// A store, a receiver and a clock that ticks from [`NOW`]. The dispatcher runs from [`Running::run`] on.
pub struct Running {
    pub store: Arc<EmbeddedStore>,
    pub sink: WebhookSink,
    pub clock: Arc<SetClock>,
    pub dir: tempfile::TempDir,
    timeout: Duration,
    dispatcher: Option<(JoinHandle<()>, CancellationToken)>,
}

impl Running {
    pub async fn new() -> Self {
        Self::with(&options()).await
    }

    pub async fn with(options: &StoreOptions) -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Arc::new(EmbeddedStore::open(dir.path(), options).expect("open"));
        let clock = Arc::new(SetClock::ticking_from(NOW));
        let timeout = CallerSettings::default().timeout;
        Self { store, sink: WebhookSink::start().await, clock, timeout, dir, dispatcher: None }
    }

    /// Sets how long an attempt may take.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Registers a proven webhook for a path of the receiver, which behaves like this.
    pub async fn register(&self, recipient: &str, path: &str, behaviour: Behaviour) -> WebhookId {
        self.sink.script(path, behaviour);
        self.register_record(proven(recipient, &self.sink.url(path))).await
    }

    pub async fn register_record(&self, record: WebhookRecord) -> WebhookId {
        let id = record.id;
        let limits = WebhookLimits { per_recipient: 99, total: 99, ..WebhookLimits::UNBOUNDED };
        self.store.register_webhook(record, limits).await.expect("register");
        id
    }

    /// Receives a mail, now.
    pub async fn receive(&self, recipient: &str) {
        self.store.receive(delivery(&[recipient], "mail", self.clock.now())).await.expect("receive");
    }

    pub fn sender(&self) -> Arc<EventSender> {
        self.sender_over(Arc::clone(&self.store) as Arc<dyn Outbox>)
    }

    /// What sends the events of `outbox`. It may call loopback, without a probation.
    fn sender_over(&self, outbox: Arc<dyn Outbox>) -> Arc<EventSender> {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let allow = vec!["127.0.0.0/8".parse().expect("network")];
        let guard = Arc::new(Guard::new(GuardSettings { allow, ..GuardSettings::default() }));
        let resolver = Arc::new(DnsResolver::new(ResolverSettings::new(Vec::new())));
        let settings = CallerSettings { timeout: self.timeout, has_probation: false, ..CallerSettings::default() };
        Arc::new(EventSender {
            outbox,
            reader: Reader::start(1).expect("a thread"),
            caller: Caller::new(settings, guard, resolver, Arc::clone(&clock)).expect("caller"),
            schedule: Schedule::default(),
            grace: GRACE,
            roles: RoleAddresses::default(),
            hostname: "localhost".parse().expect("name"),
            clock,
            counters: Arc::default(),
        })
    }

    /// Starts a dispatcher.
    pub fn run(&mut self) {
        self.run_over(Arc::clone(&self.store) as Arc<dyn Outbox>);
    }

    /// Starts a dispatcher over an outbox of this store.
    pub fn run_over(&mut self, outbox: Arc<dyn Outbox>) {
        self.run_with(outbox, self.detector());
    }

    /// Lets the clock step while it is watched, and starts a dispatcher then.
    pub fn run_after_step_to(&mut self, at: Timestamp) {
        let detector = self.detector();
        self.clock.step_to(at);
        self.run_with(Arc::clone(&self.store) as Arc<dyn Outbox>, detector);
    }

    /// A detector that has seen no step of the clock so far.
    fn detector(&self) -> StepDetector {
        StepDetector::settled(self.clock.now(), self.clock.boot())
    }

    fn run_with(&mut self, outbox: Arc<dyn Outbox>, detector: StepDetector) {
        let (sender, shutdown) = (self.sender_over(outbox), CancellationToken::new());
        let dispatcher = tokio::spawn(dispatcher::run(sender, IN_FLIGHT, detector, shutdown.clone()));
        self.dispatcher = Some((dispatcher, shutdown));
    }

    /// Stops the dispatcher, which waits for attempts that have begun.
    pub async fn stop(&mut self) {
        let (dispatcher, shutdown) = self.dispatcher.take().expect("a dispatcher runs");
        shutdown.cancel();
        dispatcher.await.expect("dispatcher");
    }

    /// How many requests came to a path.
    pub fn requests(&self, path: &str) -> usize {
        self.sink.requests().iter().filter(|request| request.path == path).count()
    }

    /// Waits for so many requests to a path.
    pub async fn requested(&self, path: &str, count: usize) {
        let what = from_fn(|f| write!(f, "{count} requests to {path}; there are {}", self.requests(path)));
        let is_there = async || {
            self.store.outbox_hint().notify_one();
            self.requests(path) >= count
        };
        until(what, is_there).await;
    }

    /// Has another webhook of the receiver get some events, one after another: the outbox is scanned for each.
    pub async fn scan(&self) {
        self.register("other@example.test", "/other", Behaviour::status(200)).await;
        for _ in 0..3 {
            let count = self.requests("/other");
            self.receive("other@example.test").await;
            self.requested("/other", count + 1).await;
        }
    }

    /// The webhook's log, the newest record first, once it has `count` records.
    pub async fn log(&self, webhook: WebhookId, count: usize) -> Vec<AttemptRecord> {
        let log = async || {
            let log = self.store.attempts(webhook, 100, self.clock.now()).await.expect("log");
            (log.len() >= count).then_some(log)
        };
        until_some(format_args!("{count} records in the log"), log).await
    }

    pub async fn verdicts(&self, webhook: WebhookId, count: usize) -> Vec<Verdict> {
        self.log(webhook, count).await.into_iter().map(|record| record.verdict).collect()
    }

    /// Waits until no event is pending.
    pub async fn sent_all(&self) {
        let is_empty = async || self.store.pending_webhooks().await.expect("pending webhooks").is_empty();
        until("no event is pending", is_empty).await;
    }
}
