use super::super::target::Target;
use super::*;

const START: Duration = Duration::from_secs(1000);

fn endpoint(number: usize) -> Endpoint {
    Target::parse(&format!("https://host{number}.example/a")).expect("url").endpoint().clone()
}

fn limits(in_flight_per_endpoint: usize, in_flight: usize, per_minute: usize) -> PacingLimits {
    PacingLimits { in_flight_per_endpoint, in_flight, per_minute }
}

/// Every item that can be had at `now` without anything being done.
fn drain(lanes: &mut Lanes<usize>, now: Duration) -> Vec<usize> {
    std::iter::from_fn(|| lanes.next(now).map(|(_, item)| item)).collect()
}

#[test]
fn items_of_one_endpoint_keep_their_order_and_their_bound() {
    let mut lanes = Lanes::new(limits(4, 100, 1000));
    for item in 0..10 {
        lanes.add(endpoint(1), true, item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3]);
    assert_eq!((lanes.in_flight(), lanes.queued(), lanes.queued_at(&endpoint(1))), (4, 6, 6));
    assert_eq!(lanes.wakes_at(), None);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    assert_eq!(drain(&mut lanes, START), [4]);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    assert_eq!(drain(&mut lanes, START), [5, 6]);
}

#[test]
fn all_endpoints_together_have_a_bound() {
    let mut lanes = Lanes::new(limits(4, 6, 1000));
    for item in 0..20 {
        lanes.add(endpoint(item % 5), true, item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3, 4, 5]);
    lanes.done(&endpoint(3), Some(End::Taken), START);
    assert_eq!(drain(&mut lanes, START), [6]);
}

#[test]
fn an_endpoint_with_10_000_items_does_not_delay_100_others() {
    let mut lanes = Lanes::new(limits(4, 8, 100_000));
    for item in 0..10_000 {
        lanes.add(endpoint(0), true, item);
    }
    let mut flying: VecDeque<Endpoint> = VecDeque::new();
    let mut turns = Vec::new();
    // The black hole has its four places before the others come, and holds them.
    turns.extend(drain(&mut lanes, START));
    assert_eq!(turns, [0, 1, 2, 3]);
    for other in 1..=100 {
        lanes.add(endpoint(other), true, 10_000 + other);
    }
    let mut served = 0;
    while served < 100 {
        while let Some((endpoint, item)) = lanes.next(START) {
            assert!(item > 10_000, "the black hole got a fifth place");
            flying.push_back(endpoint);
            served += 1;
        }
        lanes.done(&flying.pop_front().expect("someone is in flight"), Some(End::Taken), START);
    }
    assert_eq!(lanes.queued(), 10_000 - 4);
}

#[test]
fn endpoints_take_turns_even_if_all_answer_at_once() {
    let mut lanes = Lanes::new(limits(4, 1, 100_000));
    for item in 0..10_000 {
        lanes.add(endpoint(0), true, item);
    }
    for other in 1..=100 {
        lanes.add(endpoint(other), true, 10_000);
        lanes.add(endpoint(other), true, 10_001);
    }
    let mut of_the_long_queue = 0;
    for _ in 0..202 {
        let (endpoint_of_turn, _) = lanes.next(START).expect("an item");
        of_the_long_queue += usize::from(endpoint_of_turn == endpoint(0));
        lanes.done(&endpoint_of_turn, Some(End::Taken), START);
    }
    assert_eq!(of_the_long_queue, 2, "of two rounds");
    assert_eq!(lanes.queued(), 9_998);
}

#[test]
fn an_endpoint_is_called_at_most_so_often_in_any_minute() {
    let mut lanes = Lanes::new(limits(4, 100, 5));
    for item in 0..100 {
        lanes.add(endpoint(1), true, item);
    }
    let mut starts: Vec<Duration> = Vec::new();
    for second in 0..180 {
        let now = START + Duration::from_secs(second);
        // One turn every seven seconds, and then as many as there are.
        for _ in 0..if second < 30 { usize::from(second % 7 == 0) } else { 100 } {
            let Some((endpoint, _)) = lanes.next(now) else { break };
            lanes.done(&endpoint, Some(End::Taken), now);
            starts.push(now);
        }
    }
    for window in starts.windows(6) {
        assert!(window[5] >= window[0] + MINUTE, "{window:?}");
    }
    assert_eq!(starts.len(), 15, "the share of each minute is had");
}

#[test]
fn a_resting_endpoint_says_when_it_wakes_and_holds_nobody_up() {
    let mut lanes = Lanes::new(limits(4, 100, 1));
    lanes.add(endpoint(1), true, 1);
    lanes.add(endpoint(1), true, 2);
    lanes.add(endpoint(2), true, 3);
    assert_eq!(drain(&mut lanes, START), [1, 3]);
    assert_eq!(lanes.wakes_at(), Some(START + MINUTE));
    assert!(drain(&mut lanes, START + Duration::from_millis(59_999)).is_empty());
    lanes.add(endpoint(3), true, 4);
    assert_eq!(drain(&mut lanes, START + Duration::from_secs(30)), [4]);
    assert_eq!(drain(&mut lanes, START + MINUTE), [2]);
    assert_eq!(lanes.wakes_at(), None);
}

#[test]
fn emptying_its_queue_does_not_give_an_endpoint_another_share() {
    let mut lanes = Lanes::new(limits(4, 100, 2));
    for item in 0..2 {
        lanes.add(endpoint(1), true, item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1]);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    let later = START + Duration::from_secs(59);
    assert!(drain(&mut lanes, later).is_empty());
    lanes.add(endpoint(1), true, 2);
    assert!(drain(&mut lanes, later).is_empty());
    assert_eq!(drain(&mut lanes, START + MINUTE), [2]);
}

#[test]
fn an_item_for_an_idle_endpoint_has_its_turn_at_once() {
    let mut lanes = Lanes::new(limits(4, 100, 10));
    for item in 0..5 {
        lanes.add(endpoint(1), true, item);
        assert_eq!(drain(&mut lanes, START), [item]);
        lanes.done(&endpoint(1), Some(End::Taken), START);
        assert!(drain(&mut lanes, START).is_empty());
    }
}

#[test]
fn idle_endpoints_are_forgotten() {
    let mut lanes = Lanes::new(limits(4, 10_000, 10));
    for number in 0..1000 {
        lanes.add(endpoint(number), true, number);
    }
    assert_eq!(drain(&mut lanes, START).len(), 1000);
    for number in 1..1000 {
        lanes.done(&endpoint(number), Some(End::Taken), START);
    }
    assert_eq!(lanes.endpoints(), 1000);
    assert!(drain(&mut lanes, START + MINUTE).is_empty());
    assert_eq!(lanes.endpoints(), 1, "one attempt is still in flight");
    lanes.done(&endpoint(0), Some(End::Taken), START);
    assert!(drain(&mut lanes, START + 2 * MINUTE).is_empty());
    assert_eq!(lanes.endpoints(), 0);
}

#[test]
fn done_without_an_attempt_changes_nothing() {
    let mut lanes = Lanes::new(limits(1, 1, 10));
    lanes.done(&endpoint(1), Some(End::Taken), START);
    lanes.add(endpoint(1), true, 1);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    assert_eq!(drain(&mut lanes, START), [1]);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    assert_eq!(lanes.in_flight(), 0);
}

/// Endpoints `numbers` of which nothing is known, each with `items` items that are the endpoint's number.
fn add_unknown(lanes: &mut Lanes<usize>, numbers: std::ops::Range<usize>, items: usize) {
    for number in numbers {
        for _ in 0..items {
            lanes.add(endpoint(number), false, number);
        }
    }
}

#[test]
fn a_thousand_new_endpoints_that_hang_leave_half_of_the_turns_to_the_prompt_ones() {
    let mut lanes = Lanes::new(limits(4, 64, 1000));
    add_unknown(&mut lanes, 0..1000, 10);
    assert_eq!(drain(&mut lanes, START), (0..32).collect::<Vec<_>>(), "one each, and half in all");
    for number in 2000..2100 {
        lanes.add(endpoint(number), true, number);
    }
    for first in [2000, 2032, 2064, 2096] {
        let last = (first + 32).min(2100);
        assert_eq!(drain(&mut lanes, START), (first..last).collect::<Vec<_>>());
        for number in first..last {
            lanes.done(&endpoint(number), Some(End::Taken), START);
        }
    }
    assert!(drain(&mut lanes, START).is_empty(), "the others wait for those that hang");
    lanes.done(&endpoint(7), Some(End::Silent), START);
    assert_eq!(drain(&mut lanes, START), [32], "in their order");
}

#[test]
fn an_endpoint_that_hangs_has_one_turn_until_it_takes_an_event_in_time() {
    let mut lanes = Lanes::new(limits(4, 64, 1000));
    for item in 0..20 {
        lanes.add(endpoint(1), true, item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3]);
    for _ in 0..3 {
        lanes.done(&endpoint(1), Some(End::Silent), START);
        assert!(drain(&mut lanes, START).is_empty(), "one is still in flight");
    }
    lanes.done(&endpoint(1), Some(End::TakenLate), START);
    assert_eq!(drain(&mut lanes, START), [4]);
    lanes.done(&endpoint(1), Some(End::Taken), START);
    assert_eq!(drain(&mut lanes, START), [5, 6, 7, 8]);
}

#[test]
fn what_a_prompt_endpoint_leaves_hanging_counts_as_doubtful() {
    let mut lanes = Lanes::new(limits(4, 8, 1000));
    for item in 0..4 {
        lanes.add(endpoint(1), true, item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3]);
    lanes.done(&endpoint(1), Some(End::Silent), START);
    add_unknown(&mut lanes, 10..20, 1);
    assert_eq!(drain(&mut lanes, START), [10], "the fourth of the half of 8");
}

#[test]
fn an_endpoint_that_fails_running_rests_and_then_has_one_turn() {
    let mut lanes = Lanes::new(limits(4, 64, 1000));
    for item in 0..20 {
        lanes.add(endpoint(1), true, item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3]);
    for _ in 0..4 {
        lanes.done(&endpoint(1), Some(End::Refused), START);
    }
    assert!(drain(&mut lanes, START).is_empty());
    let woken = START + Duration::from_millis(100);
    assert_eq!(lanes.wakes_at(), Some(woken));
    lanes.add(endpoint(2), false, 99);
    assert_eq!(drain(&mut lanes, START), [99], "nobody else rests");
    assert_eq!(drain(&mut lanes, woken), [4]);
    lanes.done(&endpoint(1), None, woken);
    assert_eq!(drain(&mut lanes, woken), [5], "an event that was not sent says nothing");
    lanes.done(&endpoint(1), Some(End::Taken), woken);
    assert_eq!(drain(&mut lanes, woken), [6, 7, 8, 9]);
}

#[test]
fn the_turns_of_prompt_and_other_endpoints_are_one_order() {
    let mut lanes = Lanes::new(limits(4, 2, 1000));
    lanes.add(endpoint(1), true, 1);
    lanes.add(endpoint(2), false, 2);
    lanes.add(endpoint(3), false, 3);
    lanes.add(endpoint(4), true, 4);
    let mut order = Vec::new();
    while let Some((endpoint, item)) = lanes.next(START) {
        order.push(item);
        lanes.done(&endpoint, Some(End::Taken), START);
    }
    assert_eq!(order, [1, 2, 3, 4]);
}
