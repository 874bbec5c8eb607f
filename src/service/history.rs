//! The last hour of the service as numbers at even intervals, for the administrator's plots. They are in memory only.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::Service;

/// How often each series gets a number.
const EVERY: Duration = Duration::from_secs(10);
/// The most numbers of a series: those of an hour.
const NUMBERS_MAX: usize = 360;
/// The series. The first four count what happened within an interval, and the others are what there was at its end:
/// mails and octets in the store.
const SERIES: [&str; 6] = ["received", "refused", "delivered", "failed", "stored", "octets"];
/// How many of the series are counters.
const COUNTERS: usize = 4;

type Numbers = [u64; SERIES.len()];

/// The numbers of the last hour.
#[derive(Debug, Default)]
pub struct History(Mutex<Rings>);

#[derive(Debug, Default)]
struct Rings {
    /// The counters since the start, as they were last.
    before: [u64; COUNTERS],
    /// What happened in each interval, the latest last.
    intervals: VecDeque<Numbers>,
}

impl History {
    /// Adds an interval, which ends now. The first one began when the counters were zero, at the start.
    fn note(&self, counters: [u64; COUNTERS], gauges: [u64; SERIES.len() - COUNTERS]) {
        let mut rings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut rings.before, counters);
        let happened = counters.into_iter().zip(before).map(|(now, before)| now.saturating_sub(before));
        let mut numbers = happened.chain(gauges);
        if rings.intervals.len() == NUMBERS_MAX {
            rings.intervals.pop_front();
        }
        rings.intervals.push_back(std::array::from_fn(|_| numbers.next().unwrap_or(0)));
    }

    /// The interval in seconds, and the numbers of each series by its name, at most 360, the latest last.
    pub fn to_json(&self) -> Value {
        let rings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = |at: usize| rings.intervals.iter().map(|numbers| numbers[at]).collect::<Vec<_>>();
        let series = SERIES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), json!(numbers(at))));
        let interval = [("everySeconds".to_owned(), json!(EVERY.as_secs()))];
        Value::Object(interval.into_iter().chain(series).collect::<Map<_, _>>())
    }
}

/// Adds to the history of the service until `stop`. While the store cannot be read, its numbers are 0.
pub(crate) async fn run(service: Arc<Service>, stop: CancellationToken) {
    let mut ticks = interval_at(Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let stats = service.store.stats().await.unwrap_or_default();
        let (messages, refusals) = service.smtp.counters.received_and_refused();
        let (delivered, failed) = service.webhooks.counters.delivered_and_failed();
        let counters = [messages, refusals, delivered, failed];
        service.history.note(counters, [stats.emails, stats.live_octets]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_happened_within_the_last_hour() {
        let history = History::default();
        assert_eq!(history.to_json()["received"], json!([]));
        history.note([3, 0, 1, 0], [8, 80]);
        history.note([3, 2, 1, 5], [9, 90]);
        let expected = json!({
            "everySeconds": 10, "received": [3, 0], "refused": [0, 2], "delivered": [1, 0], "failed": [0, 5],
            "stored": [8, 9], "octets": [80, 90],
        });
        assert_eq!(history.to_json(), expected);
        for emails in 0..NUMBERS_MAX as u64 {
            history.note([3, 2, 1, 5], [emails, 0]);
        }
        let stored = history.to_json()["stored"].clone();
        assert_eq!(stored.as_array().map(Vec::len), Some(NUMBERS_MAX));
        assert_eq!((&stored[0], &stored[NUMBERS_MAX - 1]), (&json!(0), &json!(NUMBERS_MAX - 1)));
    }
}
