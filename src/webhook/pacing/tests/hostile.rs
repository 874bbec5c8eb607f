//! Endpoints that hang, each by itself or all of them as one.

use super::*;

/// As long as an attempt takes that hangs.
const TIMEOUT: Duration = Duration::from_secs(15);
/// After so long it is known to hang.
const HANGING: Duration = Duration::from_millis(1001);

fn at(millis: u64) -> Duration {
    START + Duration::from_millis(millis)
}

#[test]
fn a_thousand_new_endpoints_that_hang_leave_the_prompt_ones_their_places() {
    let mut run = Run::with_prompt(limits(4, 64, 1000), 2000..2100);
    for number in 0..1000 {
        run.add(number, Known::Nothing, [number; 10]);
    }
    assert_eq!(run.drain(START), (0..24).collect::<Vec<_>>(), "one each");
    for number in 1000..1010 {
        run.add(number, Known::Bad, [number; 10]);
    }
    assert!(run.drain(START).is_empty());
    for number in 2000..2100 {
        run.add(number, Known::Nothing, [number]);
    }
    for first in (2000..2100).step_by(20) {
        let last = (first + 20).min(2100);
        assert_eq!(run.drain(START), (first..last).collect::<Vec<_>>(), "half of the rest");
        (first..last).for_each(|number| run.done(number, Some(End::Taken), START));
    }
    assert!(run.drain(START).is_empty(), "the others wait for those that hang");
    run.done(7, Some(End::Taken), START);
    assert_eq!(run.drain(START), [24, 7], "in their order; and one that answers");
}

#[test]
fn those_that_hang_leave_places_to_those_that_are_new_and_both_to_those_that_answer() {
    let mut run = Run::new(limits(4, 64, 1000));
    for number in 2000..2020 {
        run.add(number, Known::Nothing, [number]);
        assert_eq!(run.drain(START), [number]);
        run.done(number, Some(End::Refused), START);
    }
    for number in 0..1000 {
        run.add(number, Known::Bad, [number; 10]);
    }
    assert_eq!(run.drain(START), (0..16).collect::<Vec<_>>());
    for number in 1000..1020 {
        run.add(number, Known::Nothing, [number; 10]);
    }
    assert_eq!(run.drain(START), (1000..1008).collect::<Vec<_>>(), "before those that wait for longer");
    for number in 2000..2020 {
        run.add(number, Known::Nothing, [number]);
    }
    assert_eq!(run.drain(START), (2000..2008).collect::<Vec<_>>());
    run.done(2003, Some(End::Taken), START);
    assert_eq!(run.drain(START), [2008]);
}

#[test]
fn an_endpoint_that_hangs_has_one_turn_until_it_takes_several_events_in_time() {
    let mut run = Run::with_prompt(limits(4, 64, 1000), [1]);
    run.add(1, Known::Nothing, 0..20);
    assert_eq!(run.drain(START), [0, 1, 2, 3]);
    for _ in 0..3 {
        run.done(1, Some(End::Hung), START);
        assert!(run.drain(START).is_empty(), "one is still in flight");
    }
    run.done(1, Some(End::TakenLate), START);
    for item in 4..12 {
        assert_eq!(run.drain(START), [item]);
        run.done(1, Some(End::Taken), START);
    }
    assert_eq!(run.drain(START), [12, 13, 14, 15]);
}

#[test]
fn an_attempt_that_hangs_has_its_place_of_the_doubtful_from_its_second_on() {
    let mut run = Run::with_prompt(limits(4, 16, 1000), [1, 2, 3]);
    for number in [1, 2, 3] {
        run.add(number, Known::Nothing, [number; 10]);
    }
    assert_eq!(run.drain(START), [1, 2, 3, 1, 2, 3, 1, 2], "half of 16");
    assert_eq!(run.lanes.wakes_at(), Some(START + Duration::from_secs(1) + Duration::from_nanos(1)));
    for number in [2, 2, 2, 3, 3] {
        run.done(number, Some(End::Taken), at(900));
    }
    assert_eq!(run.drain(at(900)).len(), 5);
    for number in 10..20 {
        run.add(number, Known::Nothing, [number]);
    }
    assert_eq!(run.drain(at(1000)).len(), 6, "a second is in time");
    for number in 10..16 {
        run.done(number, Some(End::Taken), at(1000));
    }
    for number in 10..16 {
        run.add(number, Known::Nothing, [number]);
    }
    assert_eq!(run.drain(START + HANGING).len(), 5, "half of 16, less the three that hang");
    run.add(1, Known::Nothing, [1]);
    for _ in 0..2 {
        run.done(1, Some(End::Hung), START + TIMEOUT);
        assert!(!run.drain(START + TIMEOUT).contains(&1), "its other attempt hangs");
    }
}

#[test]
fn what_seemed_to_hang_since_nobody_looked_is_judged_by_how_it_ended() {
    let mut run = Run::with_prompt(limits(4, 64, 1000), [1]);
    run.add(1, Known::Nothing, 0..20);
    assert_eq!(run.drain(START), [0, 1, 2, 3]);
    let late = START + Duration::from_secs(5);
    assert!(run.drain(late).is_empty());
    for _ in 0..4 {
        run.done(1, Some(End::Taken), late);
    }
    assert_eq!(run.drain(late), [4, 5, 6, 7]);
}

#[test]
fn an_endpoint_that_hung_is_doubtful_for_two_minutes_and_remembered() {
    // The doubtful have one place, and that hangs.
    let mut run = Run::with_prompt(limits(4, 2, 1000), [1]);
    run.add(1, Known::Good, [0]);
    assert_eq!(run.drain(START), [0]);
    run.done(1, Some(End::Hung), START);
    run.add(1, Known::Good, 1..=8);
    for item in 1..=8 {
        assert_eq!(run.drain(START), [item]);
        run.done(1, Some(End::Taken), START);
    }
    run.add(2, Known::Nothing, [99]);
    assert_eq!(run.drain(START), [99]);
    run.add(1, Known::Good, [9, 10]);
    for seconds in [0, 60, 119] {
        assert!(run.drain(START + Duration::from_secs(seconds)).is_empty(), "{seconds}");
    }
    let later = START + PROMPT_AFTER;
    run.done(2, Some(End::Hung), later);
    assert_eq!(run.drain(later), [9]);
    run.add(2, Known::Nothing, [99]);
    run.done(1, Some(End::Taken), later);
    assert_eq!(run.drain(later), [99, 10], "both have a place");
}

/// Endpoints that act as one: each takes events in time until it is prompt, and then leaves all hanging.
struct Colluders {
    /// Of each, when it hung last and how many events it has taken since.
    standings: Vec<(Duration, usize)>,
}

impl Colluders {
    /// When an attempt at one of them that starts at `now` ends, and how.
    fn end_of(&mut self, number: usize, now: Duration) -> (Duration, End) {
        let (hung_at, taken) = &mut self.standings[number];
        if *taken > 8 && *hung_at + PROMPT_AFTER < now {
            return (now + TIMEOUT, End::Hung);
        }
        *taken += 1;
        (now + Duration::from_millis(1), End::Taken)
    }
}

const HEALTHY: usize = 100;
const SECONDS: usize = 300;

/// Events that 100 healthy endpoints take in each second, each of which gets one a second and answers after 20 ms, beside
/// `colluders` that always have some waiting.
fn taken_by_healthy(colluders: usize) -> Vec<usize> {
    let mut hostile = Colluders { standings: vec![(at(0), 0); colluders] };
    let mut lanes = Lanes::new(limits(4, 128, 100));
    for number in HEALTHY..HEALTHY + colluders {
        lanes.add(endpoint(number), WEBHOOK, Known::Nothing, [number; 10], at(0));
    }
    let mut ends: BinaryHeap<Reverse<(Duration, usize)>> = BinaryHeap::new();
    let mut flying: Vec<Option<(Place, usize, End)>> = Vec::new();
    let mut taken = vec![0; SECONDS];
    for (hundredth, now) in (0..).map(|hundredth| (hundredth, at(10 * hundredth as u64))).take(SECONDS * 100) {
        let number = hundredth % HEALTHY;
        lanes.add(endpoint(number), WEBHOOK, Known::Good, [number], now);
        while ends.peek().is_some_and(|Reverse((end, _))| *end <= now) {
            let Some(Reverse((_, place))) = ends.pop() else { break };
            let (place, number, end) = flying[place].take().expect("it is in flight");
            lanes.done(place, Some(end), now);
            match number.checked_sub(HEALTHY) {
                None => taken[hundredth / 100] += 1,
                Some(hostile_number) => {
                    if end == End::Hung {
                        hostile.standings[hostile_number] = (now, 0);
                    }
                    lanes.add(endpoint(number), WEBHOOK, Known::Nothing, [number], now);
                }
            }
        }
        while let Some((place, number)) = lanes.next(now) {
            let (ends_at, end) = match number.checked_sub(HEALTHY) {
                None => (now + Duration::from_millis(20), End::Taken),
                Some(number) => hostile.end_of(number, now),
            };
            ends.push(Reverse((ends_at, flying.len())));
            flying.push(Some((place, number, end)));
        }
    }
    taken
}

#[test]
fn healthy_endpoints_go_on_beside_colluders_that_are_prompt_until_they_hang_together() {
    // Of those that could have all places at once, 32 delay the others by two seconds, 64 halve their rate for a while, and
    // 512 stop them once in two minutes for as long as an attempt may take; but nobody stops them for longer.
    for (colluders, window, least) in [(0, 1, 98), (16, 3, 200), (32, 3, 200), (64, 5, 150), (512, 16, 100)] {
        let taken = taken_by_healthy(colluders);
        let all: usize = taken.iter().sum();
        assert!(all >= 100 * SECONDS * 99 / 100, "{colluders} left {all}");
        let worst = taken.windows(window).map(|window| window.iter().sum::<usize>()).min();
        assert!(worst >= Some(least), "{colluders}: {worst:?} within {window} s");
    }
}
