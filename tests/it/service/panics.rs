//! A panic ends only the task in which it happens, and is counted. It ends the daemon only where nothing else helps.
//! Promise: it outlives the code below it.

use std::panic;
use std::time::Duration;

use serde_json::json;

use crate::support::test_disk::TestDisk;
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, Request, WebhookSink};

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
async fn a_worker_that_panics_goes_on_and_nothing_else_ends() {
    let (disk, sink) = (TestDisk::default(), WebhookSink::start().await);
    sink.script("/", Behaviour::status(200));
    let server = TestServer::on(disk.clone(), "webhook-allow = ['127.0.0.0/8']\nwebhook-schedule = ['10ms']").await;
    watch(&server);
    let body = json!({ "recipient": TO, "url": sink.url("/") });
    let (_, registered) = server.admin_post("/api/webhooks", &body).await;
    let log = format!("/api/admin/webhooks/{}/deliveries", registered["id"].as_str().expect("an id"));
    let panicking = disk.fail(|call| {
        assert!(!call.is_by_reader_of("journal-"), "as the test wants");
        None
    });
    server.send(TO, "read by the worker of webhooks", "").await;
    until("the attempt has failed", async || !server.admin_get(&log).await[0].is_null()).await;
    assert!(server.panics.count() > 0);
    drop(panicking);
    let is_sent = async || {
        server.pass(Duration::from_secs(1)).await;
        server.send(TO, "after", "").await;
        let subject = |request: &Request| String::from_utf8_lossy(&request.body).contains("read by the worker");
        sink.requests().iter().any(subject)
    };
    until("the event is sent again", is_sent).await;
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
