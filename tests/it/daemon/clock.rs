//! The time of day jumps.

use std::time::Duration;

use tempmail::clock::Clock;

use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const TO: &str = "hello@example.test";

#[tokio::test]
async fn after_a_step_forward_reads_follow_and_nothing_is_removed() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.deliver(TO, "Subject: first\r\n\r\n").await;
    let before = server.clock.now();
    server.clock.step_to(before.plus(Duration::from_hours(24)));
    assert_eq!(http::total(server.http(), TO).await, 0, "reads follow");
    // Longer than the worker's longest sleep: it has seen the step.
    tokio::time::sleep(Duration::from_millis(5_500)).await;
    assert_eq!(server.stats().await.emails, 1, "nothing is removed");
    server.clock.step_to(before);
    assert_eq!(http::total(server.http(), TO).await, 1, "readable again");
    server.stop().await;
}
