//! The worker that sends what waits in the outbox. What it holds in memory is a hint: whatever is lost with it is still in
//! the store, and comes again.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::delivery::Delivery;
use super::{End, Endpoint, Lanes, PacingLimits, Target};
use crate::expiry::StepGuard;
use crate::model::{PendingEvent, Timestamp, WebhookId};
use crate::store::StoreError;

/// Events of one webhook that are held in memory at most; the others stay in the store until it is their turn. So webhooks
/// that share an endpoint take turns there, however many events one of them has.
const HELD_PER_WEBHOOK: usize = 8;
/// The longest time between two looks at the whole outbox; a clock that was put right is noticed within it.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(5);
/// The shortest: mail that comes in by the thousand makes no more looks than this.
const LOOK_EVERY_MIN: Duration = Duration::from_millis(20);
/// How long attempts in flight may take once the service stops. Those that are cut off are made again.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);
/// How long an event rests whose attempt panicked.
const PANIC_PAUSE: Duration = Duration::from_secs(5);
/// How often webhooks without mail are looked for.
const SWEEP_EVERY: Duration = Duration::from_hours(1);

/// Sends events until `shutdown` is cancelled; begins with what the last process left.
pub async fn run(delivery: Arc<Delivery>, pacing: PacingLimits, idle_max: Duration, shutdown: CancellationToken) {
    let hint = delivery.outbox.outbox_hint();
    let mut dispatcher = Dispatcher::new(delivery, pacing);
    let mut idle_check = tokio::time::interval(SWEEP_EVERY);
    let mut steps = StepGuard::new(dispatcher.delivery.clock.now(), dispatcher.delivery.clock.boot());
    loop {
        dispatcher.look_if_due().await;
        dispatcher.start_attempts();
        let pause = dispatcher.pause();
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = hint.notified() => dispatcher.look_soon(),
            Some(ended) = dispatcher.attempts.join_next() => dispatcher.go_on_after(ended).await,
            () = tokio::time::sleep(pause) => {}
            _ = idle_check.tick() => {
                let clock = &dispatcher.delivery.clock;
                // After a step of the clock a webhook only seems idle.
                if steps.may_remove(clock.now(), clock.boot()) {
                    dispatcher.delete_idle(idle_max).await;
                }
            }
        }
    }
    dispatcher.drain().await;
}

/// What an attempt was for.
struct Attempted {
    endpoint: Endpoint,
    webhook: WebhookId,
    sequence: u64,
    /// `None` if nobody was called.
    end: Option<End>,
}

/// What is known in memory of the outbox.
struct Dispatcher {
    delivery: Arc<Delivery>,
    lanes: Lanes<PendingEvent>,
    /// Events that are queued or in flight, so that none is taken twice.
    held: HashMap<WebhookId, HashSet<u64>>,
    /// Webhooks that have more events due than are held.
    have_more: HashSet<WebhookId>,
    attempts: JoinSet<Attempted>,
    /// The end of the last look and the start of the next, on the clock that never jumps.
    looked_at: Duration,
    look_at: Duration,
    /// How long the last look took.
    look_took: Duration,
}

impl Dispatcher {
    fn new(delivery: Arc<Delivery>, pacing: PacingLimits) -> Self {
        let now = delivery.clock.boot();
        Self {
            delivery,
            lanes: Lanes::new(pacing),
            held: HashMap::new(),
            have_more: HashSet::new(),
            attempts: JoinSet::new(),
            looked_at: now,
            look_at: now,
            look_took: Duration::ZERO,
        }
    }

    fn look_soon(&mut self) {
        self.look_at = self.look_at.min(self.looked_at + self.look_pause());
    }

    /// The shortest pause between two looks: four times as long as a look takes, so that with thousands of webhooks waiting
    /// no more than a fifth of the time goes into it.
    fn look_pause(&self) -> Duration {
        (self.look_took * 4).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX)
    }

    async fn look_if_due(&mut self) {
        let now = self.delivery.clock.boot();
        if now < self.look_at {
            return;
        }
        let pause = match self.take_due().await {
            Ok(next_due_at) => next_due_at.map_or(LOOK_EVERY_MAX, |due| due.since(self.delivery.clock.now())),
            Err(StoreError::Stopping) => LOOK_EVERY_MAX,
            Err(error) => {
                tracing::error!(%error, "the outbox can't be read");
                LOOK_EVERY_MAX
            }
        };
        self.looked_at = self.delivery.clock.boot();
        self.look_took = self.looked_at.saturating_sub(now);
        self.look_at = self.looked_at + pause.clamp(self.look_pause(), LOOK_EVERY_MAX);
    }

    /// Queues what is due and not held yet; when the next event is due that is not.
    async fn take_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let mut next_due_at: Option<Timestamp> = None;
        for (webhook, due_at) in self.delivery.outbox.lanes().await? {
            let later = if !self.is_due(due_at) {
                Some(due_at)
            } else if self.held.get(&webhook).is_some_and(|held| held.len() >= HELD_PER_WEBHOOK) {
                self.have_more.insert(webhook);
                None
            } else {
                match self.take_due_of(webhook).await {
                    Ok(later) => later,
                    Err(StoreError::Stopping) => return Err(StoreError::Stopping),
                    Err(error) => {
                        // Its own trouble alone: the webhooks after it have their turn.
                        tracing::error!(%webhook, %error, "the events of a webhook can't be read");
                        None
                    }
                }
            };
            if let Some(later) = later {
                next_due_at = Some(next_due_at.map_or(later, |earlier| earlier.min(later)));
            }
        }
        Ok(next_due_at)
    }

    /// Queues the events of a webhook that are due; when its next one is.
    async fn take_due_of(&mut self, webhook: WebhookId) -> Result<Option<Timestamp>, StoreError> {
        self.have_more.remove(&webhook);
        let Some(record) = self.delivery.outbox.webhook(webhook).await? else { return Ok(None) };
        let Ok(target) = Target::parse(&record.url) else {
            tracing::error!(%webhook, "a webhook with a URL that does not read is passed over");
            return Ok(None);
        };
        let endpoint = target.endpoint();
        let events = self.delivery.outbox.pending_events(webhook, HELD_PER_WEBHOOK).await?;
        let later = events.iter().find(|event| !self.is_due(event.due_at)).map(|event| event.due_at);
        if later.is_none() && events.len() == HELD_PER_WEBHOOK {
            self.have_more.insert(webhook);
        }
        let was_prompt = record.last_delivery_at.is_some() && record.failures == 0;
        let events: Vec<_> = events.into_iter().filter(|event| self.is_due(event.due_at)).collect();
        let held = self.held.entry(webhook).or_default();
        for event in events {
            if held.insert(event.sequence) {
                self.lanes.add(endpoint.clone(), was_prompt, event);
            }
        }
        if held.is_empty() {
            self.held.remove(&webhook);
        }
        Ok(later)
    }

    /// A time further ahead than the schedule sets any was set before the clock was put back: nobody waits for it.
    fn is_due(&self, due_at: Timestamp) -> bool {
        let now = self.delivery.clock.now();
        due_at <= now || due_at.since(now) > self.delivery.schedule.longest()
    }

    fn start_attempts(&mut self) {
        while let Some((endpoint, event)) = self.lanes.next(self.delivery.clock.boot()) {
            let delivery = Arc::clone(&self.delivery);
            self.attempts.spawn(async move {
                // A panic is this event's alone, and its turn is given back. In the same task, so that a stop ends it.
                let end = if let Ok(end) = AssertUnwindSafe(delivery.attempt(&event)).catch_unwind().await {
                    end
                } else {
                    tracing::error!(webhook = %event.webhook, "an attempt ended early");
                    tokio::time::sleep(PANIC_PAUSE).await;
                    None
                };
                Attempted { endpoint, webhook: event.webhook, sequence: event.sequence, end }
            });
        }
    }

    /// Gives back the turns of attempts that have ended, and queues more for those whose queue runs low.
    async fn go_on_after(&mut self, first: Result<Attempted, JoinError>) {
        let mut ended = Some(first);
        while let Some(attempted) = ended {
            match attempted {
                Ok(attempted) => self.let_go(&attempted).await,
                Err(error) => tracing::error!(%error, "an attempt was lost"),
            }
            ended = self.attempts.try_join_next();
        }
    }

    async fn let_go(&mut self, attempted: &Attempted) {
        let Attempted { endpoint, webhook, sequence, end } = attempted;
        self.lanes.done(endpoint, *end, self.delivery.clock.boot());
        let mut left = 0;
        if let Some(held) = self.held.get_mut(webhook) {
            held.remove(sequence);
            left = held.len();
            if held.is_empty() {
                self.held.remove(webhook);
            }
        }
        let is_refilled = left <= HELD_PER_WEBHOOK / 2
            && self.have_more.contains(webhook)
            && self.take_due_of(*webhook).await.is_ok();
        if !is_refilled {
            // Its next attempt may be due before anything else.
            self.look_soon();
        }
    }

    fn pause(&self) -> Duration {
        let wakes_at = self.lanes.wakes_at().map_or(self.look_at, |wakes| wakes.min(self.look_at));
        wakes_at.saturating_sub(self.delivery.clock.boot())
    }

    /// Deletes webhooks for which no mail has come for so long.
    async fn delete_idle(&self, idle_max: Duration) {
        let idle_millis = i64::try_from(idle_max.as_millis()).unwrap_or(i64::MAX);
        let since = Timestamp::from_millis(self.delivery.clock.now().millis().saturating_sub(idle_millis));
        loop {
            match self.delivery.outbox.delete_idle_webhooks(since).await {
                Ok(0) => return,
                Ok(webhooks) => tracing::info!(webhooks, "deleted webhooks without mail"),
                Err(error) => return tracing::warn!(%error, "webhooks without mail could not be deleted"),
            }
        }
    }

    async fn drain(&mut self) {
        let ended = async { while self.attempts.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_TIMEOUT, ended).await.is_err() {
            tracing::info!(attempts = self.attempts.len(), "stopped amid attempts; they are made again");
            self.attempts.shutdown().await;
        }
    }
}
