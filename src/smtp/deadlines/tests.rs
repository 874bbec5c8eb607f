//! Deadlines, played without a clock.

use super::*;

/// The timeouts of tests, here and in other modules.
pub(in crate::smtp) const TIMEOUTS: Timeouts = Timeouts {
    client: Duration::from_secs(300),
    message: Duration::from_secs(600),
    rate: MinRate { octets_per_second: 500, octets_max: 1 << 30 },
    session: Duration::from_secs(3600),
    stress: Duration::from_secs(10),
};
const COMMAND: Expected = Expected { is_in_data: false, transaction: None, has_replied: true, progress: 0 };
const MAIL: Expected = Expected { transaction: Some(1), ..COMMAND };
const DATA: Expected = Expected { is_in_data: true, ..MAIL };

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(1_000 + seconds)
}

/// When a client that does the same again and again is ended, and for what.
fn ended(mut timer: ClientTimer, octets: usize, every: Duration, expected: Expected, is_stressed: bool) -> (u64, End) {
    let mut now = timer.received_at;
    loop {
        let (at, end) = timer.deadline(&TIMEOUTS, is_stressed);
        now += every;
        if now >= at {
            return (at.as_secs() - 1_000, end);
        }
        timer.received(octets, now);
        timer.expect(expected, now);
    }
}

fn after(expected: &[Expected]) -> ClientTimer {
    let mut timer = ClientTimer::new(seconds(0));
    for next in expected {
        timer.expect(*next, seconds(0));
    }
    timer
}

#[test]
fn each_way_to_be_late_has_its_deadline() {
    let quietly = |expected: Expected| Expected { has_replied: false, ..expected };
    let (second, ten, hour) = (Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(3600));
    for (what, timer, octets, every, expected, calm, stressed) in [
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
        assert_eq!(ended(timer, octets, every, expected, false), calm, "{what}");
        assert_eq!(ended(timer, octets, every, expected, true), stressed, "{what} under stress");
    }
}

#[test]
fn a_message_that_keeps_the_rate_has_no_deadline_and_is_never_evicted() {
    let mut timer = after(&[MAIL, DATA]);
    for second in 1..20_000 {
        timer.received(600, seconds(second));
        timer.expect(Expected { has_replied: false, ..DATA }, seconds(second));
        let (at, end) = timer.deadline(&TIMEOUTS, true);
        assert!(at > seconds(second), "{second}: {end:?}");
        assert_eq!(timer.waiting_since(&TIMEOUTS, seconds(second)), None, "{second}");
    }
    // Its life ends after its transaction.
    timer.expect(COMMAND, seconds(20_000));
    assert_eq!(timer.deadline(&TIMEOUTS, false).1, End::LifeOver);
}

#[test]
fn a_message_that_reserves_scarce_memory_must_keep_a_higher_rate() {
    let share = 25 << 20;
    let timeouts = TIMEOUTS.with_scarce_memory(share);
    for (octets_a_second, is_ended_after) in [(500, Some(10)), (40_000, Some(10)), (50_000, None)] {
        let mut timer = after(&[MAIL, DATA]);
        let ended = (1..=share / octets_a_second).find(|second| {
            timer.received(usize::try_from(octets_a_second).expect("few"), seconds(*second));
            timer.expect(Expected { has_replied: false, ..DATA }, seconds(*second));
            timer.deadline(&timeouts, true).0 <= seconds(*second)
        });
        assert_eq!(ended, is_ended_after, "{octets_a_second}");
    }
    assert_eq!(TIMEOUTS.with_scarce_memory(1024).rate, TIMEOUTS.rate, "a small share asks for nothing more");
}

#[test]
fn the_chunks_of_a_message_share_its_deadline() {
    let mut timer = after(&[MAIL]);
    let mut now = 0;
    // A chunk of one octet each 100 seconds: every command is in time, the message is not.
    while timer.deadline(&TIMEOUTS, false).0 > seconds(now) {
        now += 100;
        timer.expect(Expected { has_replied: false, ..DATA }, seconds(now));
        timer.received(1, seconds(now));
        timer.expect(MAIL, seconds(now));
    }
    assert_eq!((now, timer.deadline(&TIMEOUTS, false).1), (600, End::SlowMessage));
}

#[test]
fn each_transaction_has_its_own_deadline() {
    let mut timer = after(&[MAIL]);
    for number in 2..7 {
        let now = seconds(number * 500);
        timer.expect(Expected { transaction: Some(number), ..COMMAND }, now);
        assert_eq!(timer.deadline(&TIMEOUTS, false), (now + TIMEOUTS.client, End::Idle));
    }
    assert!(!timer.is_session_over(&TIMEOUTS, seconds(3599)) && timer.is_session_over(&TIMEOUTS, seconds(3600)));
}

#[test]
fn commands_without_progress_count_as_keeping_the_server_waiting() {
    let mut busy = after(&[]);
    let mut getting_on = after(&[]);
    for second in 1..=60 {
        busy.expect(COMMAND, seconds(second));
        getting_on.expect(Expected { progress: second / 9, ..COMMAND }, seconds(second));
    }
    assert_eq!(
        busy.waiting_since(&TIMEOUTS, seconds(60)),
        Some(seconds(10)),
        "since the timeout under stress was over"
    );
    assert_eq!(getting_on.waiting_since(&TIMEOUTS, seconds(60)), Some(seconds(60)));
    // A message that was refused in the end has come all the same.
    let mut sent = after(&[MAIL, DATA]);
    sent.received(20_000, seconds(40));
    sent.expect(COMMAND, seconds(41));
    assert_eq!(sent.waiting_since(&TIMEOUTS, seconds(42)), Some(seconds(40)), "its octets have their time at the rate");
}

#[test]
fn the_time_of_a_handshake_does_not_count_for_a_command() {
    let mut timer = after(&[COMMAND]);
    assert_eq!(timer.waiting_since(&TIMEOUTS, seconds(9)), Some(seconds(0)), "while it lasts, its place can be had");
    timer.secured(seconds(9));
    assert_eq!(timer.waiting_since(&TIMEOUTS, seconds(9)), Some(seconds(9)));
    assert_eq!(timer.deadline(&TIMEOUTS, true).0, seconds(19));
}

#[test]
fn octets_beyond_the_largest_message_earn_no_time() {
    let timeouts = Timeouts { rate: MinRate { octets_max: 1_000_000, ..TIMEOUTS.rate }, ..TIMEOUTS };
    let mut timer = after(&[MAIL, DATA]);
    let mut now = 0;
    while timer.deadline(&timeouts, false).0 > seconds(now) {
        now += 1;
        assert!(now < 10_000, "it goes on for ever");
        timer.received(600, seconds(now));
        timer.expect(Expected { has_replied: false, ..DATA }, seconds(now));
    }
    assert_eq!((now, timer.deadline(&timeouts, false).1), (2_000, End::SlowMessage));
    assert!(timer.waiting_since(&timeouts, seconds(now)).is_some(), "its place can be had");
}

#[test]
fn a_slow_client_that_makes_progress_is_not_the_idlest() {
    let mut talking = after(&[]);
    let mut typing = after(&[]);
    let mut trickling = after(&[MAIL, DATA]);
    let mut stored = after(&[MAIL, DATA]);
    for second in 1..=9 {
        talking.received(6, seconds(second));
        talking.expect(COMMAND, seconds(second));
        typing.received(1, seconds(second));
        typing.expect(Expected { has_replied: false, ..COMMAND }, seconds(second));
        trickling.received(100, seconds(second));
    }
    stored.suspend(seconds(9));
    let waits = |timer: ClientTimer| timer.waiting_since(&TIMEOUTS, seconds(10));
    assert_eq!(waits(talking), Some(seconds(9)));
    assert_eq!(waits(typing), Some(seconds(0)), "an octet is no command");
    assert_eq!(
        waits(trickling),
        Some(seconds(1) + Duration::from_millis(800)),
        "it fell behind when its octets were used up"
    );
    assert_eq!(waits(stored), None);
}

/// The store takes its time and keeps nothing.
#[test]
fn the_time_of_the_store_does_not_count_for_the_client() {
    let mut timer = after(&[MAIL, DATA]);
    timer.expect(COMMAND, seconds(5));
    timer.suspend(seconds(5));
    assert_eq!(timer.waiting_since(&TIMEOUTS, seconds(200)), None);
    timer.expect(COMMAND, seconds(205));
    assert_eq!(timer.waiting_since(&TIMEOUTS, seconds(206)), Some(seconds(205)), "it has had 5 s of its 10 s");
    for second in 206..=220 {
        timer.expect(COMMAND, seconds(second));
    }
    assert_eq!(timer.waiting_since(&TIMEOUTS, seconds(220)), Some(seconds(210)));
}

/// A fault on purpose makes the client wait within its transaction.
#[test]
fn the_time_of_a_fault_counts_for_no_deadline() {
    let silent = Expected { has_replied: false, ..MAIL };
    let mut timer = after(&[MAIL]);
    timer.suspend(seconds(5));
    timer.expect(silent, seconds(905));
    assert_eq!(timer.deadline(&TIMEOUTS, false), (seconds(1205), End::Idle), "a command may take its time from now on");
    timer.expect(MAIL, seconds(1201));
    assert_eq!(
        timer.deadline(&TIMEOUTS, false),
        (seconds(1500), End::SlowMessage),
        "the transaction has had 5 s before"
    );
}

#[test]
fn the_next_deadline_begins_when_the_replies_are_read() {
    for expected in [COMMAND, MAIL, DATA] {
        let mut timer = after(&[expected]);
        assert_eq!(
            timer.waiting_since(&TIMEOUTS, seconds(9)),
            Some(seconds(0)),
            "while it lasts, its place can be had"
        );
        timer.replied(seconds(250));
        let (at, end) = timer.deadline(&TIMEOUTS, true);
        assert_eq!((at, end), (seconds(260), End::Stressed), "{expected:?}");
    }
    // Octets of a message that were there before it had its reply keep their time.
    let mut timer = after(&[MAIL, DATA]);
    timer.received(1, seconds(1));
    timer.replied(seconds(3));
    assert_eq!(timer.deadline(&TIMEOUTS, true).0, seconds(10));
}
