//! The worker that sends what waits in the outbox. What it holds in memory is a hint: whatever is lost with it is still in
//! the store, and comes again.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::delivery::{Attempt, Delivery};
use super::intake::{Looked, Read};
use super::octets::Room;
use super::steps::Steps;
use super::turns::{Attempted, Note, Turn, Turns};
use super::{End, PacingLimits};
use crate::expiry::StepGuard;

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
    let shared = Arc::new(Shared::new(delivery, pacing, guard));
    let mut work = Work::default();
    loop {
        work.start(&shared);
        let (pause, waited) = shared.turns().pause(PAUSE_MAX);
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = hint.notified() => shared.turns().intake.look_soon(),
            () = shared.wanted.notified() => {}
            Some(ended) = work.attempts.join_next() => returned(ended),
            Some(noted) = work.notes.join_next() => returned(noted),
            Some(looked) = work.looks.join_next() => shared.turns().intake.looked(returned(looked)),
            Some(read) = work.reads.join_next() => shared.turns().queue(returned(read)),
            () = shared.room.freed(waited) => shared.turns().wake_parked(),
            () = tokio::time::sleep(pause) => {}
        }
    }
    work.drain(&shared).await;
}

/// What those that make attempts share with each other and with the worker that sees to all else.
struct Shared {
    delivery: Arc<Delivery>,
    steps: Steps,
    room: Arc<Room>,
    turns: Mutex<Turns>,
    /// There is something to do for the worker.
    wanted: Notify,
}

impl Shared {
    fn new(delivery: Arc<Delivery>, pacing: PacingLimits, guard: StepGuard) -> Self {
        let room = Arc::<Room>::default();
        let turns = Mutex::new(Turns::new(&delivery, pacing, Arc::clone(&room)));
        Self { delivery, steps: Steps::new(guard), room, turns, wanted: Notify::new() }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one attempt after another, each as its turn comes, until there is none to be made.
    async fn take_turns(self: Arc<Self>, mut turn: Turn) {
        loop {
            let attempted = self.attempt(turn).await;
            match self.go_on_after(attempted) {
                Some(next) => turn = next,
                None => return,
            }
            // Those that end at the same time go on together, so that their requests reach a receiver together as well.
            tokio::task::yield_now().await;
        }
    }

    async fn attempt(&self, turn: Turn) -> Attempted {
        let Turn { place, event, queued, share } = turn;
        // A panic is this event's alone, and its turn is given back. In the same task, so that a stop ends it.
        let attempt = AssertUnwindSafe(self.delivery.attempt(queued, &self.steps, share)).catch_unwind().await;
        if attempt.is_err() {
            tracing::error!(webhook = %event.0, "an attempt ended early");
            tokio::time::sleep(PANIC_PAUSE).await;
        }
        // The receiver may have been called.
        let attempt = attempt.unwrap_or_else(|_| Attempt { end: Some(End::Unanswered), ..Attempt::default() });
        Attempted { place, event, attempt }
    }

    fn go_on_after(&self, attempted: Attempted) -> Option<Turn> {
        self.change(|turns| {
            turns.end(attempted);
            turns.next()
        })
    }

    async fn note(&self, note: Note) {
        self.delivery.note_all(note.records).await;
        self.change(|turns| turns.noted(note.events));
    }

    /// Changes the turns while the worker may sleep.
    fn change<T>(&self, change: impl FnOnce(&mut Turns) -> T) -> T {
        let mut turns = self.turns();
        let changed = change(&mut turns);
        let wants_worker = turns.wants_worker();
        drop(turns);
        if wants_worker {
            self.wanted.notify_one();
        }
        changed
    }
}

/// What is under way.
#[derive(Default)]
struct Work {
    attempts: JoinSet<()>,
    notes: JoinSet<()>,
    looks: JoinSet<Looked>,
    reads: JoinSet<Read>,
}

impl Work {
    /// Starts what there is to do.
    fn start(&mut self, shared: &Arc<Shared>) {
        let mut turns = shared.turns();
        // Asked in any case, so that a step of the clock is noticed when it comes.
        if shared.steps.may_end(&*shared.delivery.clock) {
            turns.wake_resting();
        }
        if turns.begin_look() {
            let outbox = Arc::clone(&shared.delivery.outbox);
            self.looks.spawn(async move { outbox.lanes().await });
        }
        while let Some(turn) = turns.next() {
            self.attempts.spawn(Arc::clone(shared).take_turns(turn));
        }
        self.start_note(shared, &mut turns);
        while let Some(reading) = turns.next_reading() {
            let delivery = Arc::clone(&shared.delivery);
            self.reads.spawn(async move { reading.read(&delivery).await });
        }
    }

    fn start_note(&mut self, shared: &Arc<Shared>, turns: &mut Turns) {
        if let Some(note) = turns.next_note() {
            let shared = Arc::clone(shared);
            self.notes.spawn(async move { shared.note(note).await });
        }
    }

    /// Lets what is in flight end and notes it.
    async fn drain(mut self, shared: &Arc<Shared>) {
        shared.turns().close();
        let ended = async {
            loop {
                self.start_note(shared, &mut shared.turns());
                tokio::select! {
                    Some(ended) = self.attempts.join_next() => returned(ended),
                    Some(noted) = self.notes.join_next() => returned(noted),
                    else => break,
                }
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
