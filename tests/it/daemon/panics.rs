//! A panic anywhere costs what it happened in, is counted, and ends the daemon only where nothing else would do.

use std::panic;
use std::time::Duration;

use tempmail::daemon::DaemonError;
use tempmail::error::{Error, Exit};

use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const TO: &str = "hello@example.test";

/// Makes a daemon see the panics of this process, as `serve` does. What was to be done with them is still done.
fn watch(server: &TestServer) {
    let (panics, before) = (server.panics.clone(), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        panics.record(info);
        before(info);
    }));
}

/// The daemon used to end as if it had been asked to, with exit code 0, so that nothing started it again.
#[tokio::test]
async fn a_worker_that_panics_ends_the_daemon_and_loses_nothing() {
    let server = TestServer::start().await;
    watch(&server);
    server.send(TO, "before", "").await;
    let panics = server.panics.clone();
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    server.clock.panic_next();
    peer.expect("421 4.3.2").await;
    let (clock, (dir, error)) = (server.clock.clone(), server.ended().await);
    assert!(matches!(error, DaemonError::PartEnded { part: "expiry" | "webhooks" }), "{error:?}");
    assert!(panics.count() >= 1);
    assert_eq!(Error::from(error).exit(), Exit::Failure);
    let server = TestServer::again(dir, clock).await;
    assert_eq!(http::total(server.http(), TO).await, 1);
    server.stop().await;
}

#[tokio::test]
async fn the_status_counts_panics() {
    let server = TestServer::start().await;
    watch(&server);
    let before = server.admin_get("/api/admin/status").await["panics"].as_u64().expect("a number");
    std::thread::spawn(|| panic!("on purpose")).join().expect_err("a panic");
    let status = server.admin_get("/api/admin/status").await;
    assert!(status["panics"].as_u64().expect("a number") > before, "{status}");
    let shown = server.tempmail(&["status"]).await;
    assert!(shown.stdout.lines().any(|line| line.starts_with("panics\t") && line != "panics\t0"), "{shown:?}");
    tokio::time::timeout(Duration::from_secs(20), server.stop()).await.expect("an end");
}
