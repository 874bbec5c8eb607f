//! The worker that sends pending events. It scans the outbox for webhooks with events, reads some of these, starts attempts
//! as the queue decides, and records the outcomes. What it holds in memory is a hint: the store has everything.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempted, Claim, EventSender, STORE_BACKOFF};
use super::outcome::{Disposition, ErrorClass, Outcome};
use super::queue::{AttemptResult, Ended, EventKey, EventPage, EventPageRequest, Queue};
use super::schedule::RETRY_AFTER_MAX;
use crate::model::{AttemptRecord, Timestamp, Verdict, WebhookId};
use crate::store::{ATTEMPTS_PER_RECORD, DueQuery, StoreError};

/// The longest time between two scans of the whole outbox.
const SCAN_INTERVAL_MAX: Duration = Duration::from_secs(5);
/// The shortest time between two scans, however much mail comes in.
const SCAN_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// The pause after a scan, as a multiple of the scan's duration. So scans take at most a fifth of a core.
const SCAN_PAUSE_FACTOR: u32 = 4;
/// The most writes of outcomes at once. Outcomes that come meanwhile go into the next write, so that one write has many.
const RECORDINGS_MAX: usize = 4;
/// How long attempts in flight may take when the service stops. An attempt that is cut off is made again after the start.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends events until `shutdown` is cancelled, at most `in_flight_max` at once that are not slow. It begins with the events
/// that the last process left.
pub async fn run(sender: Arc<EventSender>, in_flight_max: usize, shutdown: CancellationToken) {
    let hint = sender.outbox.outbox_hint();
    let mut worker = Worker::new(sender, in_flight_max);
    loop {
        worker.start();
        let wakes_at = worker.wakes_at();
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = hint.notified() => worker.scan_by(Instant::now()),
            Some(scan) = worker.scans.join_next() => worker.take_scan(joined(scan)),
            Some(read) = worker.reads.join_next() => worker.take_read(joined(read)),
            Some(ended) = worker.attempts.join_next() => worker.end(joined(ended)),
            Some(recorded) = worker.recordings.join_next() => worker.recorded(joined(recorded)),
            () = tokio::time::sleep_until(wakes_at) => {}
        }
    }
    worker.drain().await;
}

/// The result of a scan: the webhooks that have events, each with the time of its next retry unless an event is due now.
type Scan = Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError>;

/// The result of reading a webhook's events.
struct PageRead {
    webhook: WebhookId,
    page: Option<EventPage>,
    /// When the webhook's next event is due that is not due yet.
    next_due_at: Option<Timestamp>,
}

struct Worker {
    sender: Arc<EventSender>,
    queue: Queue,
    /// Records that are not in the store yet.
    ended: Vec<(EventKey, AttemptRecord)>,
    scans: JoinSet<Scan>,
    reads: JoinSet<PageRead>,
    attempts: JoinSet<(Claim, Attempted)>,
    /// Attempts in flight. Dropping the channel's end cuts an attempt off.
    in_flight: HashMap<EventKey, oneshot::Sender<()>>,
    recordings: JoinSet<Vec<EventKey>>,
    /// When the next scan is due.
    scan_at: Instant,
    /// When the last scan began or, after its end, ended.
    scanned_at: Instant,
    scan_pause: Duration,
}

impl Worker {
    fn new(sender: Arc<EventSender>, in_flight_max: usize) -> Self {
        let now = Instant::now();
        Self {
            sender,
            queue: Queue::new(in_flight_max),
            ended: Vec::new(),
            scans: JoinSet::new(),
            reads: JoinSet::new(),
            attempts: JoinSet::new(),
            in_flight: HashMap::new(),
            recordings: JoinSet::new(),
            scan_at: now,
            scanned_at: now,
            scan_pause: SCAN_INTERVAL_MIN,
        }
    }

    fn now(&self) -> Duration {
        self.sender.clock.boot()
    }

    /// Starts everything that can be started now.
    fn start(&mut self) {
        for key in self.queue.wake(self.now()) {
            self.in_flight.remove(&key);
        }
        self.start_scan();
        while let Some(request) = self.queue.next_page() {
            let sender = Arc::clone(&self.sender);
            self.reads.spawn(async move { read(&sender, request).await });
        }
        while let Some(claim) = self.queue.next_claim(self.now()) {
            self.start_attempt(claim);
        }
        self.start_recordings();
    }

    fn start_attempt(&mut self, claim: Claim) {
        if self.sender.is_late(&claim.event) {
            return self.end((claim, Attempted::Ended(AttemptRecord::TOO_LATE)));
        }
        let sender = Arc::clone(&self.sender);
        let (handle, is_cut_off) = oneshot::channel::<()>();
        self.in_flight.insert(key(&claim), handle);
        self.attempts.spawn(async move {
            // A panic fails this attempt alone. A request may have been sent, so it counts like any other failure.
            let at = sender.clock.now();
            let attempted = AssertUnwindSafe(sender.attempt_until(&claim, is_cut_off)).catch_unwind().await;
            let attempted = attempted.unwrap_or_else(|_| {
                tracing::error!(webhook = %claim.event.webhook, "an attempt panicked; the event is retried");
                Attempted::Panicked(at)
            });
            (claim, attempted)
        });
    }

    fn end(&mut self, (claim, attempted): (Claim, Attempted)) {
        let key = key(&claim);
        self.in_flight.remove(&key);
        let ended = match attempted {
            Attempted::Called(at, outcome) => {
                let result = attempt_result(&outcome);
                self.end_called(&claim, at, outcome);
                Ended::Called(result)
            }
            Attempted::Panicked(at) => {
                let outcome = Outcome::unanswered(ErrorClass::Other, Duration::ZERO, "internal error");
                // The receiver need not be the reason.
                let result = AttemptResult { is_origin_failure: false, ..attempt_result(&outcome) };
                self.end_called(&claim, at, outcome);
                Ended::Called(result)
            }
            Attempted::Ended(why) => {
                self.ended.push((key, self.sender.end_record(&claim.event, why)));
                Ended::Uncalled
            }
            Attempted::Gone => Ended::Gone,
            Attempted::Deferred(wait) => Ended::Deferred(claim, wait),
        };
        self.queue.end(key, ended, self.now());
    }

    fn end_called(&mut self, claim: &Claim, at: Timestamp, outcome: Outcome) {
        let record = self.sender.attempt_record(&claim.event, at, outcome);
        self.ended.push((key(claim), record));
    }

    fn start_recordings(&mut self) {
        while !self.ended.is_empty() && self.recordings.len() < RECORDINGS_MAX {
            let batch = self.ended.drain(..self.ended.len().min(ATTEMPTS_PER_RECORD));
            let (keys, records): (Vec<_>, Vec<_>) = batch.unzip();
            // A scan finds the event again when its retry is due.
            let due = records.iter().filter_map(|record| match record.verdict {
                Verdict::Retry(at) => Some(at),
                Verdict::Delivered | Verdict::GivenUp => None,
            });
            let next_due_at = due.min();
            let sender = Arc::clone(&self.sender);
            self.recordings.spawn(async move {
                sender.record(records).await;
                keys
            });
            if let Some(due_at) = next_due_at {
                self.scan_when_due(due_at);
            }
        }
    }

    fn recorded(&mut self, keys: Vec<EventKey>) {
        self.queue.recorded(keys, self.now());
    }

    fn start_scan(&mut self) {
        if Instant::now() < self.scan_at || !self.scans.is_empty() {
            return;
        }
        self.queue.forget_idle(self.now());
        self.sender.caller.close_idle();
        (self.scanned_at, self.scan_at) = (Instant::now(), Instant::now() + SCAN_INTERVAL_MAX);
        let outbox = Arc::clone(&self.sender.outbox);
        self.scans.spawn(async move { outbox.pending_webhooks().await });
    }

    fn take_scan(&mut self, scan: Scan) {
        let took = self.scanned_at.elapsed();
        self.scan_pause = (took * SCAN_PAUSE_FACTOR).clamp(SCAN_INTERVAL_MIN, SCAN_INTERVAL_MAX);
        self.scanned_at = Instant::now();
        match scan {
            Ok(webhooks) => {
                for (webhook, due_at) in webhooks {
                    match due_at.filter(|due_at| !self.is_due(*due_at)) {
                        Some(due_at) => self.scan_when_due(due_at),
                        None => self.queue.add_webhook(webhook, self.now()),
                    }
                }
            }
            Err(StoreError::Stopping) => {}
            Err(error) => tracing::error!(%error, "the outbox could not be scanned for pending events; trying again"),
        }
        self.scan_by(self.scan_at);
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
        self.scan_at = self.scan_at.min(at).max(self.scanned_at + self.scan_pause);
    }

    fn take_read(&mut self, read: PageRead) {
        if let Some(due_at) = read.next_due_at {
            self.scan_when_due(due_at);
        }
        self.queue.add_page(read.webhook, read.page, self.now());
    }

    fn wakes_at(&self) -> Instant {
        let wait = self.queue.wakes_at().map(|at| at.saturating_sub(self.now()));
        let scan_at = if self.scans.is_empty() { self.scan_at } else { Instant::now() + SCAN_INTERVAL_MAX };
        wait.map_or(scan_at, |wait| scan_at.min(Instant::now() + wait))
    }

    /// Waits for the attempts in flight and records them.
    async fn drain(mut self) {
        let drained = async {
            loop {
                self.start_recordings();
                tokio::select! {
                    Some(ended) = self.attempts.join_next() => self.end(joined(ended)),
                    Some(_) = self.recordings.join_next() => {}
                    else => break,
                }
            }
        };
        if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
            tracing::info!(attempts = self.attempts.len(), "stopped amid attempts; the next start makes them again");
        }
    }
}

async fn read(sender: &EventSender, EventPageRequest { webhook, without, limit }: EventPageRequest) -> PageRead {
    let now = sender.clock.now();
    let query = DueQuery { due_by: now, due_after: now.plus(sender.schedule.longest()), without, limit };
    match sender.read(webhook, query).await {
        Ok(Some((receiver, due))) => {
            let back_off = due.backs_off_until.map(|until| until.since(now)).filter(|wait| *wait <= RETRY_AFTER_MAX);
            let page = EventPage { receiver, events: due.events, has_more: due.has_more, back_off };
            PageRead { webhook, page: Some(page), next_due_at: due.next_due_at }
        }
        Ok(None) | Err(StoreError::Stopping) => PageRead { webhook, page: None, next_due_at: None },
        Err(error) => {
            tracing::error!(%webhook, %error, "the events of a webhook could not be read; trying again");
            tokio::time::sleep(STORE_BACKOFF).await;
            PageRead { webhook, page: None, next_due_at: None }
        }
    }
}

/// What an outcome says about the receiver. With a status below 500 only the webhook failed, not its origin.
fn attempt_result(outcome: &Outcome) -> AttemptResult {
    let disposition = outcome.disposition();
    AttemptResult {
        is_delivered: disposition == Disposition::Delivered,
        is_origin_failure: outcome.status.is_none_or(|status| status >= 500),
        back_off: match disposition {
            Disposition::Retry { after } => after.map(|after| after.min(RETRY_AFTER_MAX)),
            Disposition::Delivered | Disposition::Gone => None,
        },
    }
}

fn key(claim: &Claim) -> EventKey {
    (claim.event.webhook, claim.event.email.sequence)
}

/// The result of a task. A panic of the task goes on here, because nobody knows what the task had in hand.
fn joined<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}
