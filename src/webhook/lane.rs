//! The lane of one webhook: attempts at its due events, the oldest first, until none is due.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::attempt::{DEFERRED_PAUSE, Ended, EventSender};
use super::places::{Places, is_good};
use crate::model::{Timestamp, WebhookId};
use crate::store::{DueQuery, StoreError};

/// The most attempts under way of a webhook whose last one was delivered; any other webhook has one. A crash repeats as many.
const WIDTH_MAX: usize = 4;
/// The pause after two failures in a row. It doubles with each further one. A single failure costs no pause, since each
/// event has its own retry schedule.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
/// The longest pause. Then the store is asked again.
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// The attempts under way, each with the sequence of its event. They are tasks, since one may hold what the lane waits for
/// when it asks the store for due events.
type Attempts = JoinSet<(u64, Ended)>;

/// The lane of one webhook. What it holds in memory is a hint: the store has everything.
pub(super) struct Lane {
    sender: Arc<EventSender>,
    places: Arc<Places>,
    webhook: WebhookId,
    /// Rings when there may be new events.
    wake: Arc<Notify>,
    /// Once it is cancelled, no attempt begins.
    stop: CancellationToken,
    /// The sequences of the events under way.
    taken: HashSet<u64>,
    width: usize,
    /// Failures in a row.
    failures: u32,
    /// How often in a row the host was at its limit.
    deferrals: u32,
    /// Until then no attempt begins.
    pauses_until: Instant,
}

impl Lane {
    pub(super) fn new(
        sender: Arc<EventSender>,
        places: Arc<Places>,
        webhook: WebhookId,
        wake: Arc<Notify>,
        stop: CancellationToken,
    ) -> Self {
        let pauses_until = Instant::now();
        let taken = HashSet::new();
        Self { sender, places, webhook, wake, stop, taken, width: WIDTH_MAX, failures: 0, deferrals: 0, pauses_until }
    }

    /// Runs until no event is due and no attempt is under way. Returns when the next event is due.
    pub(super) async fn run(mut self) -> Option<Timestamp> {
        let mut attempts = Attempts::new();
        while !self.stop.is_cancelled() {
            let mut next_due_at = None;
            if !self.is_pausing() && self.taken.len() < self.width {
                next_due_at = self.begin(&mut attempts).await;
            }
            let is_pausing = self.is_pausing();
            if attempts.is_empty() && !is_pausing {
                return next_due_at;
            }
            tokio::select! {
                Some(ended) = attempts.join_next() => {
                    self.end(joined(ended));
                    // Those that were recorded together end together.
                    while let Some(ended) = attempts.try_join_next() {
                        self.end(joined(ended));
                    }
                }
                () = sleep_until(self.pauses_until), if is_pausing => {}
                () = self.wake.notified(), if !is_pausing => {}
                () = self.stop.cancelled() => {}
            }
        }
        while attempts.join_next().await.is_some() {}
        None
    }

    fn is_pausing(&self) -> bool {
        Instant::now() < self.pauses_until
    }

    fn pause(&mut self, time: Duration) {
        self.pauses_until = self.pauses_until.max(Instant::now() + time.min(PAUSE_MAX));
    }

    /// Begins attempts at due events. Returns when the next event is due.
    async fn begin(&mut self, attempts: &mut Attempts) -> Option<Timestamp> {
        let now = self.sender.clock.now();
        let due_after = now.plus(self.sender.schedule.longest());
        let query = DueQuery { due_by: now, due_after, without: self.taken.clone(), limit: WIDTH_MAX };
        let due = match self.sender.outbox.due_events(self.webhook, query).await {
            Ok(due) => due?,
            Err(StoreError::Stopping) => return None,
            Err(error) => {
                tracing::error!(webhook = %self.webhook, %error, "the events of a webhook could not be read; trying again");
                self.pause(DEFERRED_PAUSE);
                return None;
            }
        };
        match due.backs_off_until {
            Some(until) if !due.events.is_empty() => {
                self.pause(until.since(now));
                return None;
            }
            _ => {}
        }
        self.failures = due.webhook.failures;
        self.width = if is_good(&due.webhook) { WIDTH_MAX } else { 1 };
        let webhook = Arc::new(due.webhook);
        for event in due.events.into_iter().take(self.width.saturating_sub(self.taken.len())) {
            let sequence = event.email.sequence;
            self.taken.insert(sequence);
            let (sender, places, webhook) = (Arc::clone(&self.sender), Arc::clone(&self.places), Arc::clone(&webhook));
            attempts.spawn(async move { (sequence, sender.attempt(&event, &webhook, &places).await) });
        }
        due.next_due_at
    }

    /// An attempt has ended, and what became of it is in the store.
    fn end(&mut self, (sequence, ended): (u64, Ended)) {
        self.taken.remove(&sequence);
        match ended {
            Ended::Delivered => (self.failures, self.deferrals) = (0, 0),
            Ended::Failed => {
                self.failures = self.failures.saturating_add(1);
                self.deferrals = 0;
                self.pause(doubled(PAUSE_FIRST, self.failures.checked_sub(2)));
            }
            Ended::Unsent => {}
            Ended::Deferred(wait) => {
                // Each further try costs a query to DNS. They must not come together, nor come often.
                if !self.is_pausing() {
                    let pause = doubled(wait, Some(self.deferrals)).mul_f64(1.0 + rand::random::<f64>());
                    self.pause(pause.min(PAUSE_MAX.mul_f64(0.75 + 0.25 * rand::random::<f64>())));
                    self.deferrals = self.deferrals.saturating_add(1);
                }
            }
        }
    }
}

/// A pause that was doubled so often.
fn doubled(first: Duration, doublings: Option<u32>) -> Duration {
    doublings.map_or(Duration::ZERO, |doublings| first.saturating_mul(1 << doublings.min(20)).min(PAUSE_MAX))
}

/// The result of a task, which catches its own panics and is never cancelled.
pub(super) fn joined<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_failures_in_a_row() {
        let millis = |failures: u32| doubled(PAUSE_FIRST, failures.checked_sub(2)).as_millis();
        assert_eq!([1, 2, 3, 4, 5, 6].map(millis), [0, 50, 100, 200, 400, 800]);
        assert_eq!([13, 14, u32::MAX].map(millis), [60_000; 3]);
    }
}
