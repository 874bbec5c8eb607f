//! How long a client may take, and who has kept others waiting longest.
//!
//! Pure: `now` is an argument, time since some fixed point that never jumps.

use std::time::Duration;

use super::session::End;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaceLimits {
    /// Without any octet.
    pub(super) idle: Duration,
    /// A whole command line, from the reply before it on.
    pub(super) command: Duration,
    /// A transaction from MAIL to the end of its message, and longer if the message keeps `rate_min`.
    pub(super) message: Duration,
    /// Octets in a second.
    pub(super) rate_min: u64,
    /// Octets beyond which nothing of a message gives it time: it is too large to be taken.
    pub(super) octets_max: u64,
    /// After so long a session ends between two transactions.
    pub(super) life: Duration,
    /// In place of `idle`, `command` and, for the message itself, `message` while most places are taken.
    pub(super) stress: Duration,
}

impl PaceLimits {
    /// The same for a message that holds so many octets of memory which are scarce: the rate is one at which it would be
    /// whole within `message`, where that is more than `rate_min`.
    pub(super) fn holding(self, octets: u64) -> Self {
        Self { rate_min: self.rate_min.max(octets / self.message.as_secs().max(1)), ..self }
    }

    /// How long so many octets may take.
    fn time_for(&self, octets: u64) -> Duration {
        let (rate, octets) = (self.rate_min.max(1), octets.min(self.octets_max));
        Duration::from_secs(octets / rate)
            + Duration::from_secs(octets % rate) / u32::try_from(rate).unwrap_or(u32::MAX)
    }
}

/// Octets of a message, and since when they come.
#[derive(Clone, Copy, Debug)]
struct Flow {
    since: Duration,
    octets: u64,
}

impl Flow {
    const fn from(now: Duration) -> Self {
        Self { since: now, octets: 0 }
    }

    /// When it will have taken longer than its octets may, and than `at_least`.
    fn ends_at(&self, at_least: Duration, limits: &PaceLimits) -> Duration {
        self.since + limits.time_for(self.octets).max(at_least)
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
    Nothing,
}

/// What a session asks of its client next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
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
            flow.octets += octets as u64;
            self.stalled.octets += octets as u64;
            if let Some((_, transaction)) = &mut self.transaction {
                transaction.octets += octets as u64;
            }
        }
    }

    /// What has come was used up, and this is next.
    pub(super) fn turn(&mut self, turn: Turn, now: Duration) {
        self.transaction = turn.transaction.map(|number| {
            let known = self.transaction.filter(|(known, _)| *known == number);
            known.unwrap_or((number, Flow::from(now)))
        });
        self.awaited = match self.awaited {
            Awaited::Message(flow) if turn.is_in_data && !turn.has_answered => Awaited::Message(flow),
            _ if turn.is_in_data => Awaited::Message(Flow::from(now)),
            Awaited::Command { since } if !turn.has_answered => Awaited::Command { since },
            _ => Awaited::Command { since: now },
        };
        if turn.has_answered {
            self.heard_at = now;
        }
        if turn.progress != self.progress {
            self.progress = turn.progress;
            self.stalled = Flow::from(now);
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

    /// Whatever comes next, the client is not waited for.
    pub(super) const fn occupied(&mut self) {
        self.awaited = Awaited::Nothing;
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
            Awaited::Message(flow) => or(flow.ends_at(shortened(limits.message), limits), End::SlowMessage),
            Awaited::Nothing => {}
        }
        match self.transaction {
            Some((_, transaction)) => or(transaction.ends_at(limits.message, limits), End::SlowMessage),
            None => or(self.began_at + limits.life, End::LifeOver),
        }
        first
    }

    /// Since when the client has kept this server waiting, by silence or by commands that lead to no message for longer
    /// than the timeout under stress; `None` for one that does not: its message keeps the rate, or it is its turn to be
    /// answered.
    pub(super) fn waits_since(&self, limits: &PaceLimits, now: Duration) -> Option<Duration> {
        match self.awaited {
            Awaited::Command { since } => Some(since.min(self.stalled.ends_at(limits.stress, limits))),
            Awaited::Message(flow) => Some(flow.ends_at(Duration::ZERO, limits)).filter(|since| *since <= now),
            Awaited::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PaceLimits = PaceLimits {
        idle: Duration::from_secs(300),
        command: Duration::from_secs(300),
        message: Duration::from_secs(600),
        rate_min: 500,
        octets_max: 1 << 30,
        life: Duration::from_secs(3600),
        stress: Duration::from_secs(10),
    };
    const COMMAND: Turn = Turn { is_in_data: false, transaction: None, has_answered: true, progress: 0 };
    const MAIL: Turn = Turn { transaction: Some(1), ..COMMAND };
    const DATA: Turn = Turn { is_in_data: true, ..MAIL };

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(1_000 + seconds)
    }

    /// When a client that does the same again and again is ended, and for what.
    fn ended(mut pace: Pace, octets: usize, every: Duration, turn: Turn, is_stressed: bool) -> (u64, End) {
        let mut now = pace.heard_at;
        loop {
            let (at, end) = pace.deadline(&LIMITS, is_stressed);
            now += every;
            if now >= at {
                return (at.as_secs() - 1_000, end);
            }
            pace.heard(octets, now);
            pace.turn(turn, now);
        }
    }

    fn after(turns: &[Turn]) -> Pace {
        let mut pace = Pace::new(seconds(0));
        for turn in turns {
            pace.turn(*turn, seconds(0));
        }
        pace
    }

    #[test]
    fn whoever_does_not_keep_time_is_ended_and_nobody_else() {
        let quietly = |turn: Turn| Turn { has_answered: false, ..turn };
        let (second, ten, hour) = (Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(3600));
        for (what, pace, octets, every, turn, calm, stressed) in [
            ("silence", after(&[]), 0, hour, COMMAND, (300, End::Idle), (10, End::Stressed)),
            ("a slow command", after(&[]), 1, ten / 2, quietly(COMMAND), (300, End::SlowCommand), (10, End::Stressed)),
            ("commands for ever", after(&[]), 6, second, COMMAND, (3600, End::LifeOver), (3600, End::LifeOver)),
            ("a slow transaction", after(&[MAIL]), 6, second, MAIL, (600, End::SlowMessage), (600, End::SlowMessage)),
            ("silence in a message", after(&[MAIL, DATA]), 0, hour, DATA, (300, End::Idle), (10, End::Stressed)),
            (
                "a slow message",
                after(&[MAIL, DATA]),
                1,
                ten / 2,
                quietly(DATA),
                (600, End::SlowMessage),
                (10, End::Stressed),
            ),
            (
                "nearly the rate",
                after(&[MAIL, DATA]),
                499,
                second,
                quietly(DATA),
                (600, End::SlowMessage),
                (10, End::Stressed),
            ),
        ] {
            assert_eq!(ended(pace, octets, every, turn, false), calm, "{what}");
            assert_eq!(ended(pace, octets, every, turn, true), stressed, "{what} under stress");
        }
    }

    #[test]
    fn a_message_that_keeps_its_rate_ends_never_and_is_never_in_the_way() {
        let mut pace = after(&[MAIL, DATA]);
        for second in 1..20_000 {
            pace.heard(600, seconds(second));
            pace.turn(Turn { has_answered: false, ..DATA }, seconds(second));
            let (at, end) = pace.deadline(&LIMITS, true);
            assert!(at > seconds(second), "{second}: {end:?}");
            assert_eq!(pace.waits_since(&LIMITS, seconds(second)), None, "{second}");
        }
        // Its life ends after its transaction.
        pace.turn(COMMAND, seconds(20_000));
        assert_eq!(pace.deadline(&LIMITS, false).1, End::LifeOver);
    }

    #[test]
    fn a_message_that_holds_scarce_memory_comes_at_the_rate_of_its_share() {
        let share = 25 << 20;
        let limits = LIMITS.holding(share);
        for (octets_a_second, is_ended_after) in [(500, Some(10)), (40_000, Some(10)), (50_000, None)] {
            let mut pace = after(&[MAIL, DATA]);
            let ended = (1..=share / octets_a_second).find(|second| {
                pace.heard(usize::try_from(octets_a_second).expect("few"), seconds(*second));
                pace.turn(Turn { has_answered: false, ..DATA }, seconds(*second));
                pace.deadline(&limits, true).0 <= seconds(*second)
            });
            assert_eq!(ended, is_ended_after, "{octets_a_second}");
        }
        assert_eq!(LIMITS.holding(1024).rate_min, LIMITS.rate_min, "a small share asks for nothing more");
    }

    #[test]
    fn chunks_are_one_message() {
        let mut pace = after(&[MAIL]);
        let mut now = 0;
        // A chunk of one octet each 100 seconds: every command is in time, the message is not.
        while pace.deadline(&LIMITS, false).0 > seconds(now) {
            now += 100;
            pace.turn(Turn { has_answered: false, ..DATA }, seconds(now));
            pace.heard(1, seconds(now));
            pace.turn(MAIL, seconds(now));
        }
        assert_eq!((now, pace.deadline(&LIMITS, false).1), (600, End::SlowMessage));
    }

    #[test]
    fn each_transaction_has_its_own_time() {
        let mut pace = after(&[MAIL]);
        for number in 2..7 {
            let now = seconds(number * 500);
            pace.turn(Turn { transaction: Some(number), ..COMMAND }, now);
            assert_eq!(pace.deadline(&LIMITS, false), (now + LIMITS.idle, End::Idle));
        }
        assert!(!pace.is_over(&LIMITS, seconds(3599)) && pace.is_over(&LIMITS, seconds(3600)));
    }

    #[test]
    fn commands_that_lead_to_no_message_keep_a_place_for_a_while_only() {
        let mut busy = after(&[]);
        let mut getting_on = after(&[]);
        for second in 1..=60 {
            busy.turn(COMMAND, seconds(second));
            getting_on.turn(Turn { progress: second / 9, ..COMMAND }, seconds(second));
        }
        assert_eq!(
            busy.waits_since(&LIMITS, seconds(60)),
            Some(seconds(10)),
            "since the timeout under stress was over"
        );
        assert_eq!(getting_on.waits_since(&LIMITS, seconds(60)), Some(seconds(60)));
        // A message that was refused in the end has come all the same.
        let mut sent = after(&[MAIL, DATA]);
        sent.heard(20_000, seconds(40));
        sent.turn(COMMAND, seconds(41));
        assert_eq!(sent.waits_since(&LIMITS, seconds(42)), Some(seconds(40)), "its octets have their time at the rate");
    }

    #[test]
    fn the_time_of_a_handshake_is_no_commands() {
        let mut pace = after(&[COMMAND]);
        assert_eq!(pace.waits_since(&LIMITS, seconds(9)), Some(seconds(0)), "while it lasts, its place can be had");
        pace.secured(seconds(9));
        assert_eq!(pace.waits_since(&LIMITS, seconds(9)), Some(seconds(9)));
        assert_eq!(pace.deadline(&LIMITS, true).0, seconds(19));
    }

    #[test]
    fn octets_that_can_not_be_accepted_buy_no_time() {
        let limits = PaceLimits { octets_max: 1_000_000, ..LIMITS };
        let mut pace = after(&[MAIL, DATA]);
        let mut now = 0;
        while pace.deadline(&limits, false).0 > seconds(now) {
            now += 1;
            assert!(now < 10_000, "it goes on for ever");
            pace.heard(600, seconds(now));
            pace.turn(Turn { has_answered: false, ..DATA }, seconds(now));
        }
        assert_eq!((now, pace.deadline(&limits, false).1), (2_000, End::SlowMessage));
        assert!(pace.waits_since(&limits, seconds(now)).is_some(), "its place can be had");
    }

    #[test]
    fn the_idlest_is_who_keeps_the_server_waiting_not_who_sends_least() {
        let mut talking = after(&[]);
        let mut typing = after(&[]);
        let mut trickling = after(&[MAIL, DATA]);
        let mut stored = after(&[MAIL, DATA]);
        for second in 1..=9 {
            talking.heard(6, seconds(second));
            talking.turn(COMMAND, seconds(second));
            typing.heard(1, seconds(second));
            typing.turn(Turn { has_answered: false, ..COMMAND }, seconds(second));
            trickling.heard(100, seconds(second));
        }
        stored.occupied();
        let waits = |pace: Pace| pace.waits_since(&LIMITS, seconds(10));
        assert_eq!(waits(talking), Some(seconds(9)));
        assert_eq!(waits(typing), Some(seconds(0)), "an octet is no command");
        assert_eq!(
            waits(trickling),
            Some(seconds(1) + Duration::from_millis(800)),
            "it fell behind when its octets were used up"
        );
        assert_eq!(waits(stored), None);
    }
}
