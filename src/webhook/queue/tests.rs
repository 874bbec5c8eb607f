use super::origin::{PER_ORIGIN_MAX, UNRECORDED_PER_ORIGIN_MAX};
use super::slots::SLOW_AFTER;
use super::*;
use crate::model::{EmailId, EventId, Listed, Place, Timestamp};
use crate::webhook::Target;

const NOW: Duration = Duration::from_secs(1000);
const DELIVERED: AttemptResult = AttemptResult { is_delivered: true, is_origin_failure: false, back_off: None };
const REFUSED: AttemptResult = AttemptResult { is_delivered: false, is_origin_failure: false, back_off: None };
const FAILED: AttemptResult = AttemptResult { is_delivered: false, is_origin_failure: true, back_off: None };

fn webhook(number: u8) -> WebhookId {
    WebhookId::from_octets([number; 16])
}

fn page(of: u8, origin: u8, is_good: bool, sequences: std::ops::Range<u64>) -> EventPage {
    let at = Timestamp::from_millis(0);
    let event = |sequence| PendingEvent {
        id: EventId::from_octets([0; 16]),
        webhook: webhook(of),
        email: Listed {
            id: EmailId::from_octets([0; 16]),
            sequence,
            received_at: at,
            expires_at: at,
            size_octets: 100,
            place: Place([0; 16]),
        },
        attempts: 0,
        due_at: at,
    };
    let target = Target::parse(&format!("http://h{origin}.example/{of}")).expect("url");
    let receiver = Arc::new(Receiver::for_test(target, is_good));
    EventPage { receiver, events: sequences.map(event).collect(), has_more: false, back_off: None }
}

/// A queue with events of these webhooks: each with its number, its origin's number, whether it is good, and its events.
fn queue(in_flight_max: usize, webhooks: &[(u8, u8, bool, u64)]) -> Queue {
    let mut queue = Queue::new(in_flight_max);
    for (of, origin, is_good, events) in webhooks {
        add(&mut queue, *of, page(*of, *origin, *is_good, 0..*events), NOW);
    }
    queue
}

fn add(queue: &mut Queue, of: u8, page: EventPage, now: Duration) {
    queue.add_webhook(webhook(of), now);
    assert!(queue.next_page().is_some_and(|request| request.webhook == webhook(of)));
    queue.add_page(webhook(of), Some(page), now);
}

fn begin(queue: &mut Queue, now: Duration) -> Vec<EventKey> {
    std::iter::from_fn(|| queue.next_claim(now))
        .map(|claim| (claim.event.webhook, claim.event.email.sequence))
        .collect()
}

fn end(queue: &mut Queue, keys: Vec<EventKey>, result: AttemptResult, now: Duration) {
    for key in &keys {
        queue.end(*key, Ended::Called(result), now);
    }
    queue.recorded(keys, now);
}

#[test]
fn round_robin_goes_over_origins_and_inside_one_over_webhooks() {
    let mut queue = queue(100, &[(1, 1, true, 9), (2, 1, true, 9), (3, 2, true, 9)]);
    let begun: Vec<_> = begin(&mut queue, NOW);
    assert_eq!(begun.iter().filter(|(of, _)| *of == webhook(3)).count(), PER_ORIGIN_MAX);
    let order: Vec<u8> = begun.iter().map(|(of, _)| of.octets()[0]).collect();
    assert_eq!(order, [1, 3, 2, 3, 1, 3, 2, 3]);
    end(&mut queue, begun, DELIVERED, NOW);
    assert_eq!(begin(&mut queue, NOW).len(), 2 * PER_ORIGIN_MAX);
}

#[test]
fn an_unproven_or_failing_origin_gets_one_attempt_at_a_time_and_backs_off_after_the_second_failure() {
    let mut queue = queue(100, &[(1, 1, false, 9)]);
    let begun = begin(&mut queue, NOW);
    assert_eq!(begun.len(), 1);
    end(&mut queue, begun, DELIVERED, NOW);
    let begun = begin(&mut queue, NOW);
    assert_eq!(begun.len(), PER_ORIGIN_MAX);
    end(&mut queue, begun[..1].to_vec(), FAILED, NOW);
    assert_eq!(begin(&mut queue, NOW), [], "three are in flight");
    end(&mut queue, begun[1..].to_vec(), FAILED, NOW);
    assert_eq!(begin(&mut queue, NOW), [], "four failures");
    let later = queue.wakes_at().expect("it backs off");
    let later = later.max(NOW + Duration::from_millis(200));
    assert_eq!(queue.wake(later), []);
    assert_eq!(begin(&mut queue, later).len(), 1);
}

#[test]
fn a_webhook_that_is_refused_backs_off_alone() {
    let mut queue = queue(100, &[(1, 1, true, 9), (2, 1, true, 40)]);
    let mut delivered = 0;
    for _ in 0..6 {
        let (bad, good): (Vec<_>, Vec<_>) = begin(&mut queue, NOW).into_iter().partition(|(of, _)| *of == webhook(1));
        delivered += good.len();
        end(&mut queue, bad, REFUSED, NOW);
        end(&mut queue, good, DELIVERED, NOW);
    }
    assert!(delivered >= 5 * PER_ORIGIN_MAX - 2, "{delivered}");
    assert_eq!(queue.webhooks[&webhook(1)].events.len(), 9 - 2, "two at once, and then it backs off");
}

/// Anybody can register another URL at an origin that many share.
#[test]
fn a_prompt_webhook_does_not_wait_for_others_of_its_origin() {
    for is_slow in [false, true] {
        let mut queue = queue(100, &[(2, 1, false, 20)]);
        let mut now = NOW;
        for _ in 0..4 {
            let begun = begin(&mut queue, now);
            now += SLOW_AFTER;
            assert_eq!(queue.wake(now), []);
            if !is_slow {
                end(&mut queue, begun, FAILED, now);
            }
        }
        assert_eq!(begin(&mut queue, now), [], "it backs off or hangs");
        add(&mut queue, 1, page(1, 1, true, 0..20), now);
        for _ in 0..4 {
            let begun = begin(&mut queue, now);
            assert!(begun.len() >= PER_ORIGIN_MAX - 1, "{} {is_slow}", begun.len());
            end(&mut queue, begun, DELIVERED, now);
        }
    }
}

#[test]
fn a_webhook_that_is_not_prompt_gets_attempts_beside_a_prompt_one() {
    let mut queue = queue(100, &[(1, 1, true, 30), (2, 1, false, 3)]);
    let mut begun = Vec::new();
    for _ in 0..4 {
        let now = begin(&mut queue, NOW);
        begun.extend(now.clone());
        end(&mut queue, now, DELIVERED, NOW);
    }
    assert_eq!(begun.iter().filter(|(of, _)| *of == webhook(2)).count(), 3);
}

#[test]
fn slow_attempts_leave_their_slots_and_their_webhook_begins_no_other() {
    let hanging: Vec<_> = (1..=49).map(|number| (number, number, true, 5)).collect();
    let mut queue = queue(8, &hanging);
    let mut now = NOW;
    // Each webhook gets one attempt. An eighth of the slots is kept for webhooks that are not prompt.
    for attempts in [7, 7, 7, 7, 7, 7, 7, 0] {
        assert_eq!(begin(&mut queue, now).len(), attempts);
        now += SLOW_AFTER;
        assert_eq!(queue.wake(now), []);
    }
    add(&mut queue, 99, page(99, 99, false, 0..5), now);
    assert_eq!(begin(&mut queue, now), [(webhook(99), 0)]);
}

/// Otherwise receivers that hang on large mail would hold all memory for slow attempts, and then every slot.
#[test]
fn attempts_that_have_been_slow_for_longest_are_cut_off_when_there_are_too_many() {
    let mut queue = Queue::new(1_000);
    for number in 0..200 {
        let mut page = page(number, number, true, 0..1);
        page.events[0].email.size_octets = 300 << 10;
        add(&mut queue, number, page, NOW);
    }
    let (mut begun, mut cut_off, mut now) = (Vec::new(), Vec::new(), NOW);
    while begun.len() < 200 {
        begun.extend(begin(&mut queue, now));
        now += SLOW_AFTER;
        cut_off.extend(queue.wake(now));
        assert!(now < NOW + 60 * SLOW_AFTER, "{} have begun", begun.len());
    }
    assert!(cut_off.len() > 100 && begun.starts_with(&cut_off), "{} were cut off", cut_off.len());
    end(&mut queue, begun, FAILED, now);
    assert!(queue.in_flight.is_idle());
}

#[test]
fn webhooks_that_are_not_prompt_leave_half_of_the_slots_to_those_that_are() {
    let mut webhooks: Vec<_> = (1..=50).map(|number| (number, number, false, 5)).collect();
    webhooks.push((99, 99, true, 5));
    let mut queue = queue(8, &webhooks);
    let begun = begin(&mut queue, NOW);
    assert_eq!(begun.iter().filter(|(of, _)| *of == webhook(99)).count(), 4);
    assert_eq!(begun.len(), 8);
}

#[test]
fn unrecorded_attempts_at_an_origin_are_limited() {
    let mut queue = queue(100, &[(1, 1, true, 32)]);
    let mut unrecorded = Vec::new();
    loop {
        let begun = begin(&mut queue, NOW);
        if begun.is_empty() {
            break;
        }
        for key in &begun {
            queue.end(*key, Ended::Called(DELIVERED), NOW);
        }
        unrecorded.extend(begun);
    }
    assert_eq!(unrecorded.len(), UNRECORDED_PER_ORIGIN_MAX);
    queue.recorded(unrecorded, NOW);
    assert_eq!(begin(&mut queue, NOW).len(), PER_ORIGIN_MAX);
}

#[test]
fn no_event_is_read_twice_and_few_events_are_read_of_each_of_many_webhooks() {
    let mut queue = queue(100, &[(1, 1, true, 3)]);
    let begun = begin(&mut queue, NOW);
    queue.add_webhook(webhook(1), NOW);
    let request = queue.next_page().expect("few events are in memory");
    assert_eq!((request.without.len(), request.limit), (3, READ_AHEAD_PER_WEBHOOK_MAX));
    queue.add_webhook(webhook(1), NOW);
    assert!(queue.next_page().is_none(), "it is being read");
    queue.add_page(webhook(1), None, NOW);
    end(&mut queue, begun, DELIVERED, NOW);
    queue.end((webhook(1), 7), Ended::Gone, NOW);
    for number in 0..10_000_u32 {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        queue.add_webhook(WebhookId::from_octets(id), NOW);
    }
    assert_eq!(queue.next_page().map(|request| request.limit), Some(1));
}

#[test]
fn a_deferred_event_is_not_read_again() {
    let mut queue = queue(100, &[(1, 1, true, 1)]);
    let claim = queue.next_claim(NOW).expect("a claim");
    let key = (claim.event.webhook, claim.event.email.sequence);
    queue.end(key, Ended::Deferred(claim, Duration::from_secs(5)), NOW);
    assert_eq!(begin(&mut queue, NOW), []);
    assert_eq!(queue.wakes_at(), Some(NOW + SLOW_AFTER), "an attempt can be slow by then");
    let later = NOW + Duration::from_secs(5);
    assert_eq!(queue.wake(later), []);
    assert_eq!(begin(&mut queue, later).len(), 1);
    assert!(queue.next_page().is_none());
}

#[test]
fn idle_webhooks_and_origins_are_forgotten() {
    let mut queue = queue(100, &[(1, 1, true, 1), (2, 2, true, 2)]);
    let begun = begin(&mut queue, NOW);
    end(&mut queue, begun[..1].to_vec(), FAILED, NOW);
    end(&mut queue, begun[1..].to_vec(), FAILED, NOW);
    queue.forget_idle(NOW);
    assert_eq!((queue.webhooks.len(), queue.origins.len()), (1, 1), "the one that backs off");
    queue.forget_idle(NOW + Duration::from_mins(3));
    assert_eq!((queue.webhooks.len(), queue.origins.len(), queue.in_flight.is_idle()), (0, 0, true));
}

#[test]
fn an_origin_that_answers_has_several_attempts_at_webhooks_that_were_never_sent_anything() {
    let webhooks: Vec<_> = (1..=20).map(|number| (number, 1, false, 1)).collect();
    let mut queue = queue(100, &webhooks);
    let begun = begin(&mut queue, NOW);
    assert_eq!(begun.len(), 1, "nothing is known of the origin");
    end(&mut queue, begun, DELIVERED, NOW);
    assert_eq!(begin(&mut queue, NOW).len(), PER_ORIGIN_MAX - 1);
}

#[test]
fn a_webhook_that_was_prompt_and_hangs_does_not_hold_up_others_of_its_origin() {
    let mut queue = queue(100, &[(1, 1, true, 20)]);
    assert_eq!(begin(&mut queue, NOW).len(), PER_ORIGIN_MAX);
    let now = NOW + SLOW_AFTER;
    assert_eq!(queue.wake(now), []);
    assert_eq!(begin(&mut queue, now), [], "it is not prompt any more");
    add(&mut queue, 2, page(2, 1, true, 0..20), now);
    assert_eq!(begin(&mut queue, now).len(), PER_ORIGIN_MAX);
}
