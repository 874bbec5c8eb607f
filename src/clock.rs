//! The clock: the one place through which time enters the program.

use std::time::Duration;

use crate::model::Timestamp;

/// A source of time. The daemon has [`SystemClock`]; tests have one that they set.
pub trait Clock: Send + Sync + 'static {
    /// The time of day. It may jump in either direction.
    fn now(&self) -> Timestamp;

    /// Time since some fixed point, suspension included. It never jumps; only differences mean something.
    fn boot(&self) -> Duration;
}

/// The clocks of the machine: `CLOCK_REALTIME` and `CLOCK_BOOTTIME`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        Timestamp::from_millis(time.tv_sec * 1000 + time.tv_nsec / 1_000_000)
    }

    fn boot(&self) -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }
}
