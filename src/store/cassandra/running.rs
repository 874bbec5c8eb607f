//! What a node does all the time: it says that it lives, keeps its leases, passes hints on, and finishes intents.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{join, join4};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::hints::{COLLECTED_FOR, READ_EVERY, Reading};
use super::leases::Work;
use super::nodes::BEAT_EVERY;
use super::state::ClusterState;
use crate::clock::Clock;
use crate::model::Timestamp;
use crate::store::{ClusterStatus, StoreError};

/// A node that cannot say that it lives for so long takes no mail.
const ANSWERS_WITHIN: Duration = Duration::from_secs(4);
/// Signs of life from one look at the outbox to the next, if no hint comes.
const RING_EVERY_BEATS: u64 = 5;
/// How often intents are looked through. After a sweep that took long, the pause is so many times longer than it took.
const SWEEP_EVERY: Duration = Duration::from_secs(2);
const SWEEP_PAUSE_FACTOR: u32 = 4;
const SWEEP_PAUSE_MAX: Duration = Duration::from_secs(20);
/// How far back the first look of a node goes, and how far before the last complete one each later one: a message may have
/// waited for its admission, or its node may have been suspended between two writes.
const FIRST_SWEEP: Duration = Duration::from_hours(1);
const LATER_SWEEPS: Duration = Duration::from_mins(2);

/// How long a node that stops tries to give back what it holds, which would end by itself after five seconds.
const LEAVES_WITHIN: Duration = Duration::from_secs(3);

impl ClusterState {
    /// Runs until `shutdown`. Then it gives its leases back.
    pub(super) async fn run(self: &Arc<Self>, clock: Arc<dyn Clock>, shutdown: &CancellationToken) {
        let started_at = clock.now();
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&clock));
        let live_and_leave = async {
            let all = Box::pin(join4(
                self.keep_alive(started_at),
                self.keep_leases(),
                self.follow_hints(),
                self.finish_intents(&*clock),
            ));
            tokio::select! {
                _ = all => {}
                () = shutdown.cancelled() => {}
            }
            // The other nodes take all of its shards only when they know that it has gone.
            if timeout(LEAVES_WITHIN, join(self.give_back_leases(), self.say_goodbye())).await.is_err() {
                tracing::info!("the cluster does not answer; what this node holds ends by itself");
            }
        };
        // A row of hints that is under way is not given up.
        join(live_and_leave, self.write_all_hints(shutdown)).await;
    }

    async fn keep_alive(&self, started_at: Timestamp) {
        let mut beats = 0_u64;
        let mut beat = interval(BEAT_EVERY);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            let asked_at = Instant::now();
            match self.beat(started_at.millis()).await {
                Ok(()) => {
                    self.set_answered(asked_at);
                    self.leases.has_looked.notify_one();
                }
                Err(error) => tracing::warn!(%error, "the cluster does not answer"),
            }
            // The net below the hints of other nodes: what they received may have events for this one.
            if beats.is_multiple_of(RING_EVERY_BEATS) {
                self.ring_outbox();
            }
            beats += 1;
        }
    }

    /// Writes hints until `shutdown`. Those that come later are written when the store closes.
    async fn write_all_hints(&self, shutdown: &CancellationToken) {
        while shutdown.run_until_cancelled(self.outgoing.to_write.notified()).await.is_some() {
            if let Err(error) = self.write_hints().await {
                tracing::warn!(%error, "hints for other nodes could not be written");
                self.outgoing.miss();
            }
            sleep(COLLECTED_FOR).await;
        }
    }

    async fn follow_hints(&self) {
        let mut reading = Reading::default();
        let mut read = interval(READ_EVERY);
        read.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            read.tick().await;
            self.read_hints(&mut reading).await;
        }
    }

    async fn finish_intents(&self, clock: &dyn Clock) {
        let mut completed_at = None;
        let mut pause = SWEEP_EVERY;
        loop {
            sleep(pause).await;
            if !self.holds(Work::Intents) {
                completed_at = None;
                self.open_intents.store(0, Ordering::Relaxed);
                continue;
            }
            let now = clock.now();
            let first = now.before(FIRST_SWEEP);
            let since = completed_at.map_or(first, |at: Timestamp| first.max(at.before(LATER_SWEEPS)));
            let begun = Instant::now();
            let swept = self.sweep(since, now).await;
            pause = (begun.elapsed() * SWEEP_PAUSE_FACTOR).clamp(SWEEP_EVERY, SWEEP_PAUSE_MAX);
            if swept.failed == 0 {
                completed_at = Some(now);
            } else {
                tracing::warn!(
                    failed = swept.failed,
                    "some intents could not be read or finished; the next sweep tries again"
                );
            }
            self.open_intents.store(swept.open + swept.failed, Ordering::Relaxed);
            if swept.finished > 0 {
                tracing::info!(messages = swept.finished, "finished messages of a node that died");
            }
        }
    }

    fn set_answered(&self, asked_at: Instant) {
        let micros = u64::try_from(asked_at.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.answer_micros.store(micros, Ordering::Relaxed);
        *self.answered_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether the cluster has answered lately. A store that no daemon runs is not asked.
    pub(super) fn check_answers(&self) -> Result<(), StoreError> {
        let answered_at = *self.answered_at.lock().unwrap_or_else(PoisonError::into_inner);
        match answered_at {
            Some(at) if at.elapsed() > ANSWERS_WITHIN => Err(StoreError::Failed("the cluster does not answer".into())),
            _ => Ok(()),
        }
    }

    /// What this node knows of the cluster.
    pub(super) fn status(&self) -> ClusterStatus {
        ClusterStatus {
            keyspace: self.cluster.keyspace().to_owned(),
            node: self.node.to_string(),
            living_nodes: u32::try_from(self.living_nodes()).unwrap_or(u32::MAX),
            leases: self.clock().map(|clock| self.leases.names(clock.boot())).unwrap_or_default(),
            open_intents: self.open_intents.load(Ordering::Relaxed),
            answer_micros: self.answer_micros.load(Ordering::Relaxed),
        }
    }

    pub(super) fn clock(&self) -> Option<Arc<dyn Clock>> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
