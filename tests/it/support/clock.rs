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
}

impl SetClock {
    /// A clock that shows `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        Self(Mutex::new(Times { now: at, boot: at.since(Timestamp::from_millis(0)) }))
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
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        self.0.lock().expect("clock").now
    }

    fn boot(&self) -> Duration {
        self.0.lock().expect("clock").boot
    }
}
