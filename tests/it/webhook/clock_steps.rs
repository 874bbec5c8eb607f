//! The clock is set forward or back: no event ends because of that, and none waits for a time that the old clock gave.

use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{Timestamp, Verdict, WebhookId};
use tempmail::store::{Outbox, Store};

use super::running::{GRACE, NOW, Running};
use crate::support::mail::delivery;
use crate::support::webhook_sink::Behaviour;

const TO: &str = "a@example.test";
const DAY: Duration = Duration::from_hours(24);

fn before(at: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(at.millis() - i64::try_from(by.as_millis()).expect("a short time"))
}

/// A dispatcher that starts after a step of the clock, with an event from before. The receiver answers with `status`.
async fn stepped(to: Timestamp, status: u16) -> (Running, WebhookId) {
    let mut running = Running::new().await;
    let webhook = running.register(TO, "/", Behaviour::status(status)).await;
    running.receive(TO).await;
    running.run_after_step_to(to);
    (running, webhook)
}

#[tokio::test]
async fn an_event_that_only_a_step_of_the_clock_has_made_late_is_sent() {
    let (running, webhook) = stepped(NOW.plus(DAY), 200).await;
    running.receive(TO).await;
    assert_eq!(running.verdicts(webhook, 2).await, [Verdict::Delivered; 2]);
    running.clock.step_to(NOW);
    running.store.receive(delivery(&[TO], "after it", NOW)).await.expect("receive");
    assert_eq!(running.verdicts(webhook, 3).await, [Verdict::Delivered; 3]);
    assert_eq!(running.requests("/"), 3);
}

#[tokio::test]
async fn an_event_is_late_once_the_clock_has_stayed_where_it_stepped_to() {
    let (running, webhook) = stepped(NOW.plus(DAY), 500).await;
    assert!(matches!(running.verdicts(webhook, 1).await[..], [Verdict::Retry(_)]));
    running.clock.advance(Duration::from_mins(10));
    running.store.outbox_hint().notify_one();
    assert_eq!(running.verdicts(webhook, 2).await[0], Verdict::GivenUp);
    assert_eq!(running.requests("/"), 1);
}

#[tokio::test]
async fn an_event_that_fails_after_a_step_of_the_clock_is_retried() {
    let end = NOW.plus(Duration::from_hours(1) + GRACE);
    let (running, webhook) = stepped(end, 500).await;
    let verdicts = running.verdicts(webhook, 1).await;
    assert!(matches!(verdicts[..], [Verdict::Retry(at)] if at > end), "{verdicts:?}");
}

#[tokio::test]
async fn an_event_that_was_received_by_a_clock_that_was_ahead_is_due() {
    let (running, webhook) = stepped(before(NOW, Duration::from_mins(30)), 200).await;
    assert_eq!(running.verdicts(webhook, 1).await, [Verdict::Delivered]);
}

/// A dispatcher that has recorded the first answer when the clock is set back.
async fn set_back(first: Behaviour, step: Duration) -> Running {
    let mut running = Running::new().await;
    let webhook = running.register(TO, "/", Behaviour::InTurn(vec![first, Behaviour::status(200)])).await;
    running.receive(TO).await;
    running.run();
    running.log(webhook, 1).await;
    running.clock.step_to(before(running.clock.now(), step));
    running.clock.advance(Duration::from_secs(6));
    running
}

#[tokio::test]
async fn a_retry_is_due_if_it_would_wait_longer_than_the_schedule_permits() {
    let running = set_back(Behaviour::status(500), Duration::from_hours(3)).await;
    running.requested("/", 2).await;
}

#[tokio::test]
async fn a_webhook_still_backs_off_for_a_receiver_that_asked_for_it() {
    let running = set_back(Behaviour::with_header(429, "retry-after", "3600"), Duration::from_mins(30)).await;
    running.scan().await;
    assert_eq!(running.requests("/"), 1);
}
