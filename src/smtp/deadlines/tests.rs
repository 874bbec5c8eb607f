use super::*;

const LIMITS: PaceLimits = PaceLimits {
    idle: Duration::from_secs(300),
    command: Duration::from_secs(300),
    message: Duration::from_secs(600),
    rate: Rate { octets_per_second: 500, octets_max: 1 << 30 },
    life: Duration::from_secs(3600),
    stress: Duration::from_secs(10),
};
const COMMAND: Prompt = Prompt { is_in_data: false, transaction: None, has_answered: true, progress: 0 };
const MAIL: Prompt = Prompt { transaction: Some(1), ..COMMAND };
const DATA: Prompt = Prompt { is_in_data: true, ..MAIL };

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(1_000 + seconds)
}

/// When a client that does the same again and again is ended, and for what.
fn ended(mut pace: Pace, octets: usize, every: Duration, prompt: Prompt, is_stressed: bool) -> (u64, End) {
    let mut now = pace.heard_at;
    loop {
        let (at, end) = pace.deadline(&LIMITS, is_stressed);
        now += every;
        if now >= at {
            return (at.as_secs() - 1_000, end);
        }
        pace.heard(octets, now);
        pace.prompted(prompt, now);
    }
}

fn after(prompts: &[Prompt]) -> Pace {
    let mut pace = Pace::new(seconds(0));
    for prompt in prompts {
        pace.prompted(*prompt, seconds(0));
    }
    pace
}

#[test]
fn whoever_does_not_keep_time_is_ended_and_nobody_else() {
    let quietly = |prompt: Prompt| Prompt { has_answered: false, ..prompt };
    let (second, ten, hour) = (Duration::from_secs(1), Duration::from_secs(10), Duration::from_secs(3600));
    for (what, pace, octets, every, prompt, calm, stressed) in [
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
        assert_eq!(ended(pace, octets, every, prompt, false), calm, "{what}");
        assert_eq!(ended(pace, octets, every, prompt, true), stressed, "{what} under stress");
    }
}

#[test]
fn a_message_that_keeps_its_rate_ends_never_and_is_never_in_the_way() {
    let mut pace = after(&[MAIL, DATA]);
    for second in 1..20_000 {
        pace.heard(600, seconds(second));
        pace.prompted(Prompt { has_answered: false, ..DATA }, seconds(second));
        let (at, end) = pace.deadline(&LIMITS, true);
        assert!(at > seconds(second), "{second}: {end:?}");
        assert_eq!(pace.waits_since(&LIMITS, seconds(second)), None, "{second}");
    }
    // Its life ends after its transaction.
    pace.prompted(COMMAND, seconds(20_000));
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
            pace.prompted(Prompt { has_answered: false, ..DATA }, seconds(*second));
            pace.deadline(&limits, true).0 <= seconds(*second)
        });
        assert_eq!(ended, is_ended_after, "{octets_a_second}");
    }
    assert_eq!(LIMITS.holding(1024).rate, LIMITS.rate, "a small share asks for nothing more");
}

#[test]
fn chunks_are_one_message() {
    let mut pace = after(&[MAIL]);
    let mut now = 0;
    // A chunk of one octet each 100 seconds: every command is in time, the message is not.
    while pace.deadline(&LIMITS, false).0 > seconds(now) {
        now += 100;
        pace.prompted(Prompt { has_answered: false, ..DATA }, seconds(now));
        pace.heard(1, seconds(now));
        pace.prompted(MAIL, seconds(now));
    }
    assert_eq!((now, pace.deadline(&LIMITS, false).1), (600, End::SlowMessage));
}

#[test]
fn each_transaction_has_its_own_time() {
    let mut pace = after(&[MAIL]);
    for number in 2..7 {
        let now = seconds(number * 500);
        pace.prompted(Prompt { transaction: Some(number), ..COMMAND }, now);
        assert_eq!(pace.deadline(&LIMITS, false), (now + LIMITS.idle, End::Idle));
    }
    assert!(!pace.is_over(&LIMITS, seconds(3599)) && pace.is_over(&LIMITS, seconds(3600)));
}

#[test]
fn commands_that_lead_to_no_message_keep_a_place_for_a_while_only() {
    let mut busy = after(&[]);
    let mut getting_on = after(&[]);
    for second in 1..=60 {
        busy.prompted(COMMAND, seconds(second));
        getting_on.prompted(Prompt { progress: second / 9, ..COMMAND }, seconds(second));
    }
    assert_eq!(busy.waits_since(&LIMITS, seconds(60)), Some(seconds(10)), "since the timeout under stress was over");
    assert_eq!(getting_on.waits_since(&LIMITS, seconds(60)), Some(seconds(60)));
    // A message that was refused in the end has come all the same.
    let mut sent = after(&[MAIL, DATA]);
    sent.heard(20_000, seconds(40));
    sent.prompted(COMMAND, seconds(41));
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
    let limits = PaceLimits { rate: Rate { octets_max: 1_000_000, ..LIMITS.rate }, ..LIMITS };
    let mut pace = after(&[MAIL, DATA]);
    let mut now = 0;
    while pace.deadline(&limits, false).0 > seconds(now) {
        now += 1;
        assert!(now < 10_000, "it goes on for ever");
        pace.heard(600, seconds(now));
        pace.prompted(Prompt { has_answered: false, ..DATA }, seconds(now));
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
        talking.prompted(COMMAND, seconds(second));
        typing.heard(1, seconds(second));
        typing.prompted(Prompt { has_answered: false, ..COMMAND }, seconds(second));
        trickling.heard(100, seconds(second));
    }
    stored.occupied(seconds(9));
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

/// The store takes its time and keeps nothing.
#[test]
fn the_time_of_the_store_is_not_the_clients() {
    let mut pace = after(&[MAIL, DATA]);
    pace.prompted(COMMAND, seconds(5));
    pace.occupied(seconds(5));
    assert_eq!(pace.waits_since(&LIMITS, seconds(200)), None);
    pace.prompted(COMMAND, seconds(205));
    assert_eq!(pace.waits_since(&LIMITS, seconds(206)), Some(seconds(205)), "it has had 5 s of its 10 s");
    for second in 206..=220 {
        pace.prompted(COMMAND, seconds(second));
    }
    assert_eq!(pace.waits_since(&LIMITS, seconds(220)), Some(seconds(210)));
}

#[test]
fn what_is_next_begins_once_the_replies_are_taken() {
    for prompt in [COMMAND, MAIL, DATA] {
        let mut pace = after(&[prompt]);
        assert_eq!(pace.waits_since(&LIMITS, seconds(9)), Some(seconds(0)), "while it lasts, its place can be had");
        pace.answered(seconds(250));
        let (at, end) = pace.deadline(&LIMITS, true);
        assert_eq!((at, end), (seconds(260), End::Stressed), "{prompt:?}");
    }
    // Octets of a message that were there before it had its reply keep their time.
    let mut pace = after(&[MAIL, DATA]);
    pace.heard(1, seconds(1));
    pace.answered(seconds(3));
    assert_eq!(pace.deadline(&LIMITS, true).0, seconds(10));
}
