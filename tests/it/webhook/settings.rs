//! The daemon's settings, and its watch over the clock, have their effect on events.

use std::time::Duration;

use serde_json::{Value, json};
use tempmail::model::Timestamp;

use super::dispatch::{quick, register, wait_until};
use crate::support::test_server::TestServer;
use crate::support::until::{until, until_some};
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "ann@example.test";

/// The log of a webhook, once it has so many lines.
async fn lines(server: &TestServer, id: &str, count: usize) -> Vec<Value> {
    let log = async || {
        let log = server.admin_get(&format!("/api/admin/webhooks/{id}/deliveries")).await;
        log.as_array().filter(|log| log.len() >= count).cloned()
    };
    until_some(format_args!("{count} lines in the log"), log).await
}

#[tokio::test]
async fn an_event_is_retried_within_the_grace() {
    for (grace, is_retried) in [(Duration::ZERO, false), (Duration::from_hours(24), true)] {
        let sink = WebhookSink::start().await;
        sink.script("/hook", Behaviour::status(500));
        let server = TestServer::ticking_config(|config| {
            quick(config);
            config.webhooks.schedule = vec![Duration::from_hours(12)];
            config.webhooks.grace = grace;
        })
        .await;
        let id = register(&server, TO, &sink.url("/hook"), None).await;
        server.send(TO, "Hello", "text").await;
        let line = lines(&server, &id, 1).await.remove(0);
        assert_eq!(!line["nextAttemptAt"].is_null(), is_retried, "{line}");
        server.stop().await;
    }
}

#[tokio::test]
async fn no_event_is_late_while_the_clock_is_not_known_after_a_start() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(500));
    let slow = |config: &mut tempmail::config::Config| {
        quick(config);
        config.webhooks.schedule = vec![Duration::from_hours(1)];
        // Expiry removes no webhook while the test reads its log, however far the clock goes.
        config.webhooks.unproven_life = Duration::from_hours(24 * 300);
    };
    let server = TestServer::ticking_config(slow).await;
    let id = register(&server, TO, &sink.url("/hook"), None).await;
    server.send(TO, "Hello", "text").await;
    lines(&server, &id, 1).await;
    let clock = std::sync::Arc::clone(&server.clock);
    clock.reboot();
    clock.step_to(Timestamp::from_millis(1_700_000_000_000).plus(Duration::from_hours(100)));
    let server = server.restart_config(slow).await;
    // The event is sent although it seems to be late.
    let log = lines(&server, &id, 2).await;
    assert_eq!(log[0]["status"], 500, "{log:?}");
    sink.script("/other", Behaviour::status(200));
    register(&server, "bob@example.test", &sink.url("/other"), None).await;
    for delivered in 1..=3 {
        server.send("bob@example.test", "Hello", "text").await;
        wait_until(&server, "bob@example.test", |_| sink.requests().len() > 1 + delivered).await;
    }
    server.clock.advance(Duration::from_mins(75));
    let log = lines(&server, &id, 3).await;
    assert_eq!(log[0]["error"], "too_late", "{log:?}");
    server.stop().await;
}

#[tokio::test]
async fn events_beyond_the_rate_limit_of_an_address_wait_and_do_not_fail() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(200));
    let server = TestServer::ticking_config(|config| {
        quick(config);
        config.webhooks.per_address_per_minute = 2;
    })
    .await;
    register(&server, TO, &sink.url("/hook"), None).await;
    for _ in 0..5 {
        server.send(TO, "Hello", "text").await;
    }
    sink.wait_for(2).await;
    let are_sent = async || {
        server.clock.advance(Duration::from_secs(1));
        server.store().outbox_hint().notify_one();
        sink.requests().len() >= 5
    };
    until("all five events are sent", are_sent).await;
    wait_until(&server, TO, |webhook| webhook["failures"] == 0 && !webhook["lastDeliveryAt"].is_null()).await;
    server.stop().await;
}

#[tokio::test]
async fn a_port_that_was_refused_after_the_registration_is_not_called() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(200));
    let server = TestServer::ticking_config(quick).await;
    let id = register(&server, TO, &sink.url("/hook"), None).await;
    let port = sink.addr().port();
    let server = server
        .restart_config(move |config| {
            quick(config);
            config.webhooks.refused_ports = vec![port];
        })
        .await;
    server.send(TO, "Hello", "text").await;
    let line = lines(&server, &id, 1).await.remove(0);
    assert_eq!(line["error"], "refused_address", "{line}");
    assert_eq!(sink.connections(), 0);
    server.stop().await;
}

#[tokio::test]
async fn our_listeners_are_refused_at_the_public_addresses_too() {
    let server = TestServer::ticking_config(|config| {
        quick(config);
        config.domains.public_addresses = vec!["127.0.0.9".parse().expect("address")];
    })
    .await;
    for port in [server.smtp().port(), server.http().port()] {
        for (host, status) in [("127.0.0.1", 400), ("127.0.0.9", 400), ("127.0.0.8", 201)] {
            let body = json!({"recipient": TO, "url": format!("http://{host}:{port}/hook")});
            let (answered, answer) = server.admin_post("/api/webhooks", &body).await;
            assert_eq!(answered, status, "{host}: {answer}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn each_limit_of_the_outbox_has_its_own_setting() {
    for (of_webhook, in_all, dropped) in [(2_000, 1 << 30, 2), (64 << 20, 16_000, 3), (64 << 20, 1 << 30, 0)] {
        let server = TestServer::ticking_config(|config| {
            quick(config);
            config.webhooks.outbox_octets_per_webhook_max = of_webhook;
            config.webhooks.outbox_octets_max = in_all;
        })
        .await;
        let text = "x".repeat(1_200);
        let mut ids = Vec::new();
        for (recipient, mails) in [(TO, 3), ("bob@example.test", 1)] {
            // Nothing listens there.
            ids.push(register(&server, recipient, "http://127.0.0.7:9/hook", None).await);
            for _ in 0..mails {
                server.send(recipient, "Hello", &text).await;
            }
        }
        let mut all = 0;
        for id in ids {
            let record = server.store().webhook(id.parse().expect("an id")).await.expect("read");
            all += record.expect("the webhook").dropped;
        }
        assert_eq!(all, dropped, "{of_webhook} and {in_all}");
        server.stop().await;
    }
}
