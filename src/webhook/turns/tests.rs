use tempfile::TempDir;

use super::*;
use crate::clock::SystemClock;
use crate::dns::{DnsResolver, ResolverSettings};
use crate::mime::Parser;
use crate::model::{Caps, EmailId, EventId, PendingEvent, Place as Stored, Timestamp, Verdict};
use crate::store::{EmbeddedStore, OutboxLimits, StoreOptions};
use crate::webhook::{Bodies, Caller, CallerSettings, End, Guard, GuardSettings, Known, Schedule, Target};

const HOUR: Duration = Duration::from_hours(1);
const PACING: PacingLimits = PacingLimits { in_flight_per_endpoint: 4, in_flight: 64, per_minute: 600 };
/// A message whose body may take half of the room that endpoints which are not prompt have.
const LARGE: u64 = 2 << 20;

fn turns() -> (Turns, TempDir) {
    turns_with(PACING)
}

fn turns_with(pacing: PacingLimits) -> (Turns, TempDir) {
    let dir = tempfile::tempdir().expect("tempdir");
    let options = StoreOptions {
        retention: None,
        message_octets_max: 64 << 10,
        segment_octets: 1 << 20,
        index_cache_octets: 1 << 20,
        checkpoint_octets: 128 << 10,
        checkpoint_quiet: Duration::from_millis(5),
        outbox: OutboxLimits::default(),
        caps: Caps::default(),
    };
    let guard = Arc::new(Guard::new(GuardSettings::default()));
    let resolver = Arc::new(DnsResolver::new(ResolverSettings::new(Vec::new())));
    let delivery = Arc::new(Delivery {
        outbox: Arc::new(EmbeddedStore::open(dir.path(), &options).expect("open")),
        parser: Parser::start(1).expect("parser"),
        bodies: Bodies::default(),
        caller: Caller::new(CallerSettings::default(), guard, resolver, Arc::new(SystemClock)).expect("caller"),
        schedule: Schedule::default(),
        grace: HOUR,
        clock: Arc::new(SystemClock),
        counters: Arc::default(),
    });
    let mut turns = Turns::new(&delivery, pacing, Arc::default());
    assert!(turns.begin_look());
    turns.intake.looked(Ok(Vec::new()));
    sleeps(&mut turns);
    (turns, dir)
}

/// The worker has done what there was to do.
fn sleeps(turns: &mut Turns) {
    let (pause, _) = turns.pause(HOUR);
    assert!(!pause.is_zero() && !turns.wants_worker());
}

/// Queues an event of a message with so many octets, at an endpoint of its own.
fn add(turns: &mut Turns, number: u8, size_octets: u64) {
    let webhook = WebhookId::from_octets([number; 16]);
    let event = PendingEvent {
        id: EventId::from_octets([number; 16]),
        webhook,
        email: EmailId::fresh(Timestamp::from_millis(0)),
        sequence: u64::from(number),
        attempts: 0,
        due_at: Timestamp::from_millis(0),
        received_at: Timestamp::from_millis(0),
        expires_at: Timestamp::MAX,
        size_octets,
        place: Stored([0; 16]),
    };
    let endpoint = Target::parse(&format!("http://host{number}.example/")).expect("url").endpoint().clone();
    turns.lanes.add(endpoint, webhook, Known::Nothing, [Queued { event, rendered: None }], turns.clock.boot());
}

/// What is to be noted of an attempt.
fn record(event: &PendingEvent, verdict: Verdict) -> AttemptRecord {
    AttemptRecord {
        webhook: event.webhook,
        event: event.id,
        email: Some(event.email),
        sequence: event.sequence,
        number: 1,
        at: Timestamp::from_millis(0),
        duration_millis: 1,
        status: Some(200),
        error: None,
        response: String::new(),
        verdict,
        disables: None,
        rests_until: None,
    }
}

/// Ends an attempt whose receiver took the event.
fn end(turns: &mut Turns, turn: Turn) {
    end_with(turns, turn, Verdict::Delivered);
}

fn end_with(turns: &mut Turns, turn: Turn, verdict: Verdict) {
    let attempt =
        Attempt { record: Some(record(&turn.queued.event, verdict)), end: Some(End::Taken), ..Attempt::default() };
    turns.end(Attempted { place: turn.place, event: turn.event, attempt });
}

/// The next note, once the pause after the last one is over.
fn next_note(turns: &mut Turns) -> Note {
    turns.noted_at = Duration::ZERO;
    turns.next_note().expect("a note")
}

#[test]
fn the_worker_is_wanted_while_others_have_a_turn() {
    let (mut turns, _dir) = turns();
    add(&mut turns, 1, 1);
    add(&mut turns, 2, 1);
    let _first = turns.next().expect("a turn");
    // Not only once the first turns out to hang.
    turns.pause(Duration::ZERO);
    assert!(turns.wants_worker());
    let _second = turns.next().expect("a turn");
    assert!(!turns.wants_worker());
}

#[test]
fn the_worker_is_wanted_to_note_what_ended_unless_it_does() {
    let (mut turns, _dir) = turns();
    for number in [1, 2] {
        add(&mut turns, number, 1);
    }
    let (first, second) = (turns.next().expect("a turn"), turns.next().expect("a turn"));
    end(&mut turns, first);
    assert!(turns.wants_worker());
    let note = next_note(&mut turns);
    end(&mut turns, second);
    assert!(!turns.wants_worker() && turns.next_note().is_none());
    turns.noted(note.events);
    assert!(turns.wants_worker());
    assert_eq!(next_note(&mut turns).events.len(), 1);
}

#[test]
fn who_waits_for_a_note_goes_on_when_it_is_made_and_not_when_there_may_be_another() {
    let (mut turns, _dir) = turns();
    (0..5).for_each(|_| add(&mut turns, 1, 1));
    for _ in 0..4 {
        let turn = turns.next().expect("a turn");
        end(&mut turns, turn);
    }
    assert!(turns.next().is_none(), "four are not noted");
    let note = next_note(&mut turns);
    sleeps(&mut turns);
    turns.noted(note.events);
    assert!(turns.wants_worker() && turns.next().is_some());
}

#[test]
fn few_attempts_in_all_are_made_while_nothing_is_noted() {
    let (mut turns, _dir) = turns_with(PacingLimits { in_flight_per_endpoint: 8, ..PACING });
    let mut made = 0;
    for number in 0..=u8::MAX {
        (0..8).for_each(|_| add(&mut turns, number, 1));
    }
    while let Some(turn) = turns.next() {
        end(&mut turns, turn);
        made += 1;
    }
    assert_eq!(made, UNNOTED_MAX);
    let note = next_note(&mut turns);
    turns.noted(note.events);
    assert!(turns.next().is_some());
}

/// How many attempts can be made that are not noted, after 96 that are; 4 at once, all with this verdict.
fn unnoted_after_a_hundred(verdict: Verdict) -> usize {
    let (mut turns, _dir) = turns();
    (0..200).for_each(|_| add(&mut turns, 1, 1));
    let mut made = 0;
    for _ in 0..=25 {
        made = 0;
        while let Some(turn) = turns.next() {
            end_with(&mut turns, turn, verdict);
            made += 1;
        }
        let note = next_note(&mut turns);
        turns.noted(note.events);
    }
    made
}

#[test]
fn only_what_was_taken_lets_more_be_told_that_is_not_noted() {
    assert_eq!(unnoted_after_a_hundred(Verdict::Delivered), 5);
    assert_eq!(unnoted_after_a_hundred(Verdict::Retry(Timestamp::MAX)), 4);
}

#[test]
fn what_is_held_without_a_call_keeps_no_other_webhook_of_the_endpoint_waiting() {
    let (mut turns, _dir) = turns();
    (0..10).for_each(|_| add(&mut turns, 1, 1));
    turns.ending.insert(WebhookId::from_octets([1; 16]));
    assert!(turns.next().is_none());
    assert_eq!((turns.unnoted.len(), turns.lanes.wants_note()), (10, false));
}

#[test]
fn a_note_is_made_soon_where_an_endpoint_waits_for_it_and_at_once_at_the_end() {
    let (mut turns, _dir) = turns();
    (0..5).for_each(|_| add(&mut turns, 1, 1));
    let turn = turns.next().expect("a turn");
    end(&mut turns, turn);
    assert_eq!(turns.notes_at(), Some(NOTE_PAUSE_UNWANTED));
    while let Some(turn) = turns.next() {
        end(&mut turns, turn);
    }
    assert_eq!(turns.notes_at(), Some(NOTE_PAUSE));
    let note = next_note(&mut turns);
    assert!(turns.notes_at().is_none());
    turns.noted(note.events);
    let turn = turns.next().expect("a turn");
    end(&mut turns, turn);
    // Nobody waits any more.
    assert_eq!(turns.notes_at(), Some(turns.noted_at + NOTE_PAUSE_UNWANTED));
    turns.close();
    assert_eq!(turns.notes_at(), Some(turns.noted_at));
}

#[test]
fn the_worker_is_wanted_once_for_what_waits_for_room_and_again_when_there_is_some() {
    let (mut turns, _dir) = turns();
    for number in [1, 2, 3] {
        add(&mut turns, number, LARGE);
    }
    let (first, _second) = (turns.next().expect("a turn"), turns.next().expect("a turn"));
    assert!(turns.next().is_none() && turns.wants_worker());
    sleeps(&mut turns);
    turns.wake_parked();
    assert!(!turns.wants_worker(), "there is no room");
    drop(first.share);
    turns.wake_parked();
    assert!(turns.waits_for_room() == [false, false] && turns.wants_worker(), "it is to be looked for");
}

#[test]
fn what_came_out_for_room_that_it_does_not_take_leaves_that_to_others() {
    let (mut turns, _dir) = turns();
    for number in [1, 2, 3, 4, 5] {
        add(&mut turns, number, LARGE);
    }
    let (first, second) = (turns.next().expect("a turn"), turns.next().expect("a turn"));
    assert!(turns.next().is_none());
    drop((first.share, second.share));
    turns.wake_parked();
    assert_eq!(turns.parked[0].len(), 1);
    turns.wake_parked();
    assert_eq!(turns.waits_for_room(), [false, false]);
}

#[test]
fn what_waits_for_room_for_long_is_tried_again_without() {
    let (mut turns, _dir) = turns();
    for number in [1, 2, 3] {
        add(&mut turns, number, LARGE);
    }
    let _in_flight = [turns.next().expect("a turn"), turns.next().expect("a turn")];
    assert!(turns.next().is_none());
    let (room, now) = (Arc::clone(&turns.room), turns.clock.boot());
    assert!(room.take_out(&mut turns.parked, now).is_empty());
    assert_eq!(room.take_out(&mut turns.parked, now + Duration::from_secs(5)).len(), 1);
}

#[test]
fn the_worker_is_wanted_to_read_and_to_look_before_it_meant_to() {
    let (mut turns, _dir) = turns();
    let webhook = WebhookId::from_octets([1; 16]);
    turns.intake.looked(Ok(vec![(webhook, None)]));
    assert!(turns.wants_worker());
    let _reading = turns.next_reading().expect("a page");
    assert!(!turns.wants_worker());
    turns.intake.let_go((webhook, 1));
    assert!(turns.wants_worker());
}

/// Whether a look begins once that is due by a hint.
fn begins_look(turns: &mut Turns) -> bool {
    turns.intake.look_soon();
    // The shortest pause between two looks.
    std::thread::sleep(Duration::from_millis(25));
    turns.begin_look()
}

#[test]
fn a_read_that_ends_during_a_look_does_not_end_the_look() {
    let (mut turns, _dir) = turns();
    assert!(begins_look(&mut turns));
    turns.intake.end_look_if_over();
    assert!(!begins_look(&mut turns));
    turns.intake.looked(Ok(Vec::new()));
    while !begins_look(&mut turns) {}
}

#[test]
fn who_rests_by_the_store_is_read_again_when_that_is_over_and_not_only_at_the_next_look() {
    let (mut turns, _dir) = turns();
    let (webhook, rest) = (WebhookId::from_octets([1; 16]), Duration::from_millis(300));
    turns.intake.looked(Ok(vec![(webhook, None)]));
    assert!(turns.next_reading().is_some());
    let endpoint = Target::parse("http://host1.example/").expect("url").endpoint().clone();
    let known = Known::Nothing;
    let batch = Batch { endpoint, known, events: Vec::new(), has_more: true, next_due_at: None, rest: Some(rest) };
    let since = turns.clock.boot();
    turns.queue(Read { webhook, is_of_look: true, checked: None, batch: Ok(Some(batch)) });
    let wakes_at = turns.intake.wakes_at().expect("a look");
    assert!((since + rest..=turns.clock.boot() + rest).contains(&wakes_at), "{:?}", wakes_at.saturating_sub(since));
    assert!(turns.intake.is_resting(webhook) && turns.next_reading().is_none());
}

#[test]
fn nobody_has_a_turn_once_it_is_closed() {
    let (mut turns, _dir) = turns();
    add(&mut turns, 1, 1);
    turns.close();
    assert!(turns.next().is_none() && !turns.wants_worker());
}
