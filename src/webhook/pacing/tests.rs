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
        lanes.add(endpoint(1), item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3]);
    assert_eq!((lanes.in_flight(), lanes.queued(), lanes.queued_at(&endpoint(1))), (4, 6, 6));
    assert_eq!(lanes.wakes_at(), None);
    lanes.done(&endpoint(1));
    assert_eq!(drain(&mut lanes, START), [4]);
    lanes.done(&endpoint(1));
    lanes.done(&endpoint(1));
    assert_eq!(drain(&mut lanes, START), [5, 6]);
}

#[test]
fn all_endpoints_together_have_a_bound() {
    let mut lanes = Lanes::new(limits(4, 6, 1000));
    for item in 0..20 {
        lanes.add(endpoint(item % 5), item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1, 2, 3, 4, 5]);
    lanes.done(&endpoint(3));
    assert_eq!(drain(&mut lanes, START), [6]);
}

#[test]
fn an_endpoint_with_10_000_items_does_not_delay_100_others() {
    let mut lanes = Lanes::new(limits(4, 8, 100_000));
    for item in 0..10_000 {
        lanes.add(endpoint(0), item);
    }
    let mut flying: VecDeque<Endpoint> = VecDeque::new();
    let mut turns = Vec::new();
    // The black hole has its four places before the others come, and holds them.
    turns.extend(drain(&mut lanes, START));
    assert_eq!(turns, [0, 1, 2, 3]);
    for other in 1..=100 {
        lanes.add(endpoint(other), 10_000 + other);
    }
    let mut served = 0;
    while served < 100 {
        while let Some((endpoint, item)) = lanes.next(START) {
            assert!(item > 10_000, "the black hole got a fifth place");
            flying.push_back(endpoint);
            served += 1;
        }
        lanes.done(&flying.pop_front().expect("someone is in flight"));
    }
    assert_eq!(lanes.queued(), 10_000 - 4);
}

#[test]
fn endpoints_take_turns_even_if_all_answer_at_once() {
    let mut lanes = Lanes::new(limits(4, 1, 100_000));
    for item in 0..10_000 {
        lanes.add(endpoint(0), item);
    }
    for other in 1..=100 {
        lanes.add(endpoint(other), 10_000);
        lanes.add(endpoint(other), 10_001);
    }
    let mut of_the_long_queue = 0;
    for _ in 0..202 {
        let (endpoint_of_turn, _) = lanes.next(START).expect("an item");
        of_the_long_queue += usize::from(endpoint_of_turn == endpoint(0));
        lanes.done(&endpoint_of_turn);
    }
    assert_eq!(of_the_long_queue, 2, "of two rounds");
    assert_eq!(lanes.queued(), 9_998);
}

#[test]
fn an_endpoint_is_called_at_most_so_often_in_any_minute() {
    let mut lanes = Lanes::new(limits(4, 100, 5));
    for item in 0..100 {
        lanes.add(endpoint(1), item);
    }
    let mut starts: Vec<Duration> = Vec::new();
    for second in 0..180 {
        let now = START + Duration::from_secs(second);
        // One turn every seven seconds, and then as many as there are.
        for _ in 0..if second < 30 { usize::from(second % 7 == 0) } else { 100 } {
            let Some((endpoint, _)) = lanes.next(now) else { break };
            lanes.done(&endpoint);
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
    lanes.add(endpoint(1), 1);
    lanes.add(endpoint(1), 2);
    lanes.add(endpoint(2), 3);
    assert_eq!(drain(&mut lanes, START), [1, 3]);
    assert_eq!(lanes.wakes_at(), Some(START + MINUTE));
    assert!(drain(&mut lanes, START + Duration::from_millis(59_999)).is_empty());
    lanes.add(endpoint(3), 4);
    assert_eq!(drain(&mut lanes, START + Duration::from_secs(30)), [4]);
    assert_eq!(drain(&mut lanes, START + MINUTE), [2]);
    assert_eq!(lanes.wakes_at(), None);
}

#[test]
fn emptying_its_queue_does_not_give_an_endpoint_another_share() {
    let mut lanes = Lanes::new(limits(4, 100, 2));
    for item in 0..2 {
        lanes.add(endpoint(1), item);
    }
    assert_eq!(drain(&mut lanes, START), [0, 1]);
    lanes.done(&endpoint(1));
    lanes.done(&endpoint(1));
    let later = START + Duration::from_secs(59);
    assert!(drain(&mut lanes, later).is_empty());
    lanes.add(endpoint(1), 2);
    assert!(drain(&mut lanes, later).is_empty());
    assert_eq!(drain(&mut lanes, START + MINUTE), [2]);
}

#[test]
fn an_item_for_an_idle_endpoint_has_its_turn_at_once() {
    let mut lanes = Lanes::new(limits(4, 100, 10));
    for item in 0..5 {
        lanes.add(endpoint(1), item);
        assert_eq!(drain(&mut lanes, START), [item]);
        lanes.done(&endpoint(1));
        assert!(drain(&mut lanes, START).is_empty());
    }
}

#[test]
fn idle_endpoints_are_forgotten() {
    let mut lanes = Lanes::new(limits(4, 10_000, 10));
    for number in 0..1000 {
        lanes.add(endpoint(number), number);
    }
    assert_eq!(drain(&mut lanes, START).len(), 1000);
    for number in 1..1000 {
        lanes.done(&endpoint(number));
    }
    assert_eq!(lanes.endpoints(), 1000);
    assert!(drain(&mut lanes, START + MINUTE).is_empty());
    assert_eq!(lanes.endpoints(), 1, "one attempt is still in flight");
    lanes.done(&endpoint(0));
    assert!(drain(&mut lanes, START + 2 * MINUTE).is_empty());
    assert_eq!(lanes.endpoints(), 0);
}

#[test]
fn done_without_an_attempt_changes_nothing() {
    let mut lanes = Lanes::new(limits(1, 1, 10));
    lanes.done(&endpoint(1));
    lanes.add(endpoint(1), 1);
    lanes.done(&endpoint(1));
    assert_eq!(drain(&mut lanes, START), [1]);
    lanes.done(&endpoint(1));
    lanes.done(&endpoint(1));
    assert_eq!(lanes.in_flight(), 0);
}
