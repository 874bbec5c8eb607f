//! The time of day jumps.
//! Mechanism: it goes with the watch for steps of the clock.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempmail::clock::Clock;
use tempmail::model::Timestamp;

use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const TO: &str = "hello@example.test";
const DAY: Duration = Duration::from_hours(24);
/// The pause of removals after a start and after a step of the clock.
const PAUSE: Duration = Duration::from_mins(10);

/// A daemon without webhooks and domains.
async fn server() -> TestServer {
    TestServer::with("revision = 1").await
}

/// Waits until the expiry worker has run once.
pub(super) async fn let_expiry_work(server: &TestServer) {
    let sleeps = server.clock.sleeps();
    until("the worker sleeps twice", async || {
        server.clock.wake();
        server.clock.sleeps() >= sleeps + 2
    })
    .await;
}

/// The same once the pause after the start is over.
async fn settled() -> TestServer {
    let server = server().await;
    until("the worker sleeps", async || server.clock.sleeps() > 0).await;
    server.clock.advance(PAUSE);
    let_expiry_work(&server).await;
    server
}

fn back(time: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(time.millis() - i64::try_from(by.as_millis()).expect("a short time"))
}

async fn subjects(server: &TestServer) -> Vec<String> {
    let page = http::inbox(server.http(), TO).await;
    let emails = page["emails"].as_array().expect("emails");
    emails.iter().map(|email| email["subject"].as_str().expect("subject").to_owned()).collect()
}

#[tokio::test]
async fn after_a_step_forward_reads_follow_and_nothing_is_removed() {
    let server = settled().await;
    server.send(TO, "first", "").await;
    let before = server.clock.now();
    server.clock.step_to(before.plus(DAY));
    assert_eq!(http::total(server.http(), TO).await, 0, "reads follow");
    let_expiry_work(&server).await;
    server.send(TO, "ahead", "").await;
    assert_eq!(server.stats().await.emails, 2, "nothing is removed");
    server.clock.step_to(before);
    server.send(TO, "after", "").await;
    assert_eq!(subjects(&server).await, ["after", "ahead", "first"], "readable again, in the order in which they came");
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 3);
    server.stop().await;
}

#[tokio::test]
async fn a_clock_that_stays_ahead_for_ten_minutes_is_believed() {
    let server = settled().await;
    server.send(TO, "first", "").await;
    server.clock.step_to(server.clock.now().plus(DAY));
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 1);
    server.clock.advance(PAUSE);
    server.until_stats(|stats| stats.emails == 0).await;
    server.stop().await;
}

#[tokio::test]
async fn after_a_step_back_everything_stays_readable_in_its_order() {
    let server = settled().await;
    server.send(TO, "first", "").await;
    let before = server.clock.now();
    server.clock.step_to(back(before, DAY));
    server.send(TO, "behind", "").await;
    assert_eq!(subjects(&server).await, ["behind", "first"]);
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 2);
    server.clock.step_to(before);
    server.send(TO, "after", "").await;
    // By its time of receipt, mail that came while the clock was behind has expired.
    assert_eq!(subjects(&server).await, ["after", "first"]);
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 3, "and yet nothing is removed: the clock has stepped forward");
    server.stop().await;
}

/// A regression: a daemon that started after a step of the clock did not know of it, and removed all mail at once.
#[tokio::test]
async fn a_start_with_a_clock_that_is_ahead_removes_nothing_for_ten_minutes() {
    let server = settled().await;
    server.send(TO, "first", "").await;
    let before = server.clock.now();
    server.clock.step_to(before.plus(DAY));
    let server = server.restart("revision = 1").await;
    assert_eq!(http::total(server.http(), TO).await, 0);
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 1);
    server.clock.step_to(before);
    assert_eq!(subjects(&server).await, ["first"]);
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 1);
    let shown: Value = http::inbox(server.http(), TO).await;
    let id = shown["emails"][0]["id"].as_str().expect("id");
    assert!(http::raw(server.http(), id).await.is_some());
    server.stop().await;
}

#[tokio::test]
async fn a_restart_while_the_clock_does_not_jump_waits_for_nothing() {
    let server = settled().await;
    server.send(TO, "first", "").await;
    let_expiry_work(&server).await;
    let clock = Arc::clone(&server.clock);
    let dir = server.stop().await;
    clock.advance(DAY);
    let server = TestServer::again(dir, clock, "").await;
    server.until_stats(|stats| stats.emails == 0).await;
    server.stop().await;
}

#[tokio::test]
async fn after_another_boot_of_the_machine_nothing_is_removed_for_ten_minutes() {
    let server = settled().await;
    server.send(TO, "first", "").await;
    let_expiry_work(&server).await;
    let clock = Arc::clone(&server.clock);
    let dir = server.stop().await;
    clock.advance(DAY);
    clock.reboot();
    let server = TestServer::again(dir, clock, "").await;
    let_expiry_work(&server).await;
    assert_eq!(server.stats().await.emails, 1);
    server.clock.advance(PAUSE);
    server.until_stats(|stats| stats.emails == 0).await;
    server.stop().await;
}
