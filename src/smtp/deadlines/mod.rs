//! How long a client may take, and who has kept others waiting longest.
//!
//! Pure: `now` is an argument, time since some fixed point that never jumps.

use std::time::Duration;

use super::rate::{Flow, Rate};
use super::session::End;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaceLimits {
    /// Without any octet.
    pub(super) idle: Duration,
    /// A whole command line, from the reply before it on.
    pub(super) command: Duration,
    /// A transaction from MAIL to the end of its message, and longer if the message keeps `rate`.
    pub(super) message: Duration,
    /// At which a message gets more time than `message`.
    pub(super) rate: Rate,
    /// After so long a session ends between two transactions.
    pub(super) life: Duration,
    /// In place of `idle`, `command` and, for the message itself, `message` while most places are taken.
    pub(super) stress: Duration,
}

impl PaceLimits {
    /// The same for a message that holds so many octets of memory which are scarce: the rate is one at which it would be
    /// whole within `message`, where that is more than `rate`.
    pub(super) fn holding(self, octets: u64) -> Self {
        let octets_per_second = self.rate.octets_per_second.max(octets / self.message.as_secs().max(1));
        Self { rate: Rate { octets_per_second, ..self.rate }, ..self }
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

/// What a session asks of its client next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    /// Octets of a message are to come.
    pub(super) is_in_data: bool,
    /// The number of the transaction that MAIL has begun.
    pub(super) transaction: Option<u64>,
    /// Something was answered, so that what is waited for is new.
    pub(super) has_answered: bool,
    /// A number that changes when the client has come nearer to a message that is stored.
    pub(super) progress: u64,
}

/// How a client has kept time so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    began_at: Duration,
    heard_at: Duration,
    awaited: Awaited,
    transaction: Option<(u64, Flow)>,
    progress: u64,
    /// Since the last progress, with the octets of messages that have come.
    stalled: Flow,
}

impl Pace {
    pub(super) const fn new(now: Duration) -> Self {
        Self {
            began_at: now,
            heard_at: now,
            awaited: Awaited::Command { since: now },
            transaction: None,
            progress: 0,
            stalled: Flow::from(now),
        }
    }

    /// So many octets have come.
    pub(super) fn heard(&mut self, octets: usize, now: Duration) {
        self.heard_at = now;
        if let Awaited::Message(flow) = &mut self.awaited {
            flow.add(octets);
            self.stalled.add(octets);
            if let Some((_, transaction)) = &mut self.transaction {
                transaction.add(octets);
            }
        }
    }

    /// What has come was used up, and this is next.
    pub(super) fn prompted(&mut self, prompt: Prompt, now: Duration) {
        self.transaction = prompt.transaction.map(|number| {
            let known = self.transaction.filter(|(known, _)| *known == number);
            known.unwrap_or((number, Flow::from(now)))
        });
        if let Awaited::Nothing { since } = self.awaited {
            self.stalled.delay(now.saturating_sub(since));
        }
        self.awaited = match self.awaited {
            Awaited::Message(flow) if prompt.is_in_data && !prompt.has_answered => Awaited::Message(flow),
            _ if prompt.is_in_data => Awaited::Message(Flow::from(now)),
            Awaited::Command { since } if !prompt.has_answered => Awaited::Command { since },
            _ => Awaited::Command { since: now },
        };
        if prompt.has_answered {
            self.heard_at = now;
        }
        if prompt.progress != self.progress {
            self.progress = prompt.progress;
            self.stalled = Flow::from(now);
        }
    }

    /// The client has taken the replies, so that what is next begins now. Its place could be had meanwhile.
    pub(super) fn answered(&mut self, now: Duration) {
        self.heard_at = now;
        match &mut self.awaited {
            Awaited::Command { since } => *since = now,
            Awaited::Message(flow) => flow.begin(now),
            Awaited::Nothing { .. } => {}
        }
    }

    /// A handshake has ended; its time is no command's.
    pub(super) const fn secured(&mut self, now: Duration) {
        self.heard_at = now;
        self.awaited = Awaited::Command { since: now };
        self.stalled = Flow::from(now);
    }

    /// Whether the session has lasted so long that no transaction is to begin.
    pub(super) fn is_over(&self, limits: &PaceLimits, now: Duration) -> bool {
        now >= self.began_at + limits.life
    }

    /// Until it is prompted again the client is not waited for, and the time is not its own.
    pub(super) const fn occupied(&mut self, now: Duration) {
        self.awaited = Awaited::Nothing { since: now };
    }

    /// When the session ends unless something comes, and why.
    pub(super) fn deadline(&self, limits: &PaceLimits, is_stressed: bool) -> (Duration, End) {
        let calm = self.first_end(limits, false);
        let (at, _) = self.first_end(limits, is_stressed);
        if at < calm.0 { (at, End::Stressed) } else { calm }
    }

    fn first_end(&self, limits: &PaceLimits, is_stressed: bool) -> (Duration, End) {
        let shortened = |time: Duration| if is_stressed { time.min(limits.stress) } else { time };
        let mut first = (self.heard_at + shortened(limits.idle), End::Idle);
        let mut or = |at: Duration, end: End| {
            if at < first.0 {
                first = (at, end);
            }
        };
        match self.awaited {
            Awaited::Command { since } => or(since + shortened(limits.command), End::SlowCommand),
            Awaited::Message(flow) => or(flow.ends_at(shortened(limits.message), limits.rate), End::SlowMessage),
            Awaited::Nothing { .. } => {}
        }
        match self.transaction {
            Some((_, transaction)) => or(transaction.ends_at(limits.message, limits.rate), End::SlowMessage),
            None => or(self.began_at + limits.life, End::LifeOver),
        }
        first
    }

    /// Since when the client has kept this server waiting, by silence or by commands that lead to no message for longer
    /// than the timeout under stress; `None` for one that does not: its message keeps the rate, or it is its turn to be
    /// answered.
    pub(super) fn waits_since(&self, limits: &PaceLimits, now: Duration) -> Option<Duration> {
        match self.awaited {
            Awaited::Command { since } => Some(since.min(self.stalled.ends_at(limits.stress, limits.rate))),
            Awaited::Message(flow) => Some(flow.ends_at(Duration::ZERO, limits.rate)).filter(|since| *since <= now),
            Awaited::Nothing { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
