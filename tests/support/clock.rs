//! A clock that tests set.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use tempmail::clock::Clock;
use tempmail::model::Timestamp;

/// Stands still until it is moved, unless it was made to tick.
pub(crate) struct SetClock {
    times: Mutex<Times>,
    trap: Mutex<Option<Trap>>,
    ticks_since: Option<Instant>,
}

type Trap = Box<dyn Fn() -> bool + Send>;

#[derive(Clone, Copy, Debug)]
struct Times {
    now: Timestamp,
    boot: Duration,
}

impl SetClock {
    /// A clock that shows `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        let boot = at.since(Timestamp::from_millis(0));
        let times = Times { now: at, boot };
        Self { times: Mutex::new(times), trap: Mutex::default(), ticks_since: None }
    }

    /// A clock that shows `at` and goes on from there.
    pub(crate) fn ticking_from(at: Timestamp) -> Self {
        Self { ticks_since: Some(Instant::now()), ..Self::at(at) }
    }

    /// The first read of the time of day panics once `is_it` says so.
    pub(crate) fn panic_when(&self, is_it: impl Fn() -> bool + Send + 'static) {
        *self.trap.lock().expect("clock") = Some(Box::new(is_it));
    }

    fn ticked(&self) -> Duration {
        self.ticks_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Lets time pass.
    pub(crate) fn advance(&self, by: Duration) {
        let mut times = self.times.lock().expect("clock");
        times.now = times.now.plus(by);
        times.boot += by;
    }

    /// Sets the time of day alone, as an operator or a time server does.
    pub(crate) fn step_to(&self, now: Timestamp) {
        self.times.lock().expect("clock").now = now;
    }

    /// Sets the time of day back, alone.
    pub(crate) fn step_back(&self, by: Duration) {
        let mut times = self.times.lock().expect("clock");
        times.now = times.now.before(by);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        let springs = self.trap.lock().expect("clock").take_if(|is_it| is_it()).is_some();
        assert!(!springs, "the clock panics as the test wants");
        self.times.lock().expect("clock").now.plus(self.ticked())
    }

    fn boot(&self) -> Duration {
        self.times.lock().expect("clock").boot + self.ticked()
    }
}

/// Time stands still until this is dropped: the runtime does not move on to its next timer while a thread is busy.
pub(crate) struct Still {
    _busy: Sender<()>,
}

impl Still {
    pub(crate) fn begin() -> Self {
        let (busy, end) = channel();
        tokio::task::spawn_blocking(move || end.recv());
        tokio::time::pause();
        Self { _busy: busy }
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        tokio::time::resume();
    }
}
