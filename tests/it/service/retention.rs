//! Mail expires in time, and its space becomes free.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::Timestamp;

use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const TO: &str = "hello@example.test";
const DAY_IN_MILLIS: i64 = 86_400_000;
const RETENTION: Duration = Duration::from_secs(2);
const SETTINGS: &str = "retention = '2s'";

#[tokio::test]
async fn mail_is_unreadable_from_the_moment_it_expires_and_then_removed() {
    let server = TestServer::with(SETTINGS).await;
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: short\r\n\r\nlife\r\n").await;
    let id = http::inbox(server.http(), TO).await["emails"][0]["id"].as_str().expect("id").to_owned();

    let millisecond = Duration::from_millis(1);
    server.clock.advance(RETENTION.saturating_sub(millisecond));
    assert_eq!(http::total(server.http(), TO).await, 1);
    assert!(http::raw(server.http(), &id).await.is_some());

    server.clock.advance(millisecond);
    assert_eq!(http::total(server.http(), TO).await, 0);
    assert_eq!(http::raw(server.http(), &id).await, None);
    server.in_time(|stats| stats.emails == 0 && stats.live_octets == 0 && stats.mailboxes == 0).await;

    let server = server.restart(SETTINGS).await;
    assert_eq!(http::total(server.http(), TO).await, 0);
    assert_eq!(server.stats().await.emails, 0);
    server.stop().await;
}

#[tokio::test]
async fn what_expires_while_nothing_runs_is_gone_at_the_start() {
    let server = TestServer::with(SETTINGS).await;
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: short\r\n\r\nlife\r\n").await;
    let clock = server.clock.clone();
    let server = {
        let running = server.restart(SETTINGS).await;
        assert_eq!(http::total(running.http(), TO).await, 1, "a restart changes nothing");
        clock.advance(RETENTION);
        running.restart(SETTINGS).await
    };
    assert_eq!(http::total(server.http(), TO).await, 0);
    server.in_time(|stats| stats.emails == 0).await;
    server.stop().await;
}

/// The system's clock is believed at once, in either direction.
#[tokio::test]
async fn mail_goes_when_a_clock_that_is_set_passes_its_expiry_and_never_before() {
    let server = TestServer::with("retention = '1h'").await;
    let before = server.clock.now();
    server.send(TO, "first", "").await;
    server.clock.step_to(Timestamp::from_millis(before.millis() - DAY_IN_MILLIS));
    server.send(TO, "behind", "").await;
    assert_eq!(http::total(server.http(), TO).await, 2, "nothing is due by the clock that was put back");
    server.clock.step_to(before);
    server.in_time(|stats| stats.emails == 1).await;
    assert_eq!(http::inbox(server.http(), TO).await["emails"][0]["subject"], "first");
    server.clock.step_to(Timestamp::from_millis(before.millis() + DAY_IN_MILLIS));
    assert_eq!(http::total(server.http(), TO).await, 0);
    server.send(TO, "ahead", "").await;
    server.in_time(|stats| stats.emails == 1).await;
    server.clock.step_to(before);
    server.send(TO, "after", "").await;
    let server = server.restart("retention = '1h'").await;
    assert_eq!(http::total(server.http(), TO).await, 2, "correcting the clock brings nothing back and loses nothing");
    server.stop().await;
}

#[tokio::test]
async fn the_segments_of_expired_mail_are_removed_from_the_disk() {
    let server = TestServer::with(SETTINGS).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let body = "x".repeat(76) + "\r\n";
    for _ in 0..24 {
        peer.deliver(TO, &format!("Subject: large\r\n\r\n{}", body.repeat(3_000))).await;
    }
    let full = server.stats().await;
    assert!(full.segments >= 5 && full.live_octets > 5 << 20, "{full:?}");
    server.clock.advance(RETENTION);
    // The spare segment and the segment in use.
    server.in_time(|stats| stats.emails == 0 && stats.live_octets == 0 && stats.segments <= 2).await;
    server.stop().await;
}
