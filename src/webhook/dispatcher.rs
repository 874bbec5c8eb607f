//! The worker that sends what waits in the outbox. What it holds in memory is a hint: whatever is lost with it is still in
//! the store, and comes again.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::ahead::{Batch, Queued};
use super::delivery::{Attempt, Delivery};
use super::intake::{EventKey, Intake};
use super::octets::Octets;
use super::steps::Steps;
use super::{Lanes, PacingLimits, Place};
use crate::expiry::StepGuard;
use crate::model::{AttemptRecord, WebhookId};

/// Attempts that are over and not noted yet, at most, before others start.
const UNNOTED_MAX: usize = 1024;
/// The shortest time from one note to the next, in which what is to be noted gathers: each costs a write to the disk, which
/// mail that comes in pays as well.
const NOTE_PAUSE: Duration = Duration::from_millis(1);
/// How often others are let go first once an attempt has ended: those that end meanwhile are gone on after together, which
/// costs a busy dispatcher less, and one that has nothing to do no time.
const LETS_OTHERS_END: usize = 3;
/// Octets of the bodies that are rendered before their turn.
const RENDERED_OCTETS_MAX: usize = 16 << 20;
/// The longest time in which nothing is done if nothing happens.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// How long attempts in flight may take once the service stops. Those that are cut off are made again.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);
/// How long an event rests whose attempt panicked.
const PANIC_PAUSE: Duration = Duration::from_secs(5);

/// Sends events until `shutdown` is cancelled; begins with what the last process left. While `guard` says that the time of
/// day can't be relied on, none ends by it.
pub async fn run(delivery: Arc<Delivery>, pacing: PacingLimits, guard: StepGuard, shutdown: CancellationToken) {
    let hint = delivery.outbox.outbox_hint();
    let mut dispatcher = Dispatcher::new(delivery, pacing, guard);
    loop {
        dispatcher.wake_if_clock_is_right();
        dispatcher.intake.look_if_due().await;
        dispatcher.start_attempts();
        dispatcher.start_noting();
        dispatcher.intake.start_reads(RENDERED_OCTETS_MAX.saturating_sub(dispatcher.rendered_octets));
        let pause = dispatcher.pause();
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = hint.notified() => dispatcher.intake.look_soon(),
            Some(ended) = dispatcher.attempts.join_next() => {
                for _ in 0..LETS_OTHERS_END {
                    tokio::task::yield_now().await;
                }
                dispatcher.go_on_after(ended);
            }
            Some(noted) = dispatcher.notes.join_next() => dispatcher.let_go(returned(noted)),
            Some(read) = dispatcher.intake.next() => {
                if let Some(batch) = dispatcher.intake.take(returned(read)) {
                    dispatcher.queue(batch);
                }
            }
            () = dispatcher.room.freed(), if !dispatcher.parked.is_empty() => dispatcher.wake_parked(),
            () = tokio::time::sleep(pause) => {}
        }
    }
    dispatcher.drain().await;
}

/// An attempt that is over.
struct Attempted {
    place: Place,
    event: EventKey,
    attempt: Attempt,
}

/// The memory for bodies of attempts in flight.
#[derive(Default)]
struct Room {
    at_prompt: Arc<Octets>,
    at_doubtful: Arc<Octets>,
}

impl Room {
    fn of(&self, place: &Place) -> &Arc<Octets> {
        if place.is_prompt() { &self.at_prompt } else { &self.at_doubtful }
    }

    async fn freed(&self) {
        tokio::select! {
            () = self.at_prompt.freed() => {}
            () = self.at_doubtful.freed() => {}
        }
    }
}

/// What is queued, in flight and to be noted.
struct Dispatcher {
    delivery: Arc<Delivery>,
    intake: Intake,
    lanes: Lanes<Queued>,
    /// Octets of the bodies in `lanes`.
    rendered_octets: usize,
    /// Those of the attempts in flight.
    room: Room,
    /// Events that wait for room in it.
    parked: Vec<EventKey>,
    /// Events of webhooks of which too much is not noted.
    behind: Vec<EventKey>,
    attempts: JoinSet<Attempted>,
    /// What is noted next, all at once, and the events that it is about.
    records: Vec<AttemptRecord>,
    unnoted: Vec<EventKey>,
    notes: JoinSet<Vec<EventKey>>,
    /// How many events `notes` are about.
    noting: usize,
    /// Webhooks that are disabled by what is not noted yet: nothing more is sent to them.
    ending: HashSet<WebhookId>,
    steps: Arc<Steps>,
    /// Events that are past their end by a clock that can't be relied on.
    resting: Vec<EventKey>,
}

impl Dispatcher {
    fn new(delivery: Arc<Delivery>, pacing: PacingLimits, guard: StepGuard) -> Self {
        Self {
            intake: Intake::new(Arc::clone(&delivery)),
            delivery,
            lanes: Lanes::new(pacing),
            rendered_octets: 0,
            room: Room::default(),
            parked: Vec::new(),
            behind: Vec::new(),
            attempts: JoinSet::new(),
            records: Vec::new(),
            unnoted: Vec::new(),
            notes: JoinSet::new(),
            noting: 0,
            ending: HashSet::new(),
            steps: Arc::new(Steps::new(guard)),
            resting: Vec::new(),
        }
    }

    /// Looks at the clock in any case, so that a step is noticed when it comes.
    fn wake_if_clock_is_right(&mut self) {
        if self.steps.may_end(&*self.delivery.clock) {
            self.resting.drain(..).for_each(|event| self.intake.let_go(event));
        }
    }

    /// What waits for room is read again: the store may have ended it meanwhile.
    fn wake_parked(&mut self) {
        self.parked.drain(..).for_each(|event| self.intake.let_go(event));
    }

    /// Queues what was read.
    fn queue(&mut self, batch: Batch) {
        for mut queued in batch.events {
            // A body may be longer than the message that it was rendered from.
            if self.rendered_octets + queued.octets() > RENDERED_OCTETS_MAX {
                queued.rendered = None;
            }
            self.rendered_octets += queued.octets();
            self.lanes.add(batch.endpoint.clone(), batch.known, queued, self.delivery.clock.boot());
        }
    }

    fn start_attempts(&mut self) {
        while self.unnoted.len() + self.noting < UNNOTED_MAX
            && let Some((place, queued)) = self.lanes.next(self.delivery.clock.boot())
        {
            let event = (queued.event.webhook, queued.event.sequence);
            self.rendered_octets -= queued.octets();
            self.intake.start(event);
            if self.ending.contains(&event.0) {
                self.lanes.done(place, None, self.delivery.clock.boot());
                self.end(event);
                continue;
            }
            if self.intake.is_behind(event.0) {
                self.lanes.done(place, None, self.delivery.clock.boot());
                self.behind.push(event);
                continue;
            }
            if self.intake.is_resting(event.0) {
                self.lanes.done(place, None, self.delivery.clock.boot());
                self.intake.let_go(event);
                continue;
            }
            let Some(share) = self.room.of(&place).take(queued.octets_in_flight()) else {
                self.lanes.done(place, None, self.delivery.clock.boot());
                self.parked.push(event);
                continue;
            };
            let (delivery, steps) = (Arc::clone(&self.delivery), Arc::clone(&self.steps));
            self.attempts.spawn(async move {
                // A panic is this event's alone, and its turn is given back. In the same task, so that a stop ends it.
                let attempt = AssertUnwindSafe(delivery.attempt(queued, &steps, share)).catch_unwind().await;
                if attempt.is_err() {
                    tracing::error!(webhook = %event.0, "an attempt ended early");
                    tokio::time::sleep(PANIC_PAUSE).await;
                }
                Attempted { place, event, attempt: attempt.unwrap_or_default() }
            });
        }
    }

    /// Gives back the turns of attempts that have ended: what became of them is noted beside those that follow.
    fn go_on_after(&mut self, first: Result<Attempted, JoinError>) {
        let mut ended = Some(first);
        while let Some(attempted) = ended {
            let Attempted { place, event, attempt } = returned(attempted);
            self.lanes.done(place, attempt.end, self.delivery.clock.boot());
            if let Some(asked) = attempt.asked {
                self.intake.rest(event.0, asked);
            }
            match attempt.record {
                Some(record) => {
                    if record.disables.is_some() {
                        self.ending.insert(event.0);
                    }
                    self.records.push(record);
                    self.end(event);
                }
                None if attempt.rests => self.resting.push(event),
                None => self.intake.let_go(event),
            }
            ended = self.attempts.try_join_next();
        }
    }

    /// Holds an event that is over until that is noted.
    fn end(&mut self, event: EventKey) {
        self.intake.over(event);
        self.unnoted.push(event);
    }

    /// Notes what there is to be noted. What comes up while that is under way is noted after it, all at once: each time
    /// costs a write to the disk.
    fn start_noting(&mut self) {
        if self.unnoted.is_empty() || !self.notes.is_empty() {
            return;
        }
        let (events, records) = (std::mem::take(&mut self.unnoted), std::mem::take(&mut self.records));
        self.noting = events.len();
        let delivery = Arc::clone(&self.delivery);
        self.notes.spawn(async move {
            delivery.note_all(records).await;
            tokio::time::sleep(NOTE_PAUSE).await;
            events
        });
    }

    fn let_go(&mut self, noted: Vec<EventKey>) {
        self.noting = 0;
        for event in noted {
            // What disables it may only be noted next.
            if !self.records.iter().any(|record| record.webhook == event.0 && record.disables.is_some()) {
                self.ending.remove(&event.0);
            }
            self.intake.noted(event);
        }
        self.behind.drain(..).for_each(|event| self.intake.let_go(event));
    }

    fn pause(&self) -> Duration {
        // Nobody asks the lanes while too much is not noted.
        let is_open = self.unnoted.len() + self.noting < UNNOTED_MAX;
        let wakes_at = self.lanes.wakes_at().filter(|_| is_open).into_iter().chain(self.intake.wakes_at()).min();
        let now = self.delivery.clock.boot();
        wakes_at.map_or(PAUSE_MAX, |wakes_at| wakes_at.saturating_sub(now)).min(PAUSE_MAX)
    }

    async fn drain(&mut self) {
        let ended = async {
            while let Some(ended) = self.attempts.join_next().await {
                self.go_on_after(ended);
                self.start_noting();
            }
            while !(self.notes.is_empty() && self.unnoted.is_empty()) {
                self.start_noting();
                self.notes.join_next().await;
            }
        };
        if tokio::time::timeout(DRAIN_TIMEOUT, ended).await.is_err() {
            tracing::info!(attempts = self.attempts.len(), "stopped amid attempts; they are made again");
            self.attempts.shutdown().await;
            self.notes.shutdown().await;
        }
    }
}

/// What a task returned. Its panic is its owner's as well: nobody knows what it was about any more.
fn returned<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}
