//! When webhooks end, and the events of a service that runs as revision 1.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";
const DAY: Duration = Duration::from_hours(24);
/// A little more than the pause after a start.
const PAUSE: Duration = Duration::from_mins(11);
const LOCAL: &str = "webhook-allow = ['127.0.0.0/8']\n";
const IDLE_AFTER_TWO_DAYS: &str =
    "webhook-allow = ['127.0.0.0/8']\nwebhook-idle = '2d'\nwebhook-unproven-life = '300d'";

/// Registers a webhook, as the administrator or as a stranger.
async fn register(server: &TestServer, by: &str, recipient: &str, url: &str) {
    let body = json!({ "recipient": recipient, "url": url });
    let status = match by {
        "administrator" => server.admin_post("/api/webhooks", &body).await.0,
        _ => server.post("/api/webhooks", &body).await.status.as_u16(),
    };
    assert_eq!(status, 201);
}

/// The webhook of a recipient, or null.
async fn webhook(server: &TestServer, recipient: &str) -> Value {
    server.admin_get(&format!("/api/webhooks?recipient={recipient}")).await[0].clone()
}

/// Lets time pass, and the worker of expiry look several times.
async fn let_expiry_work_after(server: &TestServer, time: Duration) {
    server.pass(time).await;
    for _ in 0..20 {
        server.pass(Duration::from_secs(1)).await;
        server.stats().await;
    }
}

/// Lets time pass, and waits until the webhook is deleted.
async fn is_deleted_after(server: &TestServer, time: Duration, recipient: &str) {
    server.pass(time).await;
    until("the webhook is deleted", async || webhook(server, recipient).await.is_null()).await;
}

#[tokio::test]
async fn a_webhook_without_mail_is_deleted_and_one_with_mail_stays() {
    let (server, sink) = (TestServer::with(IDLE_AFTER_TWO_DAYS).await, WebhookSink::start().await);
    for recipient in ["idle@example.test", "later@example.test"] {
        register(&server, "administrator", recipient, &sink.url("/")).await;
    }
    server.clock.advance(DAY);
    server.send("later@example.test", "Hello", "").await;
    is_deleted_after(&server, DAY + PAUSE, "idle@example.test").await;
    assert!(!webhook(&server, "later@example.test").await.is_null());
    is_deleted_after(&server, DAY, "later@example.test").await;
    server.stop().await;
}

#[tokio::test]
async fn an_unproven_webhook_is_deleted_after_two_days_and_a_proven_one_stays() {
    let (server, sink) = (TestServer::with(LOCAL).await, WebhookSink::start().await);
    sink.script("/useful", Behaviour::status(200));
    register(&server, "stranger", "useful@example.test", &sink.url("/useful")).await;
    server.send("useful@example.test", "Hello", "").await;
    let is_proven = async || !webhook(&server, "useful@example.test").await["lastDeliveryAt"].is_null();
    until("the webhook is proven", is_proven).await;
    register(&server, "administrator", "mine@example.test", &sink.url("/")).await;
    register(&server, "stranger", "useless@example.test", &sink.url("/")).await;
    server.clock.advance(DAY);
    server.send("useless@example.test", "Hello", "").await;
    is_deleted_after(&server, DAY + PAUSE, "useless@example.test").await;
    for recipient in ["useful@example.test", "mine@example.test"] {
        assert!(!webhook(&server, recipient).await.is_null(), "{recipient}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_service_deletes_idle_webhooks_some_minutes_after_each_start() {
    let mut server = TestServer::with(IDLE_AFTER_TWO_DAYS).await;
    register(&server, "administrator", TO, "http://127.0.0.7:9/").await;
    server.clock.advance(3 * DAY);
    for _ in 0..2 {
        server = server.restart(IDLE_AFTER_TWO_DAYS).await;
        assert!(!webhook(&server, TO).await.is_null(), "the clock is not known yet");
    }
    // When a request was answered, the pause has begun.
    assert_eq!(http::total(server.http(), TO).await, 0);
    is_deleted_after(&server, PAUSE, TO).await;
    server.stop().await;
}

#[tokio::test]
async fn as_revision_1_pending_events_end_after_their_grace() {
    for is_in_time in [true, false] {
        let sink = WebhookSink::start().await;
        sink.script("/", Behaviour::status(500));
        let server = TestServer::with(LOCAL).await;
        register(&server, "administrator", TO, &sink.url("/")).await;
        server.send(TO, "waits", "").await;
        sink.wait_for(1).await;
        let server = server.restart("revision = 1").await;
        let_expiry_work_after(&server, PAUSE).await;
        let_expiry_work_after(&server, DAY + Duration::from_hours(1)).await;
        if !is_in_time {
            server.in_time(|stats| stats.live_octets == 0).await;
        }
        sink.script("/", Behaviour::status(200));
        let server = server.restart(LOCAL).await;
        let is_over = async || {
            let shown = webhook(&server, TO).await;
            shown["dropped"] == u64::from(!is_in_time) && shown["lastDeliveryAt"].is_null() != is_in_time
        };
        until(format_args!("an event within its grace is sent, others have ended: {is_in_time}"), is_over).await;
        assert_eq!(sink.requests().len(), 1 + usize::from(is_in_time));
        server.stop().await;
    }
}
