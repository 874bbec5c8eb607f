//! What the whole daemon does about webhooks: which URLs it refuses, and when webhooks and events end.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tempmail::clock::Clock;
use tempmail::config::{Config, Endpoint, Revision};
use tempmail::model::{Client, Timestamp, WebhookId, WebhookLimits, WebhookRecord};
use tempmail::store::WebhookRegistration;

use super::clock::let_expiry_work;
use crate::suites::outbox::webhook;
use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";
const LIMITS: WebhookLimits = WebhookLimits { per_recipient: 9, total: 9, ..WebhookLimits::UNBOUNDED };
const DAY: Duration = Duration::from_hours(24);
/// A little more than the pause after a start.
const PAUSE: Duration = Duration::from_mins(11);

fn idle_after_two_days(config: &mut Config) {
    (config.webhooks.idle, config.webhooks.unproven_life) = (2 * DAY, 300 * DAY);
}

/// Registers a webhook for which mail last came at `last_mail_at`.
async fn register(server: &TestServer, url: &str, last_mail_at: Timestamp) -> WebhookId {
    let record = WebhookRecord { last_mail_at, ..webhook(TO, url) };
    let id = record.id;
    assert_eq!(server.store().register_webhook(record, LIMITS).await, Ok(WebhookRegistration::New));
    id
}

/// Lets time pass, and waits until the webhook is deleted.
async fn is_deleted_after(server: &TestServer, time: Duration, id: WebhookId) {
    server.clock.advance(time);
    until("the webhook is deleted", async || server.store().webhook(id).await == Ok(None)).await;
}

#[tokio::test]
async fn no_webhook_leads_to_a_listener_of_the_daemon_itself() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = TestServer::with_config(|config| {
        config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("a network")];
        config.tls.self_signed = true;
        config.smtp.smtps_listen = vec![any];
        config.http.https_listen = vec![any];
        config.smtp.lmtp_listen = vec![Endpoint::Tcp(any)];
    })
    .await;
    let register = async |url: &str| {
        let (status, answer) = server.admin_post("/api/webhooks", &json!({ "recipient": TO, "url": url })).await;
        (status, answer["code"].as_str().unwrap_or_default().to_owned())
    };
    let status = server.admin_get("/api/admin/status").await;
    for service in ["smtpListen", "smtpsListen", "lmtpListen", "httpListen", "httpsListen"] {
        let own: SocketAddr = status[service][0].as_str().and_then(|text| text.parse().ok()).expect(service);
        for host in ["127.0.0.1", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]"] {
            let refused = register(&format!("http://{host}:{}/hook", own.port())).await;
            assert_eq!(refused, (400, "url_own_listener".into()), "{service} by {host}");
        }
    }
    let sink = WebhookSink::start().await;
    assert_eq!(register(&sink.url("/hook")).await.0, 201, "the network is allowed");
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_without_mail_is_deleted_and_one_with_mail_stays() {
    let server = TestServer::with_config(idle_after_two_days).await;
    let start = server.clock.now();
    let idle = register(&server, "https://idle.example/", start).await;
    let later = register(&server, "https://later.example/", start.plus(DAY)).await;
    assert_eq!(http::total(server.http(), TO).await, 0);
    is_deleted_after(&server, 2 * DAY + PAUSE, idle).await;
    assert!(server.store().webhook(later).await.expect("read").is_some());
    is_deleted_after(&server, DAY, later).await;
    server.stop().await;
}

#[tokio::test]
async fn an_unproven_webhook_is_deleted_after_two_days_and_a_proven_one_stays() {
    let server = TestServer::start().await;
    let start = server.clock.now();
    let registrant = Some(Client::of([192, 0, 2, 1].into()));
    let stranger = |url| WebhookRecord { registrant, ..webhook(TO, url) };
    let useful = WebhookRecord { last_delivery_at: Some(start), ..stranger("https://useful.example/") };
    let useful_id = useful.id;
    server.store().register_webhook(useful, LIMITS).await.expect("register");
    let administrators = register(&server, "https://administrator.example/", start).await;
    let useless = WebhookRecord { last_mail_at: start.plus(DAY), ..stranger("https://useless.example/") };
    let useless_id = useless.id;
    server.store().register_webhook(useless, LIMITS).await.expect("register");
    assert_eq!(http::total(server.http(), TO).await, 0);
    is_deleted_after(&server, 2 * DAY + PAUSE, useless_id).await;
    for id in [useful_id, administrators] {
        assert!(server.store().webhook(id).await.expect("read").is_some());
    }
    server.stop().await;
}

#[tokio::test]
async fn a_service_deletes_idle_webhooks_some_minutes_after_each_start() {
    let mut server = TestServer::with_config(idle_after_two_days).await;
    let idle = register(&server, "https://idle.example/", server.clock.now()).await;
    server.clock.advance(3 * DAY);
    for _ in 0..2 {
        server = server.restart_config(idle_after_two_days).await;
        assert!(server.store().webhook(idle).await.expect("read").is_some(), "the clock is not known yet");
    }
    // When a request was answered, the pause has begun.
    assert_eq!(http::total(server.http(), TO).await, 0);
    is_deleted_after(&server, PAUSE, idle).await;
    server.stop().await;
}

#[tokio::test]
async fn as_revision_1_pending_events_end_after_their_grace_and_not_because_the_clock_jumps() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(500));
    let server =
        TestServer::with_config(|config| config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("network")]).await;
    let id = register(&server, &sink.url("/hook"), server.clock.now()).await;
    server.send(TO, "waits", "").await;
    let server = server.restart_config(|config| config.revision = Revision::One).await;
    let pending = async || server.store().pending_webhooks().await.expect("pending webhooks").len();
    server.clock.advance(PAUSE);
    let_expiry_work(&server).await;
    let before = server.clock.now();
    server.clock.step_to(before.plus(30 * DAY));
    let_expiry_work(&server).await;
    assert_eq!(pending().await, 1, "a clock that jumps ends nothing");
    server.clock.step_to(before);
    server.clock.advance(DAY + Duration::from_hours(1));
    let_expiry_work(&server).await;
    assert_eq!(pending().await, 1, "within its grace");
    server.in_time(|stats| stats.live_octets == 0).await;
    assert_eq!(pending().await, 0);
    let record = server.store().webhook(id).await.expect("read").expect("the webhook stays");
    assert_eq!(record.dropped, 1);
    server.stop().await;
}
