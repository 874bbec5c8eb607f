//! How fast a message comes, against how fast it is to come.

use std::time::Duration;

/// The rate at which octets of a message give it time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// So many of them give it a second.
    pub(super) octets_per_second: u64,
    /// Beyond so many they give it nothing: it is too large to be taken.
    pub(super) octets_max: u64,
}

impl Rate {
    /// How long so many octets may take.
    fn time_for(self, octets: u64) -> Duration {
        let (rate, octets) = (self.octets_per_second.max(1), octets.min(self.octets_max));
        Duration::from_secs(octets / rate)
            + Duration::from_secs(octets % rate) / u32::try_from(rate).unwrap_or(u32::MAX)
    }
}

/// Octets of a message, and since when they come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    since: Duration,
    octets: u64,
}

impl Flow {
    /// One that begins.
    pub(super) const fn from(now: Duration) -> Self {
        Self { since: now, octets: 0 }
    }

    /// So many octets have come.
    pub(super) const fn add(&mut self, octets: usize) {
        self.octets += octets as u64;
    }

    /// It begins now, if nothing has come.
    pub(super) const fn begin(&mut self, now: Duration) {
        if self.octets == 0 {
            self.since = now;
        }
    }

    /// So much of the time so far is not its own.
    pub(super) fn delay(&mut self, time: Duration) {
        self.since += time;
    }

    /// When it will have taken longer than its octets may, and than `at_least`.
    pub(super) fn ends_at(&self, at_least: Duration, rate: Rate) -> Duration {
        self.since + rate.time_for(self.octets).max(at_least)
    }
}
