//! Deadlines of a session: how long a client may take, and since when it has kept the server waiting.
//!
//! Pure: `now` is an argument, time since a fixed point that never jumps.

use std::time::Duration;

use super::reasons::End;

/// How long a client may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// For silence, and for a whole command line, counted from the reply before it.
    pub(super) client: Duration,
    /// For a transaction from MAIL to the end of its message; longer if the message keeps `rate`.
    pub(super) message: Duration,
    /// The rate at which a message may take longer than `message`.
    pub(super) rate: MinRate,
    /// The age at which a session ends between two transactions.
    pub(super) session: Duration,
    /// In place of `client` and, for the octets of a message, of `message` while connections are scarce.
    pub(super) stress: Duration,
}

impl Timeouts {
    /// The timeouts for a message that reserves `octets` of scarce memory. Its rate is at least so high that the whole
    /// reservation could arrive within `message`.
    pub(super) fn with_scarce_memory(self, octets: u64) -> Self {
        let octets_per_second = self.rate.octets_per_second.max(octets / self.message.as_secs().max(1));
        Self { rate: MinRate { octets_per_second, ..self.rate }, ..self }
    }
}

/// A rate at which the octets of a message earn time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MinRate {
    /// The number of octets that earn one second.
    pub(super) octets_per_second: u64,
    /// Octets beyond this number earn nothing: their message is too large to be accepted.
    pub(super) octets_max: u64,
}

impl MinRate {
    /// How long so many octets may take.
    fn time_for(self, octets: u64) -> Duration {
        let (rate, octets) = (self.octets_per_second.max(1), octets.min(self.octets_max));
        Duration::from_secs(octets / rate)
            + Duration::from_secs(octets % rate) / u32::try_from(rate).unwrap_or(u32::MAX)
    }
}

/// Octets of a message that arrive from some time on.
#[derive(Clone, Copy, Debug)]
struct Flow {
    since: Duration,
    octets: u64,
}

impl Flow {
    const fn from(now: Duration) -> Self {
        Self { since: now, octets: 0 }
    }

    const fn add(&mut self, octets: usize) {
        self.octets += octets as u64;
    }

    /// When it will have taken longer than `at_least` and longer than its octets may.
    fn ends_at(&self, at_least: Duration, rate: MinRate) -> Duration {
        self.since + rate.time_for(self.octets).max(at_least)
    }
}

/// What a session waits for.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    /// A command line.
    Command { since: Duration },
    /// Octets of a message.
    Message(Flow),
    /// Nothing from the client.
    Nothing { since: Duration },
}

/// What a session expects of its client next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// Octets of a message come next.
    pub(super) is_in_data: bool,
    /// The number of the open transaction.
    pub(super) transaction: Option<u64>,
    /// The session has replied to something, so the wait for the client begins anew.
    pub(super) has_replied: bool,
    /// A number that changes whenever the client comes nearer to a stored message.
    pub(super) progress: u64,
}

/// The times of one client so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientTimer {
    began_at: Duration,
    received_at: Duration,
    awaited: Awaited,
    transaction: Option<(u64, Flow)>,
    progress: u64,
    /// The octets of messages since the last progress.
    stalled: Flow,
}

impl ClientTimer {
    /// The timer of a client that connects at `now`.
    pub(super) const fn new(now: Duration) -> Self {
        Self {
            began_at: now,
            received_at: now,
            awaited: Awaited::Command { since: now },
            transaction: None,
            progress: 0,
            stalled: Flow::from(now),
        }
    }

    /// Records that so many octets arrived.
    pub(super) fn received(&mut self, octets: usize, now: Duration) {
        self.received_at = now;
        if let Awaited::Message(flow) = &mut self.awaited {
            flow.add(octets);
            self.stalled.add(octets);
            if let Some((_, transaction)) = &mut self.transaction {
                transaction.add(octets);
            }
        }
    }

    /// Records what the session expects next, after it has used up what arrived.
    pub(super) fn expect(&mut self, expected: Expected, now: Duration) {
        self.transaction = expected.transaction.map(|number| {
            let known = self.transaction.filter(|(known, _)| *known == number);
            known.unwrap_or((number, Flow::from(now)))
        });
        if let Awaited::Nothing { since } = self.awaited {
            let busy = now.saturating_sub(since);
            self.stalled.since += busy;
            if let Some((_, transaction)) = &mut self.transaction {
                transaction.since += busy;
            }
            self.received_at = now;
        }
        self.awaited = match self.awaited {
            Awaited::Message(flow) if expected.is_in_data && !expected.has_replied => Awaited::Message(flow),
            _ if expected.is_in_data => Awaited::Message(Flow::from(now)),
            Awaited::Command { since } if !expected.has_replied => Awaited::Command { since },
            _ => Awaited::Command { since: now },
        };
        if expected.has_replied {
            self.received_at = now;
        }
        if expected.progress != self.progress {
            self.progress = expected.progress;
            self.stalled = Flow::from(now);
        }
    }

    /// Records that the client has taken all replies, so the wait for it begins now. Until then it may be evicted.
    pub(super) const fn replied(&mut self, now: Duration) {
        self.received_at = now;
        match &mut self.awaited {
            Awaited::Command { since } => *since = now,
            Awaited::Message(flow) if flow.octets == 0 => flow.since = now,
            Awaited::Message(_) | Awaited::Nothing { .. } => {}
        }
    }

    /// Records the end of a TLS handshake, whose time does not count for a command.
    pub(super) const fn secured(&mut self, now: Duration) {
        self.received_at = now;
        self.awaited = Awaited::Command { since: now };
        self.stalled = Flow::from(now);
    }

    /// Stops the timer until [`Self::expect`] is called: the server is busy, and the client waits.
    pub(super) const fn suspend(&mut self, now: Duration) {
        self.awaited = Awaited::Nothing { since: now };
    }

    /// Whether the session is so old that no transaction may begin.
    pub(super) fn is_session_over(&self, timeouts: &Timeouts, now: Duration) -> bool {
        now >= self.began_at + timeouts.session
    }

    /// When the session ends unless something arrives, and why.
    pub(super) fn deadline(&self, timeouts: &Timeouts, is_stressed: bool) -> (Duration, End) {
        let without_stress = self.first_deadline(timeouts, false);
        let (at, _) = self.first_deadline(timeouts, is_stressed);
        if at < without_stress.0 { (at, End::Stressed) } else { without_stress }
    }

    fn first_deadline(&self, timeouts: &Timeouts, is_stressed: bool) -> (Duration, End) {
        let shortened = |time: Duration| if is_stressed { time.min(timeouts.stress) } else { time };
        let mut first = (self.received_at + shortened(timeouts.client), End::Idle);
        let mut or = |at: Duration, end: End| {
            if at < first.0 {
                first = (at, end);
            }
        };
        match self.awaited {
            Awaited::Command { since } => or(since + shortened(timeouts.client), End::SlowCommand),
            Awaited::Message(flow) => or(flow.ends_at(shortened(timeouts.message), timeouts.rate), End::SlowMessage),
            Awaited::Nothing { .. } => {}
        }
        match self.transaction {
            Some((_, transaction)) => or(transaction.ends_at(timeouts.message, timeouts.rate), End::SlowMessage),
            None => or(self.began_at + timeouts.session, End::LifeOver),
        }
        first
    }

    /// When the client began to keep the server waiting; `None` if its message keeps the rate or the server is busy.
    ///
    /// A client keeps the server waiting by silence, or by commands without a message for longer than the timeout
    /// under stress.
    pub(super) fn waiting_since(&self, timeouts: &Timeouts, now: Duration) -> Option<Duration> {
        match self.awaited {
            Awaited::Command { since } => Some(since.min(self.stalled.ends_at(timeouts.stress, timeouts.rate))),
            Awaited::Message(flow) => Some(flow.ends_at(Duration::ZERO, timeouts.rate)).filter(|since| *since <= now),
            Awaited::Nothing { .. } => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
