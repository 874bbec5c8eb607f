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
    // The session is open, so only the worker looks at this clock.
    let looks = server.clock.looks();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while server.clock.looks() == looks {
        assert!(tokio::time::Instant::now() < deadline, "the worker does not look at the clock");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Were anything to be removed, it would be before this is kept.
    peer.deliver("other@example.test", "Subject: second\r\n\r\n").await;
    assert_eq!(server.stats().await.emails, 2, "nothing is removed");
    server.clock.step_to(before);
    assert_eq!(http::total(server.http(), TO).await, 1, "readable again");
    server.stop().await;
}
