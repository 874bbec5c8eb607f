//! What is held in memory of a long outbox: rows are read in pages, as their turns come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{PendingEvent, WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store};
use tempmail::webhook::dispatcher;
use tokio_util::sync::CancellationToken;

use super::between::{Between, OutboxWith};
use super::ends::{NOW, PACING, delivery_to, watched};
use crate::store::embedded::options;
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const MAILS: usize = 200;
/// Events of a webhook that are read at once, and that are in memory, at most.
const PAGE: usize = 32;
const HELD: usize = 64;

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

#[tokio::test]
async fn a_receiver_that_hangs_has_a_page_of_its_events_in_memory_however_many_wait() {
    let (dir, sink) = (tempfile::tempdir().expect("tempdir"), WebhookSink::start().await);
    let store = Arc::new(EmbeddedStore::open(dir.path(), &options()).expect("open"));
    for path in ["/1", "/2", "/3"] {
        sink.script(path, Behaviour::Hang);
        let limits = WebhookLimits { per_recipient: 9, total: 9 };
        store.register_webhook(webhook("a@example.test", &sink.url(path)), limits).await.expect("register");
    }
    for _ in 0..MAILS {
        store.receive(delivery(&["a@example.test"], "mail", NOW)).await.expect("receive");
    }
    let clock: Arc<dyn Clock> = Arc::new(SetClock::ticking_from(NOW));
    let (guard, counted) = (watched(&*clock), Arc::<Counted>::default());
    let outbox = Arc::new(OutboxWith { store: Arc::clone(&store), between: Arc::clone(&counted) });
    let delivery = delivery_to(outbox, clock, Duration::from_mins(1));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(dispatcher::run(delivery, PACING, guard, shutdown.clone()));
    sink.wait_for(1).await;
    // Whatever is to be read is read by then.
    while counted.looks.load(Ordering::Relaxed) < 6 {
        store.outbox_hint().notify_one();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    shutdown.cancel();
    running.await.expect("dispatcher");
    let given_out = counted.given_out.lock().expect("no panic").clone();
    assert_eq!(given_out.len(), 3);
    assert!(given_out.values().all(|count| (1..=HELD).contains(count)), "{given_out:?}");
}
