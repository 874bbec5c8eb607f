//! The worker that sends what waits in the outbox: it looks which webhooks have events, reads some, has attempts made as
//! their turns come, and has what came of them recorded. What it holds in memory is a hint; the store has it all.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempted, Claim, Delivery, STORE_PAUSE};
use super::outcome::{ErrorClass, Outcome, Verdict as Answered};
use super::queue::{Answer, Ended, EventKey, Page, PageRequest, Queue};
use super::schedule::RETRY_AFTER_MAX;
use crate::expiry::StepDetector;
use crate::model::{AttemptRecord, Timestamp, Verdict, WebhookId};
use crate::store::{ATTEMPTS_PER_RECORD, DueQuery, StoreError};

/// The longest time between two looks at the whole outbox, and the shortest: mail that comes in by the thousand makes no more
/// looks than this.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(5);
const LOOK_EVERY_MIN: Duration = Duration::from_millis(20);
/// After a look nobody looks for so many times as long as it took, so that thousands of webhooks cost a fifth of a core.
const LOOK_PAUSES: u32 = 4;
/// Notes of attempts on their way to the store. What comes meanwhile waits for the next, so that a note holds many.
const NOTES_MAX: usize = 4;
/// How long attempts in flight may take once the service stops. Those that are cut off are made again.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends events until `shutdown` is cancelled, so many at once that are not slow; begins with what the last process left.
/// While `guard` says that the time of day can't be relied on, none ends by it.
pub async fn run(delivery: Arc<Delivery>, in_flight_max: usize, guard: StepDetector, shutdown: CancellationToken) {
    let hint = delivery.outbox.outbox_hint();
    let mut worker = Worker::new(delivery, in_flight_max, guard);
    loop {
        worker.start();
        let wakes_at = worker.wakes_at();
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = hint.notified() => worker.look_by(Instant::now()),
            Some(looked) = worker.looks.join_next() => worker.looked(returned(looked)),
            Some(read) = worker.reads.join_next() => worker.take(returned(read)),
            Some(ended) = worker.attempts.join_next() => worker.end(returned(ended)),
            Some(noted) = worker.notes.join_next() => worker.noted(returned(noted)),
            () = tokio::time::sleep_until(wakes_at) => {}
        }
    }
    worker.drain().await;
}

/// The webhooks that have events, and when the first of those is due that were tried.
type Looked = Result<Vec<(WebhookId, Option<Timestamp>)>, StoreError>;

/// What was read of a webhook's events.
struct Read {
    webhook: WebhookId,
    page: Option<Page>,
    /// When the next one is due that is not.
    next_due_at: Option<Timestamp>,
}

struct Worker {
    delivery: Arc<Delivery>,
    queue: Queue,
    guard: StepDetector,
    may_end: bool,
    /// What is to be recorded.
    ended: Vec<(EventKey, AttemptRecord)>,
    looks: JoinSet<Looked>,
    reads: JoinSet<Read>,
    attempts: JoinSet<(Claim, Attempted)>,
    /// Dropping a sender cuts its attempt off.
    under_way: HashMap<EventKey, oneshot::Sender<()>>,
    notes: JoinSet<Vec<EventKey>>,
    look_at: Instant,
    looked_at: Instant,
    look_pause: Duration,
}

impl Worker {
    fn new(delivery: Arc<Delivery>, in_flight_max: usize, guard: StepDetector) -> Self {
        let now = Instant::now();
        Self {
            delivery,
            queue: Queue::new(in_flight_max),
            guard,
            may_end: false,
            ended: Vec::new(),
            looks: JoinSet::new(),
            reads: JoinSet::new(),
            attempts: JoinSet::new(),
            under_way: HashMap::new(),
            notes: JoinSet::new(),
            look_at: now,
            looked_at: now,
            look_pause: LOOK_EVERY_MIN,
        }
    }

    fn now(&self) -> Duration {
        self.delivery.clock.boot()
    }

    /// Starts what there is to do.
    fn start(&mut self) {
        self.may_end = self.guard.may_remove(self.delivery.clock.now(), self.now());
        for key in self.queue.wake(self.now()) {
            self.under_way.remove(&key);
        }
        self.start_look();
        while let Some(request) = self.queue.next_page() {
            let delivery = Arc::clone(&self.delivery);
            self.reads.spawn(async move { read(&delivery, request).await });
        }
        while let Some(claim) = self.queue.next_claim(self.now()) {
            self.start_attempt(claim);
        }
        self.start_notes();
    }

    fn start_attempt(&mut self, claim: Claim) {
        // While the clock can't be relied on, an event that seems late is sent like any other.
        if self.may_end && self.delivery.is_late(&claim.event) {
            return self.end((claim, Attempted::Ended(AttemptRecord::TOO_LATE)));
        }
        let delivery = Arc::clone(&self.delivery);
        let (handle, is_cut_off) = oneshot::channel::<()>();
        self.under_way.insert(key(&claim), handle);
        self.attempts.spawn(async move {
            // A panic fails this attempt alone. The receiver may have been called, so it counts like any other failure.
            let at = delivery.clock.now();
            let attempted = AssertUnwindSafe(delivery.attempt_until(&claim, is_cut_off)).catch_unwind().await;
            let attempted = attempted.unwrap_or_else(|_| {
                tracing::error!(webhook = %claim.event.webhook, "an attempt panicked; the event is retried");
                Attempted::Called(at, Outcome::unanswered(ErrorClass::Other, Duration::ZERO, "internal error"))
            });
            (claim, attempted)
        });
    }

    fn end(&mut self, (claim, attempted): (Claim, Attempted)) {
        let key = key(&claim);
        self.under_way.remove(&key);
        let ended = match attempted {
            Attempted::Called(at, outcome) => {
                let answer = answer(&outcome);
                let record = self.delivery.record(&claim.event, at, outcome, self.may_end);
                self.ended.push((key, record));
                Ended::Called(answer)
            }
            Attempted::Ended(why) => {
                self.ended.push((key, self.delivery.record_end(&claim.event, why)));
                Ended::Uncalled
            }
            Attempted::Gone => Ended::Gone,
            Attempted::Deferred(wait) => Ended::Deferred(claim, wait),
        };
        self.queue.end(key, ended, self.now());
    }

    fn start_notes(&mut self) {
        while !self.ended.is_empty() && self.notes.len() < NOTES_MAX {
            let batch = self.ended.drain(..self.ended.len().min(ATTEMPTS_PER_RECORD));
            let (keys, records): (Vec<_>, Vec<_>) = batch.unzip();
            // What is tried again is looked for when it is due.
            let due = records.iter().filter_map(|record| match record.verdict {
                Verdict::Retry(at) => Some(at),
                Verdict::Delivered | Verdict::GivenUp => None,
            });
            let next_due_at = due.min();
            let delivery = Arc::clone(&self.delivery);
            self.notes.spawn(async move {
                delivery.note(records).await;
                keys
            });
            if let Some(due_at) = next_due_at {
                self.look_when_due(due_at);
            }
        }
    }

    fn noted(&mut self, keys: Vec<EventKey>) {
        self.queue.recorded(keys, self.now());
    }

    fn start_look(&mut self) {
        if Instant::now() < self.look_at || !self.looks.is_empty() {
            return;
        }
        self.queue.forget_idle(self.now());
        self.delivery.caller.close_idle();
        (self.looked_at, self.look_at) = (Instant::now(), Instant::now() + LOOK_EVERY_MAX);
        let outbox = Arc::clone(&self.delivery.outbox);
        self.looks.spawn(async move { outbox.pending_webhooks().await });
    }

    fn looked(&mut self, looked: Looked) {
        let took = self.looked_at.elapsed();
        self.look_pause = (took * LOOK_PAUSES).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
        self.looked_at = Instant::now();
        match looked {
            Ok(lanes) => {
                for (webhook, due_at) in lanes {
                    match due_at.filter(|due_at| !self.is_due(*due_at)) {
                        Some(due_at) => self.look_when_due(due_at),
                        None => self.queue.add_webhook(webhook, self.now()),
                    }
                }
            }
            Err(StoreError::Stopping) => {}
            Err(error) => tracing::error!(%error, "the outbox can't be read"),
        }
        self.look_by(self.look_at);
    }

    /// An event due further ahead than the schedule sets any was set to by a clock that was put back since: it is due now.
    fn is_due(&self, due_at: Timestamp) -> bool {
        let now = self.delivery.clock.now();
        due_at <= now || due_at.since(now) > self.delivery.schedule.longest()
    }

    fn look_when_due(&mut self, due_at: Timestamp) {
        self.look_by(Instant::now() + due_at.since(self.delivery.clock.now()));
    }

    fn look_by(&mut self, at: Instant) {
        self.look_at = self.look_at.min(at).max(self.looked_at + self.look_pause);
    }

    fn take(&mut self, read: Read) {
        if let Some(due_at) = read.next_due_at {
            self.look_when_due(due_at);
        }
        self.queue.add_page(read.webhook, read.page, self.now());
    }

    fn wakes_at(&self) -> Instant {
        let wait = self.queue.wakes_at().map(|at| at.saturating_sub(self.now()));
        let look_at = if self.looks.is_empty() { self.look_at } else { Instant::now() + LOOK_EVERY_MAX };
        wait.map_or(look_at, |wait| look_at.min(Instant::now() + wait))
    }

    /// Lets what is in flight end and records it.
    async fn drain(mut self) {
        let drained = async {
            loop {
                self.start_notes();
                tokio::select! {
                    Some(ended) = self.attempts.join_next() => self.end(returned(ended)),
                    Some(_) = self.notes.join_next() => {}
                    else => break,
                }
            }
        };
        if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
            tracing::info!(attempts = self.attempts.len(), "stopped amid attempts; they are made again");
        }
    }
}

async fn read(delivery: &Delivery, PageRequest { webhook, without, limit }: PageRequest) -> Read {
    let now = delivery.clock.now();
    let wanted = DueQuery { due_by: now, due_after: now.plus(delivery.schedule.longest()), without, limit };
    match delivery.read(webhook, wanted).await {
        Ok(Some((receiver, due))) => {
            let back_off = due.rests_until.map(|until| until.since(now)).filter(|wait| *wait <= RETRY_AFTER_MAX);
            let page = Page { receiver, events: due.events, has_more: due.has_more, back_off };
            Read { webhook, page: Some(page), next_due_at: due.next_due_at }
        }
        Ok(None) | Err(StoreError::Stopping) => Read { webhook, page: None, next_due_at: None },
        Err(error) => {
            // Its own trouble alone: the other webhooks have their turn.
            tracing::error!(%webhook, %error, "the events of a webhook can't be read");
            tokio::time::sleep(STORE_PAUSE).await;
            Read { webhook, page: None, next_due_at: None }
        }
    }
}

/// What an outcome says of the receiver. A status below 500 is about the webhook: the origin works.
fn answer(outcome: &Outcome) -> Answer {
    let verdict = outcome.verdict();
    Answer {
        is_delivered: verdict == Answered::Delivered,
        is_origin_failure: outcome.status.is_none_or(|status| status >= 500),
        back_off: match verdict {
            Answered::Retry { after } => after.map(|after| after.min(RETRY_AFTER_MAX)),
            Answered::Delivered | Answered::Gone => None,
        },
    }
}

fn key(claim: &Claim) -> EventKey {
    (claim.event.webhook, claim.event.sequence)
}

/// What a task returned. Its panic is its owner's as well: nobody knows what it was about any more.
fn returned<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}
