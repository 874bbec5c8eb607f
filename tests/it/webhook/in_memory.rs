//! What is held in memory of a long outbox: rows are read in pages, as their turns come, and no more is sent while too much
//! is not noted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tempmail::clock::Clock;
use tempmail::model::{PendingEvent, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::dispatcher;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::between::{Between, OutboxWith};
use super::ends::{IN_FLIGHT, NOW, PER_ORIGIN, delivery_to, watched};
use crate::store::embedded::options;
use crate::store::outbox::proven;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// Events of a webhook that are read at once, and that are in memory, at most.
const PAGE: usize = 32;
const HELD: usize = 2 * PAGE;

/// How many events of each webhook were given out, and how often webhooks were looked for.
#[derive(Default)]
struct Counted {
    given_out: Mutex<HashMap<WebhookId, usize>>,
    looks: AtomicUsize,
}

impl Between for Arc<Counted> {
    fn looks(&self) {
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self, webhook: WebhookId, limit: usize, events: &[PendingEvent]) {
        assert!(events.len() <= limit && limit <= PAGE, "{} of {limit}", events.len());
        *self.given_out.lock().expect("no panic").entry(webhook).or_default() += events.len();
    }
}

/// A dispatcher over an outbox with somebody between.
struct Running<B> {
    store: Arc<EmbeddedStore>,
    between: Arc<B>,
    shutdown: CancellationToken,
    dispatcher: tokio::task::JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl<B> Running<B>
where
    Arc<B>: Between,
{
    /// Begins with so many events for a webhook at each of `urls`.
    async fn start(between: B, urls: &[String], mails: usize) -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Arc::new(EmbeddedStore::open(dir.path(), &options()).expect("open"));
        for url in urls {
            let limits = WebhookLimits { per_recipient: 99, total: 99, ..WebhookLimits::UNBOUNDED };
            store.register_webhook(proven("a@example.test", url), limits).await.expect("register");
        }
        for _ in 0..mails {
            store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
        }
        let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
        let (guard, between, shutdown) = (watched(&*clock), Arc::new(between), CancellationToken::new());
        let outbox = Arc::new(OutboxWith { store: Arc::clone(&store), between: Arc::clone(&between) });
        let delivery = delivery_to(outbox, clock, Duration::from_mins(1));
        let dispatcher = tokio::spawn(dispatcher::run(delivery, IN_FLIGHT, guard, shutdown.clone()));
        Self { store, between, shutdown, dispatcher, _dir: dir }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.dispatcher.await.expect("dispatcher");
    }
}

#[tokio::test]
async fn a_receiver_that_hangs_has_a_page_of_its_events_in_memory_however_many_wait() {
    let sink = WebhookSink::start().await;
    let paths = ["/1", "/2", "/3"];
    for path in paths {
        sink.script(path, Behaviour::Hang);
    }
    let running = Running::start(Counted::default(), &paths.map(|path| sink.url(path)), HELD + 100).await;
    sink.wait_for(1).await;
    // Whatever is to be read is read by then.
    while running.between.looks.load(Ordering::Relaxed) < 6 {
        running.store.outbox_hint().notify_one();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let given_out = running.between.given_out.lock().expect("no panic").clone();
    running.stop().await;
    assert_eq!(given_out.len(), paths.len());
    assert!(given_out.values().all(|count| (1..=HELD).contains(count)), "{given_out:?}");
}

/// Notes nothing until it may.
#[derive(Default)]
struct Stalled {
    may_note: watch::Sender<bool>,
    looks: AtomicUsize,
}

#[async_trait]
impl Between for Arc<Stalled> {
    fn looks(&self) {
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    async fn notes(&self) {
        self.may_note.subscribe().wait_for(|may_note| *may_note).await.expect("it may at last");
    }
}

#[tokio::test]
async fn no_more_is_sent_than_may_be_unrecorded_while_nothing_can_be_recorded() {
    const MAILS: usize = 64;
    // What is under way when there are as many as may be unrecorded ends as well.
    const UNRECORDED: usize = 8;
    let sink = WebhookSink::start().await;
    sink.script("/", Behaviour::status(200));
    let running = Running::start(Stalled::default(), &[sink.url("/")], MAILS).await;
    let sent = || sink.requests().len();
    sink.wait_for(UNRECORDED).await;
    let looks = running.between.looks.load(Ordering::Relaxed);
    while running.between.looks.load(Ordering::Relaxed) < looks + 6 {
        running.store.outbox_hint().notify_one();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!((UNRECORDED..UNRECORDED + PER_ORIGIN).contains(&sent()), "{}", sent());
    running.between.may_note.send_replace(true);
    while !running.store.pending_webhooks().await.expect("pending webhooks").is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.stop().await;
    assert_eq!(sent(), MAILS);
}
