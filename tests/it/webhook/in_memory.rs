//! What is in memory of a long outbox: events are read in pages, and unrecorded attempts and large bodies are limited.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use tempmail::model::{PendingEvent, WebhookId};
use tempmail::store::{Outbox, Store, StoreOptions};
use tokio::sync::watch;

use super::observed::{ObservedOutbox, Observer};
use super::running::{NOW, PER_ORIGIN, Running};
use crate::suites::options;
use crate::suites::outbox::webhook;
use crate::support::mail::delivery;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "a@example.test";
/// The most events of a webhook that are read at once, and that are in memory.
const PAGE: usize = 32;
const IN_MEMORY: usize = 2 * PAGE;

/// Counts events that were read and scans of the outbox. It holds up recording while it must.
#[derive(Default)]
struct Counts {
    read: Mutex<HashMap<WebhookId, usize>>,
    scans: AtomicUsize,
    holds_up: watch::Sender<bool>,
}

#[async_trait]
impl Observer for Arc<Counts> {
    fn scans(&self) {
        self.scans.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self, webhook: WebhookId, limit: usize, events: &[PendingEvent]) {
        assert!(events.len() <= limit && limit <= PAGE, "{} of {limit}", events.len());
        *self.read.lock().expect("no panic").entry(webhook).or_default() += events.len();
    }

    async fn records(&self) {
        self.holds_up.subscribe().wait_for(|holds_up| !holds_up).await.expect("recording goes on");
    }
}

/// A dispatcher with so many events for a webhook at each of `paths`, which all behave alike.
async fn running(counts: &Arc<Counts>, paths: &[&str], behaviour: Behaviour, mails: usize) -> Running {
    let mut running = Running::new().await.with_timeout(Duration::from_mins(1));
    for path in paths {
        running.register(TO, path, behaviour.clone()).await;
    }
    for _ in 0..mails {
        running.receive(TO).await;
    }
    running.run_over(Arc::new(ObservedOutbox { store: Arc::clone(&running.store), observer: Arc::clone(counts) }));
    running
}

/// Waits until the outbox was scanned six more times: by then everything is read that may be read.
async fn scanned(running: &Running, counts: &Counts) {
    let enough = counts.scans.load(Ordering::Relaxed) + 6;
    let are_enough = async || {
        running.store.outbox_hint().notify_one();
        counts.scans.load(Ordering::Relaxed) >= enough
    };
    until("six scans", are_enough).await;
}

#[tokio::test]
async fn a_page_of_events_is_in_memory_for_a_receiver_that_hangs() {
    let (counts, paths) = (Arc::<Counts>::default(), ["/1", "/2", "/3"]);
    let mut running = running(&counts, &paths, Behaviour::Hang, IN_MEMORY + 100).await;
    running.sink.wait_for(1).await;
    scanned(&running, &counts).await;
    let read = counts.read.lock().expect("no panic").clone();
    running.stop().await;
    assert_eq!(read.len(), paths.len());
    assert!(read.values().all(|count| (1..=IN_MEMORY).contains(count)), "{read:?}");
}

#[tokio::test]
async fn no_more_is_sent_than_may_be_unrecorded_while_nothing_can_be_recorded() {
    const MAILS: usize = 64;
    const UNRECORDED: usize = 8;
    let counts = Arc::<Counts>::default();
    counts.holds_up.send_replace(true);
    let mut running = running(&counts, &["/"], Behaviour::status(200), MAILS).await;
    running.sink.wait_for(UNRECORDED).await;
    scanned(&running, &counts).await;
    // Attempts in flight end beyond the limit.
    let sent = running.requests("/");
    assert!((UNRECORDED..UNRECORDED + PER_ORIGIN).contains(&sent), "{sent}");
    counts.holds_up.send_replace(false);
    running.sent_all().await;
    running.stop().await;
    assert_eq!(running.requests("/"), MAILS);
}

#[tokio::test]
async fn large_bodies_that_no_receiver_takes_are_limited_and_hold_up_no_small_one() {
    const HANGING: usize = 14;
    const OCTETS: usize = 3 << 20;
    // Each body counts three times its mail: so many fit the 32 MB of webhooks that are not prompt, and the 64 MB of slow
    // attempts.
    const AT_ONCE: usize = 3 + 7;
    let sized = StoreOptions { message_octets_max: 4 << 20, segment_octets: 16 << 20, ..options() };
    let mut running = Running::with(&sized).await.with_timeout(Duration::from_mins(5));
    let hanging = join_all((0..HANGING).map(|_| WebhookSink::start())).await;
    let mut ids = Vec::new();
    for sink in &hanging {
        sink.script("/", Behaviour::Hang);
        ids.push(running.register_record(webhook(TO, &sink.url("/"))).await);
    }
    let line = format!("{}\r\n", "x".repeat(70));
    let mail = format!("Subject: large\r\n\r\n{}", line.repeat(OCTETS / line.len()));
    running.store.receive(delivery(&[TO], mail, NOW)).await.expect("receive");
    running.run();
    let called = || hanging.iter().filter(|sink| sink.connections() > 0).count();
    until("as many receivers are called as may be", async || called() >= AT_ONCE - 1).await;
    running.sink.script("/small", Behaviour::status(200));
    running.register_record(webhook("b@example.test", &running.sink.url("/small"))).await;
    running.receive("b@example.test").await;
    running.requested("/small", 1).await;
    let called = called();
    // Some attempts were cut off by now for others, which is recorded a moment later.
    let is_explained = async || {
        let ended = join_all(ids.iter().map(|id| running.store.attempts(*id, 1, NOW))).await;
        called <= AT_ONCE + ended.iter().filter(|log| log.as_ref().is_ok_and(|log| !log.is_empty())).count()
    };
    until(format_args!("{called} are called, and those beyond {AT_ONCE} were cut off"), is_explained).await;
    // Receivers that were called are called again beside the others, so this takes some rounds.
    until("each receiver is called", async || hanging.iter().all(|sink| !sink.requests().is_empty())).await;
}
