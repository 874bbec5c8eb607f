//! A clock that tests set.

use std::sync::Mutex;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::Timestamp;

/// Stands still until it is moved.
#[derive(Debug)]
pub(crate) struct SetClock(Mutex<Times>);

#[derive(Clone, Copy, Debug)]
struct Times {
    now: Timestamp,
    boot: Duration,
    looks: u64,
}

impl SetClock {
    /// A clock that shows `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        Self(Mutex::new(Times { now: at, boot: at.since(Timestamp::from_millis(0)), looks: 0 }))
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, by: Duration) {
        let mut times = self.0.lock().expect("clock");
        times.now = times.now.plus(by);
        times.boot += by;
    }

    /// Sets the time of day alone, as an operator or a time server does.
    pub(crate) fn step_to(&self, now: Timestamp) {
        self.0.lock().expect("clock").now = now;
    }

    /// How often the clock that never jumps was looked at: so it is seen that a worker has had its turn.
    pub(crate) fn looks(&self) -> u64 {
        self.0.lock().expect("clock").looks
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        self.0.lock().expect("clock").now
    }

    fn boot(&self) -> Duration {
        let mut times = self.0.lock().expect("clock");
        times.looks += 1;
        times.boot
    }
}
