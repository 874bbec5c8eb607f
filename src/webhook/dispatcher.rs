//! The dispatcher: looks which webhooks have due events, and runs a lane for each of them.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::attempt::EventSender;
use super::lane::{Lane, joined};
use super::places::Places;
use crate::model::{Timestamp, WebhookId};
use crate::store::StoreError;

/// The longest time between two scans of the whole outbox.
const SCAN_INTERVAL_MAX: Duration = Duration::from_secs(5);
/// The shortest time between two scans, however much mail comes in.
const SCAN_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// The pause after a scan, as a multiple of the scan's duration. So scans take at most a fifth of a core.
const SCAN_PAUSE_FACTOR: u32 = 4;
/// How long attempts in flight may take when the service stops. An attempt that is cut off is made again after the start.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends events until `stop` is cancelled. It begins with the events that the last process left.
pub(crate) async fn run(sender: Arc<EventSender>, stop: CancellationToken) {
    let hint = sender.outbox.outbox_hint();
    let mut dispatcher = Dispatcher::new(sender, stop.clone());
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = hint.notified() => dispatcher.scan_by(Instant::now()),
            Some(ended) = dispatcher.lanes.join_next() => dispatcher.end(joined(ended)),
            () = sleep_until(dispatcher.scan_at) => dispatcher.scan().await,
        }
    }
    dispatcher.drain().await;
}

struct Dispatcher {
    sender: Arc<EventSender>,
    places: Arc<Places>,
    stop: CancellationToken,
    /// Each ends with its webhook, and when the next event of this is due.
    lanes: JoinSet<(WebhookId, Option<Timestamp>)>,
    /// Rings a lane when its webhook may have new events.
    running: HashMap<WebhookId, Arc<Notify>>,
    /// When the next scan is due.
    scan_at: Instant,
    /// No scan begins before then.
    not_before: Instant,
}

impl Dispatcher {
    fn new(sender: Arc<EventSender>, stop: CancellationToken) -> Self {
        let places = Arc::new(Places::new(Arc::clone(&sender.admission), stop.clone()));
        let now = Instant::now();
        Self { sender, places, stop, lanes: JoinSet::new(), running: HashMap::new(), scan_at: now, not_before: now }
    }

    async fn scan(&mut self) {
        let begun = Instant::now();
        let scanning = self.stop.run_until_cancelled(self.sender.outbox.pending_webhooks());
        let Some(pending) = scanning.await else { return };
        let pause = (begun.elapsed() * SCAN_PAUSE_FACTOR).clamp(SCAN_INTERVAL_MIN, SCAN_INTERVAL_MAX);
        (self.not_before, self.scan_at) = (Instant::now() + pause, Instant::now() + SCAN_INTERVAL_MAX);
        match pending {
            Ok(webhooks) => {
                for (webhook, due_at) in webhooks {
                    match due_at.filter(|due_at| !self.is_due(*due_at)) {
                        Some(due_at) => self.scan_when_due(due_at),
                        None => self.wake(webhook),
                    }
                }
            }
            Err(StoreError::Stopping) => {}
            Err(error) => tracing::error!(%error, "the outbox could not be scanned for pending events; trying again"),
        }
    }

    /// Whether an event is due. One that is due later than the schedule permits is due now: the clock was set back since.
    fn is_due(&self, due_at: Timestamp) -> bool {
        let now = self.sender.clock.now();
        due_at <= now || due_at.since(now) > self.sender.schedule.longest()
    }

    fn scan_when_due(&mut self, due_at: Timestamp) {
        self.scan_by(Instant::now() + due_at.since(self.sender.clock.now()));
    }

    fn scan_by(&mut self, at: Instant) {
        self.scan_at = self.scan_at.min(at).max(self.not_before);
    }

    /// Has the lane of a webhook look for due events.
    fn wake(&mut self, webhook: WebhookId) {
        if let Some(wake) = self.running.get(&webhook) {
            return wake.notify_one();
        }
        let wake = Arc::<Notify>::default();
        self.running.insert(webhook, Arc::clone(&wake));
        let lane = Lane::new(Arc::clone(&self.sender), Arc::clone(&self.places), webhook, wake, self.stop.clone());
        self.lanes.spawn(async move {
            // A panic ends this lane alone. What it had in hand is in the store, and the next scan begins it again.
            let ended = AssertUnwindSafe(lane.run()).catch_unwind().await;
            (
                webhook,
                ended.unwrap_or_else(|_| {
                    tracing::error!(%webhook, "the lane of a webhook panicked; it begins again");
                    None
                }),
            )
        });
    }

    fn end(&mut self, (webhook, next_due_at): (WebhookId, Option<Timestamp>)) {
        let wake = self.running.remove(&webhook);
        // Events may have come while the lane ended.
        if wake.is_some_and(|wake| wake.notified().now_or_never().is_some()) {
            self.scan_by(Instant::now());
        }
        if let Some(due_at) = next_due_at {
            self.scan_when_due(due_at);
        }
    }

    /// Waits for the attempts in flight.
    async fn drain(mut self) {
        let drained = async { while self.lanes.join_next().await.map(joined).is_some() {} };
        if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
            tracing::info!(webhooks = self.lanes.len(), "stopped amid attempts; the next start makes them again");
        }
    }
}
