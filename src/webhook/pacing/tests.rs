use super::super::target::Target;
use super::standing::PROMPT_AFTER;
use super::*;

mod hostile;

const START: Duration = Duration::from_secs(1000);
const WEBHOOK: WebhookId = WebhookId::from_octets([7; 16]);

fn endpoint(number: usize) -> Endpoint {
    Target::parse(&format!("https://host{number}.example/a")).expect("url").endpoint().clone()
}

fn limits(in_flight_per_endpoint: usize, in_flight: usize, per_minute: usize) -> PacingLimits {
    PacingLimits { in_flight_per_endpoint, in_flight, per_minute }
}

/// Lanes, and the places that are taken of them.
struct Run {
    lanes: Lanes<usize>,
    flying: VecDeque<Place>,
}

impl Run {
    fn new(limits: PacingLimits) -> Self {
        Self { lanes: Lanes::new(limits), flying: VecDeque::new() }
    }

    /// The same with endpoints `numbers` that have taken as many events in time as make them prompt, right before `START`.
    fn with_prompt(limits: PacingLimits, numbers: impl IntoIterator<Item = usize>) -> Self {
        let mut run = Self::new(limits);
        let before = START.checked_sub(Duration::from_secs(30)).expect("later");
        for number in numbers {
            for _ in 0..8 {
                run.add(number, Known::Good, [0]);
                assert_eq!(run.drain(before), [0]);
                run.done(number, Some(End::Taken), before);
            }
        }
        run
    }

    fn add(&mut self, number: usize, known: Known, items: impl IntoIterator<Item = usize>) {
        self.lanes.add(endpoint(number), WEBHOOK, known, items, Duration::ZERO);
    }

    fn next(&mut self, now: Duration) -> Option<usize> {
        let (place, item) = self.lanes.next(now)?;
        self.flying.push_back(place);
        Some(item)
    }

    /// Every item that can be had at `now` without anything being done.
    fn drain(&mut self, now: Duration) -> Vec<usize> {
        std::iter::from_fn(|| self.next(now)).collect()
    }

    /// The oldest attempt at an endpoint is over.
    fn done(&mut self, number: usize, end: Option<End>, now: Duration) {
        let lane = self.lanes.lane_numbers[&endpoint(number)];
        let at = self.flying.iter().position(|place| place.lane() == lane).expect("one is in flight");
        let place = self.flying.remove(at).expect("it is there");
        self.lanes.done(place, end, now);
    }
}

#[test]
fn items_of_one_endpoint_keep_their_order_and_their_bound() {
    let mut run = Run::with_prompt(limits(4, 100, 1000), [1]);
    run.add(1, Known::Nothing, 0..10);
    assert_eq!(run.drain(START), [0, 1, 2, 3]);
    assert_eq!((run.lanes.in_flight(), run.lanes.queued(), run.lanes.queued_at(&endpoint(1))), (4, 6, 6));
    assert_eq!(run.lanes.wakes_at(), None);
    run.done(1, Some(End::Taken), START);
    assert_eq!(run.drain(START), [4]);
    run.done(1, Some(End::Taken), START);
    run.done(1, Some(End::Taken), START);
    assert_eq!(run.drain(START), [5, 6]);
}

#[test]
fn webhooks_that_share_an_endpoint_take_turns() {
    let mut run = Run::new(limits(4, 100, 1000));
    run.add(1, Known::Nothing, 0..100);
    let other = WebhookId::from_octets([8; 16]);
    run.lanes.add(endpoint(1), other, Known::Nothing, [100, 101], Duration::ZERO);
    let mut turns = Vec::new();
    for _ in 0..5 {
        turns.extend(run.next(START));
        run.done(1, Some(End::Taken), START);
    }
    assert_eq!((turns, run.lanes.queued_at(&endpoint(1))), (vec![0, 100, 1, 101, 2], 97));
}

#[test]
fn all_prompt_endpoints_together_have_half_of_the_places() {
    let mut run = Run::with_prompt(limits(4, 12, 1000), 0..5);
    for item in 0..20 {
        run.add(item % 5, Known::Nothing, [item]);
    }
    assert_eq!(run.drain(START), [0, 1, 2, 3, 4, 5]);
    run.done(3, Some(End::Taken), START);
    assert_eq!(run.drain(START), [6]);
}

#[test]
fn an_endpoint_that_was_good_before_has_one_place_until_it_is_so_again() {
    let mut run = Run::new(limits(4, 100, 1000));
    run.add(1, Known::Good, 0..20);
    for item in 0..8 {
        assert_eq!(run.drain(START), [item]);
        run.done(1, Some(End::Taken), START);
    }
    assert_eq!(run.drain(START), [8, 9, 10, 11]);
}

#[test]
fn an_endpoint_with_10_000_items_does_not_delay_100_others() {
    let mut run = Run::with_prompt(limits(4, 16, 100_000), 0..=100);
    run.add(0, Known::Nothing, 0..10_000);
    // The black hole has its four places before the others come, and holds them.
    assert_eq!(run.drain(START), [0, 1, 2, 3]);
    for other in 1..=100 {
        run.add(other, Known::Nothing, [10_000 + other]);
    }
    let mut served = 0;
    while served < 100 {
        for item in run.drain(START) {
            assert!(item > 10_000, "the black hole got a fifth place");
            served += 1;
            run.done(item - 10_000, Some(End::Taken), START);
        }
    }
    assert_eq!(run.lanes.queued(), 10_000 - 4);
}

#[test]
fn endpoints_take_turns_even_if_all_answer_at_once() {
    let mut run = Run::new(limits(4, 1, 100_000));
    run.add(0, Known::Good, 0..10_000);
    for other in 1..=100 {
        run.add(other, Known::Good, [10_000, 10_001]);
    }
    let mut of_the_long_queue = 0;
    for _ in 0..202 {
        let (place, _) = run.lanes.next(START).expect("an item");
        of_the_long_queue += usize::from(place.lane() == run.lanes.lane_numbers[&endpoint(0)]);
        run.lanes.done(place, Some(End::Taken), START);
    }
    assert_eq!(of_the_long_queue, 2, "of two rounds");
    assert_eq!(run.lanes.queued(), 9_998);
}

#[test]
fn an_endpoint_is_called_at_most_so_often_in_any_minute() {
    let mut run = Run::new(limits(4, 100, 5));
    run.add(1, Known::Good, 0..100);
    let mut starts: Vec<Duration> = Vec::new();
    for second in 0..180 {
        let now = START + Duration::from_secs(second);
        // One turn every seven seconds, and then as many as there are.
        for _ in 0..if second < 30 { usize::from(second % 7 == 0) } else { 100 } {
            // Nor does a turn count in which it is not called.
            for end in [None, Some(End::Taken)] {
                let Some((place, _)) = run.lanes.next(now) else { break };
                run.lanes.done(place, end, now);
                starts.extend(end.map(|_| now));
            }
        }
    }
    for window in starts.windows(6) {
        assert!(window[5] >= window[0] + MINUTE, "{window:?}");
    }
    assert_eq!(starts.len(), 15, "the share of each minute is had");
}

#[test]
fn a_resting_endpoint_says_when_it_wakes_and_holds_nobody_up() {
    let mut run = Run::new(limits(4, 100, 1));
    run.add(1, Known::Good, [1, 2]);
    run.add(2, Known::Good, [3]);
    assert_eq!(run.drain(START), [1, 3]);
    run.done(1, Some(End::Taken), START);
    assert!(run.drain(START).is_empty());
    assert_eq!(run.lanes.wakes_at(), Some(START + MINUTE));
    assert!(run.drain(START + Duration::from_millis(59_999)).is_empty());
    run.add(3, Known::Good, [4]);
    assert_eq!(run.drain(START + Duration::from_secs(30)), [4]);
    assert_eq!(run.drain(START + MINUTE), [2]);
    assert_eq!(run.lanes.wakes_at(), None);
}

#[test]
fn emptying_its_queue_does_not_give_an_endpoint_another_share() {
    let mut run = Run::new(limits(4, 100, 2));
    for item in 0..2 {
        run.add(1, Known::Good, [item]);
        assert_eq!(run.drain(START), [item]);
        run.done(1, Some(End::Taken), START);
    }
    let later = START + Duration::from_secs(59);
    assert!(run.drain(later).is_empty());
    run.add(1, Known::Good, [2]);
    assert!(run.drain(later).is_empty());
    assert_eq!(run.drain(START + MINUTE), [2]);
}

#[test]
fn an_item_for_an_idle_endpoint_has_its_turn_at_once() {
    let mut run = Run::new(limits(4, 100, 10));
    for item in 0..5 {
        run.add(1, Known::Nothing, [item]);
        assert_eq!(run.drain(START), [item]);
        run.done(1, Some(End::Taken), START);
        assert!(run.drain(START).is_empty());
    }
}

#[test]
fn idle_endpoints_are_forgotten() {
    let mut run = Run::new(limits(4, 10_000, 10));
    for number in 0..1000 {
        run.add(number, Known::Good, [number]);
    }
    assert_eq!(run.drain(START).len(), 1000);
    for number in 1..1000 {
        run.done(number, Some(End::Taken), START);
    }
    assert_eq!(run.lanes.endpoints(), 1000);
    assert!(run.drain(START + MINUTE).is_empty());
    assert_eq!(run.lanes.endpoints(), 1, "one attempt is still in flight");
    run.done(0, Some(End::Taken), START);
    assert!(run.drain(START + 2 * MINUTE).is_empty());
    assert_eq!((run.lanes.endpoints(), run.lanes.in_flight()), (0, 0));
    // Another has the lane that was the first one's.
    run.add(7, Known::Good, 0..3);
    run.add(0, Known::Good, 0..2);
    assert_eq!([7, 0].map(|number| run.lanes.queued_at(&endpoint(number))), [3, 2]);
}

#[test]
fn an_endpoint_that_fails_running_rests_and_then_has_one_turn() {
    let mut run = Run::with_prompt(limits(4, 64, 1000), [1]);
    run.add(1, Known::Nothing, 0..20);
    assert_eq!(run.drain(START), [0, 1, 2, 3]);
    for _ in 0..4 {
        run.done(1, Some(End::Refused), START);
    }
    assert!(run.drain(START).is_empty());
    let woken = START + Duration::from_millis(100);
    assert_eq!(run.lanes.wakes_at(), Some(woken));
    run.add(2, Known::Nothing, [99]);
    assert_eq!(run.drain(START), [99], "nobody else rests");
    assert_eq!(run.drain(woken), [4]);
    run.done(1, None, woken);
    assert_eq!(run.drain(woken), [5], "an event that was not sent says nothing");
    run.done(1, Some(End::Taken), woken);
    assert_eq!(run.drain(woken), [6, 7, 8, 9]);
}

#[test]
fn the_turns_of_all_endpoints_are_one_order() {
    let mut run = Run::new(limits(4, 2, 1000));
    for (number, known) in
        [(1, Known::Good), (2, Known::Nothing), (3, Known::Bad), (4, Known::Nothing), (5, Known::Good)]
    {
        run.add(number, known, [number]);
    }
    let mut order = Vec::new();
    while let Some((place, item)) = run.lanes.next(START) {
        order.push(item);
        run.lanes.done(place, Some(End::Taken), START);
    }
    assert_eq!(order, [1, 2, 3, 4, 5]);
}

/// Makes attempts until the endpoint has to wait for a note; how many.
fn make_unnoted(run: &mut Run, now: Duration) -> Vec<Unnoted> {
    let next = || run.lanes.next(now).map(|(place, _)| run.lanes.over(place, Some(End::Taken), now));
    std::iter::from_fn(next).collect()
}

fn note_all(run: &mut Run, attempts: Vec<Unnoted>, are_taken: bool) {
    for attempt in attempts {
        run.lanes.noted(attempt, are_taken);
    }
}

#[test]
fn one_in_a_hundred_of_what_an_endpoint_took_may_be_told_that_is_not_noted() {
    let mut run = Run::with_prompt(limits(4, 100, 1_000_000), [1]);
    run.add(1, Known::Nothing, 0..100_000);
    // None of those before counts: nothing was noted of them.
    let mut taken = 0;
    for _ in 0..500 {
        let unnoted = make_unnoted(&mut run, START);
        assert_eq!(unnoted.len(), 4 + (taken / 100).min(128), "{taken} taken");
        taken += unnoted.len();
        note_all(&mut run, unnoted, true);
    }
    assert!(taken > 12_800);
}

#[test]
fn what_an_endpoint_did_not_take_lets_no_more_be_told_and_each_has_its_own() {
    let mut run = Run::with_prompt(limits(4, 100, 1_000_000), [1, 2]);
    run.add(1, Known::Nothing, 0..10_000);
    for _ in 0..1000 {
        let unnoted = make_unnoted(&mut run, START);
        assert_eq!(unnoted.len(), 4);
        note_all(&mut run, unnoted, false);
    }
    let _unnoted = make_unnoted(&mut run, START);
    run.add(2, Known::Nothing, 0..10);
    assert_eq!(run.drain(START).len(), 4, "those in flight count as well");
    run.done(2, Some(End::Taken), START);
    assert_eq!(run.drain(START).len(), 1);
}

#[test]
fn what_is_in_flight_and_what_is_not_noted_have_one_bound() {
    let mut run = Run::with_prompt(limits(4, 100, 1000), [1]);
    run.add(1, Known::Nothing, 0..10);
    let (place, _) = run.lanes.next(START).expect("a turn");
    let unnoted = run.lanes.over(place, Some(End::Taken), START);
    assert_eq!(run.drain(START), [1, 2, 3]);
    run.lanes.noted(unnoted, true);
    assert_eq!(run.drain(START), [4]);
}

#[test]
fn an_endpoint_is_remembered_while_something_of_it_is_not_noted() {
    let mut run = Run::new(limits(4, 100, 1000));
    run.add(1, Known::Nothing, 0..4);
    let unnoted = make_unnoted(&mut run, START);
    let later = |hours| START + Duration::from_hours(hours);
    assert_eq!((unnoted.len(), run.next(later(1)), run.lanes.endpoints()), (4, None, 1));
    note_all(&mut run, unnoted, true);
    assert_eq!((run.next(later(2)), run.lanes.endpoints()), (None, 0));
}
