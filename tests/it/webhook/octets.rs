//! Large events: what of them is in memory at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{PendingEvent, Verdict, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreOptions};
use tempmail::webhook::dispatcher;
use tokio_util::sync::CancellationToken;

use super::between::{Between, OutboxWith};
use super::ends::{NOW, PACING, delivery_of, delivery_to, watched};
use crate::store::embedded::options;
use crate::store::outbox::{attempt, pending, webhook};
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const HANGING: usize = 10;
/// How long one of them has an attempt's place and memory.
const TIMEOUT: Duration = Duration::from_secs(5);
/// A mail's, which are twice as many in its event's body.
const OCTETS: usize = 3 << 20;
/// So many such bodies fit the 32 MB that endpoints which are not prompt have.
const AT_ONCE: usize = 5;

/// So many receivers that hang, and their webhooks for `a@example.test`.
async fn register_hanging(
    store: &EmbeddedStore,
    count: usize,
    limits: WebhookLimits,
) -> (Vec<WebhookSink>, Vec<WebhookId>) {
    let (mut hanging, mut ids) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let sink = WebhookSink::start().await;
        sink.script("/", Behaviour::Hang);
        let record = webhook("a@example.test", &sink.url("/"));
        ids.push(record.id);
        store.register_webhook(record, limits).await.expect("register");
        hanging.push(sink);
    }
    (hanging, ids)
}

#[tokio::test]
async fn large_bodies_that_nobody_takes_have_a_bound_and_hold_up_no_small_one() {
    let dir = tempfile::tempdir().expect("tempdir");
    let sized = StoreOptions { message_octets_max: 4 << 20, segment_octets: 16 << 20, ..options() };
    let store = Arc::new(EmbeddedStore::open(dir.path(), &sized).expect("open"));
    let limits = WebhookLimits { per_recipient: 100, total: 100 };
    let (hanging, ids) = register_hanging(&store, HANGING, limits).await;
    let small = WebhookSink::start().await;
    small.script("/", Behaviour::status(200));
    store.register_webhook(webhook("b@example.test", &small.url("/")), limits).await.expect("register");
    let line = format!("{}\r\n", "x".repeat(70));
    let mail = format!("Subject: large\r\n\r\n{}", line.repeat(OCTETS / line.len()));
    store.receive(delivery(&["a@example.test"], mail, NOW)).await.expect("receive");

    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
    let guard = watched(&*clock);
    let sender = delivery_of(&store, clock, TIMEOUT);
    tokio::spawn(dispatcher::run(sender, PACING, guard, CancellationToken::new()));
    let called = || hanging.iter().filter(|sink| sink.connections() > 0).count();
    while called() < AT_ONCE - 1 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    store.receive(delivery(&["b@example.test"], "small", NOW)).await.expect("receive");
    small.wait_for(1).await;
    let called = called();
    // On a slow machine some have ended by now, and others taken their room; it is noted a moment later.
    let is_explained = async {
        loop {
            let mut ended = 0;
            for id in &ids {
                ended += usize::from(!store.attempts(*id, 1, NOW).await.expect("log").is_empty());
            }
            if called <= AT_ONCE + ended {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT / 5, is_explained).await.unwrap_or_else(|_| panic!("{called} at once"));
    // Those that were called are called again beside the others, which takes some rounds.
    while hanging.iter().any(|sink| sink.requests().is_empty()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How many events of a webhook were given out.
struct GivenOut {
    of: WebhookId,
    count: AtomicUsize,
}

impl Between for Vec<Arc<GivenOut>> {
    fn read(&self, webhook: WebhookId, _: usize, events: &[PendingEvent]) {
        if let Some(given_out) = self.iter().find(|given_out| given_out.of == webhook) {
            given_out.count.fetch_add(events.len(), Ordering::Relaxed);
        }
    }
}

#[tokio::test]
async fn what_waits_for_room_is_not_read_again_before_there_is_room() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let sized = StoreOptions { message_octets_max: 4 << 20, segment_octets: 16 << 20, ..options() };
    let store = Arc::new(EmbeddedStore::open(dir.path(), &sized).expect("open"));
    let limits = WebhookLimits { per_recipient: 9, total: 9 };
    // Two of these leave no room for a third, of what endpoints have that are not prompt.
    let (hanging, ids) = register_hanging(&store, 3, limits).await;
    store.receive(delivery(&["a@example.test"], "\x01".repeat(5 << 18), NOW)).await.expect("receive");
    sink.script("/", Behaviour::status(200));
    let prompt = webhook("b@example.test", &sink.url("/"));
    let prompt_id = prompt.id;
    store.register_webhook(prompt, limits).await.expect("register");
    // It is prompt from the start on.
    store.receive(delivery(&["b@example.test"], "first", NOW)).await.expect("receive");
    let first = pending(&*store, prompt_id).await.remove(0);
    store.record_attempt(attempt(&first, Verdict::Delivered)).await.expect("record");

    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
    let guard = watched(&*clock);
    let given_out = ids.iter().map(|id| GivenOut { of: *id, count: AtomicUsize::new(0) });
    let given_out: Vec<_> = given_out.map(Arc::new).collect();
    let outbox = Arc::new(OutboxWith { store: Arc::clone(&store), between: given_out.clone() });
    let sender = delivery_to(outbox, clock, Duration::from_mins(5));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(dispatcher::run(sender, PACING, guard, shutdown.clone()));
    while hanging.iter().filter(|sink| !sink.requests().is_empty()).count() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for number in 1..=50 {
        store.receive(delivery(&["b@example.test"], "small", NOW)).await.expect("receive");
        sink.wait_for(number).await;
    }
    let counts: Vec<_> = given_out.iter().map(|given_out| given_out.count.load(Ordering::Relaxed)).collect();
    assert_eq!(hanging.iter().filter(|sink| sink.connections() > 0).count(), 2);
    assert!(counts.iter().all(|count| (1..10).contains(count)), "{counts:?}");
    shutdown.cancel();
    running.await.expect("dispatcher");
}
