//! Large events: what of them is in memory at once.

use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{WebhookId, WebhookLimits};
use tempmail::store::{EmbeddedStore, Outbox, Store, StoreOptions};
use tempmail::webhook::dispatcher;
use tokio_util::sync::CancellationToken;

use super::ends::{IN_FLIGHT, NOW, delivery_of, watched};
use crate::store::embedded::options;
use crate::store::outbox::webhook;
use crate::support::clock::SetClock;
use crate::support::mail::delivery;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const HANGING: usize = 14;
/// An attempt does not end by itself while the test lasts.
const TIMEOUT: Duration = Duration::from_mins(5);
/// How long the test waits for what must come: bodies of this size take a while to render.
const PATIENCE: Duration = Duration::from_secs(60);
/// A mail's, which are twice as many in its event's body.
const OCTETS: usize = 3 << 20;
/// Each counts three times its mail: so many fit the 32 MB of attempts at receivers that are not prompt, and the 64 MB of slow
/// ones.
const AT_ONCE: usize = 3 + 7;

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
    let limits = WebhookLimits { per_recipient: 100, total: 100, ..WebhookLimits::UNBOUNDED };
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
    tokio::spawn(dispatcher::run(sender, IN_FLIGHT, guard, CancellationToken::new()));
    let called = || hanging.iter().filter(|sink| sink.connections() > 0).count();
    while called() < AT_ONCE - 1 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    store.receive(delivery(&["b@example.test"], "small", NOW)).await.expect("receive");
    small.wait_for(1).await;
    let called = called();
    // Some were cut off by now for others; that is recorded a moment later.
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
    tokio::time::timeout(PATIENCE, is_explained).await.unwrap_or_else(|_| panic!("{called} at once"));
    // Those that were called are called again beside the others, which takes some rounds.
    while hanging.iter().any(|sink| sink.requests().is_empty()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
