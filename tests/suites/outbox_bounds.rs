//! Pending events end, and their number is limited. A webhook beyond its own limits loses its oldest events.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tempmail::model::{AttemptRecord, DomainName, DomainRecord, Timestamp, Verdict, WebhookId};
use tempmail::store::{OutboxLimits, Registration, Replay, Storage, WebhookLimits, WebhookRegistration};

use super::outbox::{attempt, pending, proven, register};
use super::outbox_conformance::{Open, within};
use super::replays::came_to;
use crate::support::mail::delivery;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

pub async fn receive(store: &dyn Storage, recipient: &str, octets: usize) {
    store.receive(delivery(&[recipient], vec![b'x'; octets], NOW)).await.expect("receive");
}

pub async fn errors(store: &dyn Storage, webhook: WebhookId) -> Vec<Option<String>> {
    store.attempts(webhook, 100, NOW).await.expect("log").into_iter().map(|line| line.error).collect()
}

pub async fn an_event_that_has_ended_is_not_given_out_although_its_email_is_there(open: Open) {
    let store = open(within(OutboxLimits::default())).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 5).await;
    receive(&*store, "a@example.test", 5).await;
    let events = pending(&*store, id).await;
    let gone =
        AttemptRecord { disables: Some("410 Gone".into()), status: Some(410), ..attempt(&events[0], Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("record");
    for event in &events {
        assert_eq!(store.load_event(event).await, Ok(None));
    }
}

pub async fn a_message_larger_than_the_outbox_of_a_webhook_drops_only_itself(open: Open) {
    let store = open(within(OutboxLimits { octets_per_webhook: 1000, ..OutboxLimits::default() })).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 400).await;
    receive(&*store, "a@example.test", 400).await;
    receive(&*store, "a@example.test", 1001).await;
    assert_eq!(pending(&*store, id).await.len(), 2);
    assert_eq!(errors(&*store, id).await, [Some("outbox_full".into())]);
    assert_eq!(store.stats().await.expect("stats").emails, 3);
}

pub async fn a_full_outbox_drops_the_new_event_and_no_other(open: Open) {
    let store = open(within(OutboxLimits { octets: 300_000, ..OutboxLimits::default() })).await;
    let small = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 1000).await;
    let heavy = register(&*store, "b@example.test", "https://b.example/").await;
    let heavier = register(&*store, "c@example.test", "https://c.example/").await;
    for _ in 0..4 {
        receive(&*store, "b@example.test", 30_000).await;
        receive(&*store, "c@example.test", 40_000).await;
    }
    receive(&*store, "a@example.test", 30_000).await;
    let waiting = async |id| pending(&*store, id).await.len();
    assert_eq!([waiting(small).await, waiting(heavy).await, waiting(heavier).await], [1, 4, 4]);
    assert_eq!(errors(&*store, small).await, [Some("outbox_full".into())]);
    for webhook in [small, heavy, heavier] {
        assert_eq!(store.delete_webhook(webhook).await, Ok(true));
    }
    // Nothing of the first events is left: as many fit as at first.
    let again = register(&*store, "b@example.test", "https://b.example/").await;
    for _ in 0..11 {
        receive(&*store, "b@example.test", 30_000).await;
    }
    assert_eq!(waiting(again).await, 10);
}

pub async fn a_message_for_many_webhooks_keeps_within_the_bound_of_all(open: Open) {
    let store = open(within(OutboxLimits { octets: 100_000 * 8 / 7 + 8, ..OutboxLimits::default() })).await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(register(&*store, "a@example.test", &format!("https://a.example/{n}")).await);
    }
    receive(&*store, "a@example.test", 40_000).await;
    let mut waiting = 0;
    for id in &ids {
        waiting += pending(&*store, *id).await.len();
    }
    assert_eq!(waiting, 2);
    for id in ids {
        for event in pending(&*store, id).await {
            store.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("record");
        }
    }
    assert_eq!(store.expire(NOW.plus(Duration::from_hours(2)), 100).await.expect("expire").removed, 1);
    assert_eq!(store.stats().await.expect("stats").live_octets, 0);
}

pub async fn failed_events_are_those_whose_last_attempt_failed(open: Open) {
    let store = open(within(OutboxLimits::default())).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 5).await;
    let event = pending(&*store, id).await.remove(0);
    store.record_attempt(attempt(&event, Verdict::GivenUp)).await.expect("record");
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(1, 0));
    store.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("record");
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(0, 0), "the receiver has it");

    // An event that waits for its next attempt ends when the webhook is disabled.
    receive(&*store, "a@example.test", 5).await;
    receive(&*store, "a@example.test", 5).await;
    let events = pending(&*store, id).await;
    let later = NOW.plus(Duration::from_secs(5));
    store.record_attempt(attempt(&events[0], Verdict::Retry(later))).await.expect("record");
    let gone =
        AttemptRecord { disables: Some("410 Gone".into()), status: Some(410), ..attempt(&events[1], Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("record");
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(2, 0));
}

pub fn registered(domain: &DomainName) -> DomainRecord {
    DomainRecord::new(domain.clone(), NOW)
}

pub async fn webhooks_of_an_earlier_time_do_not_go_to_the_next_owner_of_the_domain(open: Open) {
    let store = open(within(OutboxLimits::default())).await;
    let (domain, other) = ("example.test".parse().expect("domain"), "other.test".parse().expect("domain"));
    let old = register(&*store, "a@example.test", "https://a.example/").await;
    assert_eq!(store.register_domain(registered(&other), 9).await, Ok(Registration::Won));
    assert!(store.webhook(old).await.expect("read").is_some());
    assert_eq!(store.register_domain(registered(&domain), 9).await, Ok(Registration::Won));
    assert_eq!(store.webhook(old).await, Ok(None));
    let new = register(&*store, "a@example.test", "https://a.example/").await;
    assert!(matches!(store.register_domain(registered(&domain), 9).await, Ok(Registration::Taken(_))));
    assert!(store.webhook(new).await.expect("read").is_some(), "who asks again takes nothing away");
}

pub async fn a_removed_domain_takes_its_webhooks_with_it(open: Open) {
    let store = open(within(OutboxLimits::default())).await;
    let domain: DomainName = "example.test".parse().expect("domain");
    assert_eq!(store.register_domain(registered(&domain), 9).await, Ok(Registration::Won));
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    let other = register(&*store, "a@other.test", "https://a.example/").await;
    assert_eq!(store.remove_domain(&domain).await, Ok(true));
    assert_eq!(store.remove_domain(&domain).await, Ok(false));
    assert_eq!(store.webhook(id).await, Ok(None));
    assert!(store.webhook(other).await.expect("read").is_some());
}

pub async fn events_whose_mail_has_expired_end_when_they_are_swept(open: Open) {
    let store = open(within(OutboxLimits::default())).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 5).await;
    store.receive(delivery(&["a@example.test"], "later", NOW.plus(Duration::from_mins(1)))).await.expect("receive");
    let expires_at = pending(&*store, id).await[0].email.expires_at;
    assert_eq!(store.end_events(expires_at).await, Ok(0));
    assert_eq!(store.end_events(expires_at.plus(Duration::from_millis(1))).await, Ok(1));
    assert_eq!(pending(&*store, id).await.len(), 1);
    assert_eq!(store.webhook(id).await.expect("read").expect("the webhook").dropped, 1);
}

pub async fn without_a_dispatcher_no_event_begins(open: Open) {
    let store = open(within(OutboxLimits { events_per_webhook: 0, ..OutboxLimits::default() })).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 5).await;
    assert_eq!((pending(&*store, id).await, errors(&*store, id).await), (vec![], vec![]));
    assert_eq!(store.expire(NOW.plus(Duration::from_hours(2)), 100).await.expect("expire").removed, 1);
    assert_eq!(store.stats().await.expect("stats").live_octets, 0);
}

pub async fn each_full_webhook_drops_its_oldest_however_many_a_message_is_for(open: Open) {
    let store = open(within(OutboxLimits { events_per_webhook: 1, ..OutboxLimits::default() })).await;
    let limits = WebhookLimits { per_recipient: 300, total: 300, ..WebhookLimits::UNBOUNDED };
    let mut ids = Vec::new();
    for n in 0..300 {
        let record = proven("a@example.test", &format!("https://a.example/{n}"));
        ids.push(record.id);
        assert_eq!(store.register_webhook(record, limits).await, Ok(WebhookRegistration::New));
    }
    receive(&*store, "a@example.test", 5).await;
    receive(&*store, "a@example.test", 6).await;
    for id in ids {
        let waiting = pending(&*store, id).await;
        assert_eq!((waiting.len(), waiting[0].email.size_octets), (1, 6), "the new one was dropped");
    }
}

pub async fn the_octets_of_a_webhook_have_a_bound_and_its_oldest_events_make_the_room(open: Open) {
    let store = open(within(OutboxLimits { octets_per_webhook: 1000, ..OutboxLimits::default() })).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    let other = register(&*store, "b@example.test", "https://b.example/").await;
    receive(&*store, "b@example.test", 900).await;
    for octets in [300, 301, 302, 500] {
        receive(&*store, "a@example.test", octets).await;
    }
    let sizes: Vec<u64> = pending(&*store, id).await.iter().map(|event| event.email.size_octets).collect();
    assert_eq!(sizes, [302, 500], "as many of the oldest went as it took");
    assert_eq!(store.webhook(id).await.expect("read").expect("the webhook").dropped, 2);
    assert_eq!(errors(&*store, id).await, [Some("outbox_full".into()), Some("outbox_full".into())]);
    assert_eq!(pending(&*store, other).await.len(), 1, "another webhook's event stays");
    assert_eq!(OutboxLimits::default().octets_per_webhook, 64 << 20);
}

pub async fn a_dropped_event_is_in_the_log_at_the_time_of_the_drop(open: Open) {
    let store = open(within(OutboxLimits { events_per_webhook: 1, ..OutboxLimits::default() })).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    receive(&*store, "a@example.test", 5).await;
    let event = pending(&*store, id).await.remove(0);
    let later = NOW.plus(Duration::from_hours(1));
    store.record_attempt(attempt(&event, Verdict::Retry(later))).await.expect("note");
    let dropped_at = NOW.plus(Duration::from_mins(1));
    store.receive(delivery(&["a@example.test"], "more", dropped_at)).await.expect("receive");
    let line = store.attempts(id, 1, dropped_at).await.expect("log").remove(0);
    assert_eq!((line.error.as_deref(), line.at), (Some("outbox_full"), dropped_at));
}
