//! A panic ends only the task in which it happens, and is counted. It ends the daemon only where nothing else helps.

use std::panic;
use std::time::Duration;

use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const TO: &str = "hello@example.test";

/// Makes a daemon see the panics of this process, as `serve` does. The previous panic hook still runs.
fn watch(server: &TestServer) {
    let (panics, before) = (server.panics.clone(), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        panics.record(info);
        before(info);
    }));
}

/// A regression: a panic in a worker ended the whole daemon.
#[tokio::test]
async fn a_worker_that_panics_is_restarted_and_nothing_else_ends() {
    let server = TestServer::start().await;
    watch(&server);
    // The workers have started. There is no SMTP session, because sessions read the clock as well.
    assert_eq!(http::total(server.http(), TO).await, 0);
    server.clock.panic_next();
    // Expiry and webhooks look every 5 s.
    until("a worker looks at the clock", async || {
        server.clock.wake();
        !server.clock.will_panic()
    })
    .await;
    let looks = server.clock.looks();
    until("the worker starts again", async || {
        server.clock.wake();
        server.clock.looks() >= looks + 2
    })
    .await;
    assert!(server.panics.count() > 0);
    server.send(TO, "after", "").await;
    assert_eq!(http::total(server.http(), TO).await, 1);
    server.clock.advance(Duration::from_hours(3));
    server.in_time(|stats| stats.emails == 0).await;
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
