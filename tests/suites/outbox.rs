//! Webhooks, their events and their log, for every implementation of the store.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tempmail::model::{
    AttemptRecord, PendingEvent, Secret, Timestamp, Verdict, WebhookId, WebhookRecord, WebhookStatus,
};
use tempmail::random;
use tempmail::store::{PageRequest, Replay, Storage, StoreOptions, WebhookLimits, WebhookRegistration, WebhookSweep};

use super::options;
use super::outbox_conformance::Open;
use super::replays::came_to;
use crate::support::mail::{delivery, mailbox};
use crate::support::outbox::pending_events;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const LIMITS: WebhookLimits = WebhookLimits { per_recipient: 3, total: 4, ..WebhookLimits::UNBOUNDED };

pub fn webhook(recipient: &str, url: &str) -> WebhookRecord {
    WebhookRecord {
        id: random::webhook_id(),
        recipient: recipient.into(),
        mailbox: mailbox(recipient),
        url: url.into(),
        origin: origin_of(url),
        registrant: None,
        secret: Secret::new("s3cret".into()),
        status: WebhookStatus::Active,
        created_at: NOW,
        last_mail_at: NOW,
        last_delivery_at: None,
        failures: 0,
        failing_since: None,
        dropped: 0,
    }
}

/// Scheme, host and port of a URL that omits the default port.
fn origin_of(url: &str) -> String {
    url.split('/').take(3).collect::<Vec<_>>().join("/")
}

/// A webhook whose receiver has accepted an event before.
pub fn proven(recipient: &str, url: &str) -> WebhookRecord {
    WebhookRecord { last_delivery_at: Some(NOW), ..webhook(recipient, url) }
}

pub async fn register(store: &dyn Storage, recipient: &str, url: &str) -> WebhookId {
    let record = proven(recipient, url);
    let id = record.id;
    assert_eq!(store.register_webhook(record, LIMITS).await, Ok(WebhookRegistration::New));
    id
}

pub fn attempt(event: &PendingEvent, verdict: Verdict) -> AttemptRecord {
    AttemptRecord {
        webhook: event.webhook,
        event: event.id,
        email: Some(event.email.id),
        sequence: event.email.sequence,
        number: event.attempts + 1,
        at: NOW,
        duration_millis: 5,
        status: Some(500),
        error: None,
        response: "no".into(),
        verdict,
        disables: None,
        backs_off_until: None,
    }
}

pub async fn pending(store: &dyn Storage, webhook: WebhookId) -> Vec<PendingEvent> {
    pending_events(store, webhook).await.expect("events")
}

pub async fn a_webhook_is_registered_once_and_within_the_limits(open: Open) {
    let store = open(options()).await;
    let record = webhook("a@example.test", "https://a.example/");
    assert_eq!(store.register_webhook(record.clone(), LIMITS).await, Ok(WebhookRegistration::New));
    let again = WebhookRecord { id: random::webhook_id(), ..record.clone() };
    assert_eq!(store.register_webhook(again, LIMITS).await, Ok(WebhookRegistration::Same(record.clone().into())));
    let another_secret = WebhookRecord { id: random::webhook_id(), secret: None, ..record.clone() };
    assert_eq!(store.register_webhook(another_secret, LIMITS).await, Ok(WebhookRegistration::New));
    register(&*store, "A@example.test", "https://b.example/").await;
    let fourth = webhook("a@example.test", "https://c.example/");
    assert_eq!(store.register_webhook(fourth, LIMITS).await, Ok(WebhookRegistration::FullForRecipient));
    register(&*store, "b@example.test", "https://b.example/").await;
    let fifth = webhook("c@example.test", "https://b.example/");
    assert_eq!(store.register_webhook(fifth, LIMITS).await, Ok(WebhookRegistration::Full));
    assert_eq!(store.webhooks(&mailbox("a@example.test")).await.expect("list").len(), 3);
    assert_eq!(store.delete_webhook(record.id).await, Ok(true));
    assert_eq!(store.delete_webhook(record.id).await, Ok(false));
    assert_eq!(store.webhooks(&mailbox("a@example.test")).await.expect("list").len(), 2);
}

pub async fn registering_a_disabled_webhook_again_enables_it(open: Open) {
    let store = open(options()).await;
    let record = webhook("a@example.test", "https://a.example/");
    store.register_webhook(record.clone(), LIMITS).await.expect("register");
    store.receive(delivery(&["a@example.test"], "hello", NOW)).await.expect("receive");
    let event = pending(&*store, record.id).await.remove(0);
    let gone = AttemptRecord { status: Some(410), disables: Some("gone".into()), ..attempt(&event, Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("note");
    let disabled = store.webhook(record.id).await.expect("read").expect("webhook");
    assert_eq!((disabled.status, disabled.failures), (WebhookStatus::Disabled("gone".into()), 1));
    let again = WebhookRecord { id: random::webhook_id(), ..record.clone() };
    let Ok(WebhookRegistration::Same(enabled)) = store.register_webhook(again, LIMITS).await else {
        panic!("it is registered")
    };
    assert_eq!((enabled.id, &enabled.status, enabled.failures), (record.id, &WebhookStatus::Active, 0));
    assert_eq!(enabled.failing_since, None);
    store.receive(delivery(&["a@example.test"], "hello", NOW)).await.expect("receive");
    assert_eq!(pending(&*store, record.id).await.len(), 1);
}

pub async fn an_event_that_was_never_sent_is_no_failure_of_the_receiver(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    for (error, failures) in [(AttemptRecord::TOO_LATE, 0), (AttemptRecord::DAMAGED, 0), ("connect", 1)] {
        store.receive(delivery(&["a@example.test"], "hello", NOW)).await.expect("receive");
        let event = pending(&*store, id).await.remove(0);
        let ended = AttemptRecord { error: Some(error.into()), ..attempt(&event, Verdict::GivenUp) };
        store.record_attempt(ended).await.expect("note");
        let record = store.webhook(id).await.expect("read").expect("webhook");
        assert_eq!((record.failures, record.failing_since.is_some()), (failures, failures > 0), "{error}");
    }
}

pub async fn each_message_gives_each_webhook_of_its_recipients_one_event(open: Open) {
    let store = open(options()).await;
    let first = register(&*store, "a@example.test", "https://a.example/1").await;
    let second = register(&*store, "a@example.test", "https://a.example/2").await;
    let other = register(&*store, "b@example.test", "https://b.example/").await;
    store.receive(delivery(&["a@example.test", "c@example.test"], "hello", NOW)).await.expect("receive");
    assert_eq!([pending(&*store, first).await.len(), pending(&*store, second).await.len()], [1, 1]);
    assert_eq!(pending(&*store, other).await, []);
    let webhooks = store.pending_webhooks().await.expect("pending webhooks");
    assert_eq!(webhooks.len(), 2);
    assert!(webhooks.contains(&(first, None)) && webhooks.contains(&(second, None)));
    let event = pending(&*store, first).await.remove(0);
    assert_ne!(event.id, pending(&*store, second).await[0].id);
    let email = store.load_event(&event).await.expect("load").expect("email");
    assert_eq!((email.raw.as_ref(), email.recipient().expect("recipient").id), (&b"hello"[..], event.email.id));
}

pub async fn an_event_outlives_its_email_and_then_frees_the_octets(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    store.receive(delivery(&["a@example.test"], "deleted", NOW)).await.expect("receive");
    store.receive(delivery(&["a@example.test"], "expired", NOW)).await.expect("receive");
    let events = pending(&*store, id).await;
    assert!(store.delete(events[0].email.id, NOW).await.expect("delete"));
    assert_eq!(store.expire(NOW.plus(Duration::from_hours(2)), 100).await.expect("expire").removed, 1);
    assert_eq!(store.stats().await.expect("stats").emails, 0);
    for (event, raw) in events.iter().zip(["deleted", "expired"]) {
        assert_eq!(store.load_event(event).await.expect("load").expect("email").raw, raw);
        store.record_attempt(attempt(event, Verdict::Delivered)).await.expect("record");
    }
    assert_eq!(store.stats().await.expect("stats").live_octets, 0);
    assert_eq!(store.pending_webhooks().await, Ok(vec![]));
}

pub async fn an_attempt_moves_its_event_and_is_in_the_log(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    store.receive(delivery(&["a@example.test"], "hello", NOW)).await.expect("receive");
    let event = pending(&*store, id).await.remove(0);
    let later = NOW.plus(Duration::from_secs(5));
    store.record_attempt(attempt(&event, Verdict::Retry(later))).await.expect("record");
    let again = pending(&*store, id).await.remove(0);
    assert_eq!((again.id, again.attempts, again.due_at), (event.id, 1, later));
    assert_eq!(store.pending_webhooks().await, Ok(vec![(id, Some(later))]));
    let record = store.webhook(id).await.expect("read").expect("webhook");
    assert_eq!((record.failures, record.failing_since), (1, Some(NOW)));
    // Recorded again, as after an unknown outcome: it counts as one failure, and the due time stays.
    store.record_attempt(attempt(&event, Verdict::Retry(NOW))).await.expect("record");
    assert_eq!(pending(&*store, id).await, std::slice::from_ref(&again));
    assert_eq!(store.webhook(id).await.expect("read").expect("webhook").failures, 1);
    store.record_attempt(attempt(&again, Verdict::Delivered)).await.expect("record");
    let record = store.webhook(id).await.expect("read").expect("webhook");
    assert_eq!((record.failures, record.failing_since, record.last_delivery_at), (0, None, Some(NOW)));
    let log = store.attempts(id, 10, NOW).await.expect("log");
    assert_eq!(log.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 1]);
    // Recorded again, as after a crash between the call and its record.
    store.record_attempt(attempt(&again, Verdict::Delivered)).await.expect("record");
    assert_eq!(store.attempts(id, 10, NOW).await.expect("log").len(), 2);
}

pub async fn what_disables_a_webhook_ends_its_events_and_a_replay_begins_them_again(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    store.receive(delivery(&["a@example.test"], "one", NOW)).await.expect("receive");
    store.receive(delivery(&["a@example.test"], "two", NOW)).await.expect("receive");
    let events = pending(&*store, id).await;
    let gone =
        AttemptRecord { disables: Some("410 Gone".into()), status: Some(410), ..attempt(&events[0], Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("record");
    assert_eq!(pending(&*store, id).await, []);
    store.receive(delivery(&["a@example.test"], "three", NOW)).await.expect("receive");
    assert_eq!(pending(&*store, id).await, []);
    let record = store.webhook(id).await.expect("read").expect("webhook");
    assert_eq!((record.status, record.dropped), (WebhookStatus::Disabled("410 Gone".into()), 1), "two was dropped");

    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(1, 0));
    let again = pending(&*store, id).await;
    assert_eq!((again.len(), again[0].id), (1, events[0].id));
    assert_eq!(store.replay(id, Replay::Event(events[0].id), NOW).await, came_to(0, 0), "it is waiting already");
    assert_eq!(store.load_event(&again[0]).await.expect("load").expect("email").raw, "one");
    assert!(store.delete(events[0].email.id, NOW).await.expect("delete"));
    assert_eq!(store.load_event(&again[0]).await.expect("load").expect("email").raw, "one");
    store.record_attempt(attempt(&again[0], Verdict::Delivered)).await.expect("record");
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(0, 0), "the email is gone");
}

pub async fn a_replay_of_nothing_enables_nothing(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    store.receive(delivery(&["a@example.test"], "one", NOW)).await.expect("receive");
    let event = pending(&*store, id).await.remove(0);
    let gone =
        AttemptRecord { disables: Some("410 Gone".into()), status: Some(410), ..attempt(&event, Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("record");
    let status = async || store.webhook(id).await.expect("read").expect("webhook").status;
    assert_eq!(store.replay(id, Replay::Since(NOW.plus(Duration::from_secs(1))), NOW).await, came_to(0, 0));
    assert_eq!(status().await, WebhookStatus::Disabled("410 Gone".into()));
    assert_eq!(store.replay(id, Replay::Since(NOW), NOW).await, came_to(1, 0));
    assert_eq!(status().await, WebhookStatus::Active);
}

pub async fn a_full_outbox_drops_the_oldest_and_says_so(open: Open) {
    let limits = tempmail::store::OutboxLimits { events_per_webhook: 3, ..options().outbox };
    let options = StoreOptions { outbox: limits, ..options() };
    let store = open(options).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    for n in 0..5 {
        store.receive(delivery(&["a@example.test"], format!("mail {n}"), NOW)).await.expect("receive");
    }
    let mut waiting = Vec::new();
    for event in pending(&*store, id).await {
        waiting.push(store.load_event(&event).await.expect("load").expect("email").raw);
    }
    assert_eq!(waiting, ["mail 2", "mail 3", "mail 4"]);
    assert_eq!(store.webhook(id).await.expect("read").expect("the webhook").dropped, 2);
    let log = store.attempts(id, 10, NOW).await.expect("log");
    assert_eq!(log.len(), 2);
    assert!(log.iter().all(|line| line.error.as_deref() == Some("outbox_full")));
    assert_eq!(
        store.list(&mailbox("a@example.test"), PageRequest { offset: 0, limit: 9 }, NOW).await.expect("list").total,
        5
    );
}

pub async fn webhooks_go_with_their_domain_and_when_no_mail_comes(open: Open) {
    let store = open(options()).await;
    let idle = register(&*store, "a@example.test", "https://a.example/").await;
    let busy = register(&*store, "b@example.test", "https://b.example/").await;
    let later = NOW.plus(Duration::from_hours(24));
    store.receive(delivery(&["b@example.test"], "mail", later)).await.expect("receive");
    let again = WebhookRecord { last_mail_at: later, ..webhook("a@example.test", "https://a.example/") };
    let again = store.register_webhook(again, LIMITS).await;
    assert!(
        matches!(again, Ok(WebhookRegistration::Same(found)) if found.id == idle),
        "who registers again is no mail"
    );
    assert_eq!(store.delete_webhooks(WebhookSweep::IdleSince(later)).await, Ok(1));
    assert_eq!(store.webhook(idle).await, Ok(None));
    assert!(store.webhook(busy).await.expect("read").is_some());
    let event = pending(&*store, busy).await.remove(0);
    let gone = AttemptRecord { disables: Some("gone".into()), ..attempt(&event, Verdict::GivenUp) };
    store.record_attempt(gone).await.expect("record");
    let day_after = later.plus(Duration::from_hours(24));
    store.receive(delivery(&["b@example.test"], "mail", day_after)).await.expect("receive");
    assert_eq!(
        store.delete_webhooks(WebhookSweep::IdleSince(day_after)).await,
        Ok(0),
        "mail counts although a disabled webhook gets no event"
    );
    assert_eq!(store.delete_webhook(busy).await, Ok(true));
    assert_eq!(store.pending_webhooks().await, Ok(vec![]));
    assert_eq!(store.stats().await.expect("stats").emails, 2);
}

pub async fn attempts_recorded_together_count_as_one_after_the_other(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    for n in 0..3 {
        store.receive(delivery(&["a@example.test"], format!("mail {n}"), NOW)).await.expect("receive");
    }
    let events = pending(&*store, id).await;
    let later = NOW.plus(Duration::from_secs(5));
    let verdicts = [Verdict::Delivered, Verdict::Retry(later), Verdict::Retry(later)];
    let together = events.iter().zip(verdicts).map(|(event, verdict)| attempt(event, verdict)).collect();
    store.record_attempts(together).await.expect("record");
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    assert_eq!((record.failures, record.last_delivery_at.is_some()), (2, true));
    assert_eq!(store.attempts(id, 10, NOW).await.expect("log").len(), 3);
    assert_eq!(pending(&*store, id).await.iter().map(|event| event.attempts).collect::<Vec<_>>(), [1, 1]);
    let gone =
        AttemptRecord { disables: Some("gone".into()), status: Some(410), ..attempt(&events[1], Verdict::GivenUp) };
    store.record_attempts(vec![gone, attempt(&events[2], Verdict::Delivered)]).await.expect("record");
    assert_eq!(store.attempts(id, 10, NOW).await.expect("log").len(), 4, "the last event ended with its webhook");
    assert_eq!(pending(&*store, id).await, []);
}

pub async fn what_a_replay_delivered_has_not_failed(open: Open) {
    let store = open(options()).await;
    let id = register(&*store, "a@example.test", "https://a.example/").await;
    store.receive(delivery(&["a@example.test"], "one", NOW)).await.expect("receive");
    let event = pending(&*store, id).await.remove(0);
    store.record_attempt(attempt(&event, Verdict::GivenUp)).await.expect("record");
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(1, 0));
    store.record_attempt(attempt(&event, Verdict::Delivered)).await.expect("record");
    assert_eq!(store.replay(id, Replay::Failed, NOW).await, came_to(0, 0));
    assert_eq!(store.replay(id, Replay::Event(event.id), NOW).await, came_to(1, 0), "asked for by its name");
}

pub async fn the_log_is_bounded_in_number_and_age(open: Open) {
    let store = open(options()).await;
    let record = webhook("a@example.test", "https://a.example/");
    let id = record.id;
    store.register_webhook(record, LIMITS).await.expect("register");
    let line = |at| AttemptRecord {
        webhook: id,
        event: tempmail::model::EventId::from_octets([7; 16]),
        email: None,
        sequence: 0,
        number: 1,
        at,
        duration_millis: 1,
        status: Some(200),
        error: None,
        response: String::new(),
        verdict: Verdict::Delivered,
        disables: None,
        backs_off_until: None,
    };
    for second in 0..120 {
        store.record_attempt(line(NOW.plus(Duration::from_secs(second)))).await.expect("record");
    }
    let record = store.webhook(id).await.expect("read").expect("the webhook");
    assert_eq!(
        (record.last_delivery_at, record.failures),
        (None, 0),
        "what belongs to no mail stands in the log alone"
    );
    let log = store.attempts(id, 1_000, NOW).await.expect("log");
    assert_eq!((log.len(), log[99].at), (100, NOW.plus(Duration::from_secs(20))));
    store.record_attempt(line(NOW.plus(Duration::from_hours(31 * 24)))).await.expect("record");
    let day_after = NOW.plus(Duration::from_hours(31 * 24));
    assert_eq!(store.attempts(id, 1_000, day_after).await.expect("log").len(), 1);
    let last_shown = NOW.plus(Duration::from_hours(61 * 24));
    assert_eq!(store.attempts(id, 1_000, last_shown).await.expect("log").len(), 1);
    let too_late = last_shown.plus(Duration::from_millis(1));
    assert_eq!(store.attempts(id, 1_000, too_late).await, Ok(vec![]), "although nothing else was recorded");
    let record = store.webhook(id).await.expect("read").expect("webhook");
    assert_eq!(record.last_delivery_at, None, "a test is no delivery");
}
