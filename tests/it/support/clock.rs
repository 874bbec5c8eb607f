//! A clock that tests set.

use std::sync::Mutex;
use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::Timestamp;

/// Stands still until it is moved; both of its times move together.
#[derive(Debug)]
pub(crate) struct SetClock(Mutex<Timestamp>);

impl SetClock {
    /// A clock that shows `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        Self(Mutex::new(at))
    }

    /// Moves the clock on.
    pub(crate) fn advance(&self, by: Duration) {
        let mut now = self.0.lock().expect("clock");
        *now = now.plus(by);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("clock")
    }

    fn boot(&self) -> Duration {
        self.now().since(Timestamp::from_millis(0))
    }
}
