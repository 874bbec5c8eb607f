//! Receivers that hang do not slow down the others. The tests count requests; they measure no time.

use std::time::Duration;

use futures_util::future::join_all;
use tempmail::clock::Clock;
use tempmail::model::{Timestamp, WebhookId, WebhookLimits};
use tempmail::store::WebhookRegistration;

use crate::suites::outbox::proven;
use crate::support::mail::delivery;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const HEALTHY: usize = 100;
/// Webhooks of the receiver that hangs, and mails for each of them: as many events as a webhook may have pending.
const DEAD: usize = 10;
const DEAD_MAILS: usize = 1_000;
const ENDLESS_MAILS: usize = 20;
const RECEIVED: Timestamp = Timestamp::from_millis(1_700_000_000_000);

async fn register(server: &TestServer, recipient: &str, url: &str) -> WebhookId {
    let limits = WebhookLimits { per_recipient: 10, total: 1_000, ..WebhookLimits::UNBOUNDED };
    let record = proven(recipient, url);
    let id = record.id;
    assert_eq!(server.store().register_webhook(record, limits).await, Ok(WebhookRegistration::New));
    id
}

/// Stores `count` mails for a recipient at once.
async fn receive(server: &TestServer, recipient: &str, count: usize) {
    let mails = (0..count).map(|_| server.store().receive(delivery(&[recipient], "text", RECEIVED)));
    assert!(join_all(mails).await.into_iter().all(|stored| stored.is_ok()));
}

/// Receives a mail for each healthy receiver. Waits until each has had `count` requests in all.
async fn send_to_all(server: &TestServer, healthy: &[WebhookSink], count: usize) {
    let recipients: Vec<String> = (0..healthy.len()).map(|number| format!("h{number}@example.test")).collect();
    join_all(recipients.iter().map(|recipient| receive(server, recipient, 1))).await;
    for sink in healthy {
        assert_eq!(sink.wait_for(count).await.len(), count, "each event is sent once");
    }
}

#[tokio::test]
async fn receivers_get_events_beside_one_that_hangs_and_one_with_an_endless_body() {
    let server = TestServer::ticking_config(|config| {
        config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("network")];
        // No attempt that hangs ends while the test runs.
        config.webhooks.timeout = Duration::from_secs(300);
    })
    .await;
    let (dead, endless) = (WebhookSink::start().await, WebhookSink::start().await);
    endless.script("/hook", Behaviour::EndlessBody(200));
    let mut hanging = Vec::new();
    for number in 0..DEAD {
        let path = format!("/{number}");
        dead.script(&path, Behaviour::Hang);
        hanging.push(register(&server, "dead@example.test", &dead.url(&path)).await);
    }
    register(&server, "endless@example.test", &endless.url("/hook")).await;
    let mut healthy = Vec::new();
    for _ in 0..HEALTHY {
        let sink = WebhookSink::start().await;
        sink.script("/hook", Behaviour::status(200));
        healthy.push(sink);
    }
    let recipients: Vec<String> = (0..HEALTHY).map(|number| format!("h{number}@example.test")).collect();
    let urls: Vec<String> = healthy.iter().map(|sink| sink.url("/hook")).collect();
    join_all(recipients.iter().zip(&urls).map(|(recipient, url)| register(&server, recipient, url))).await;

    receive(&server, "dead@example.test", DEAD_MAILS).await;
    dead.wait_for(1).await;
    receive(&server, "endless@example.test", ENDLESS_MAILS).await;
    for count in 1..=3 {
        send_to_all(&server, &healthy, count).await;
    }
    endless.wait_for(ENDLESS_MAILS).await;

    assert!(dead.requests().len() <= 16 && dead.connections() <= 16, "{} attempts hang", dead.connections());
    for id in hanging {
        assert_eq!(
            server.store().attempts(id, 1, server.clock.now()).await,
            Ok(vec![]),
            "no attempt that hangs has ended"
        );
        let record = server.store().webhook(id).await.expect("read").expect("the webhook");
        assert_eq!(record.dropped, 0, "all its events are pending");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_prompt_receiver_that_begins_to_hang_has_four_attempts_in_flight() {
    let server = TestServer::ticking_config(|config| {
        config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("network")];
        config.webhooks.timeout = Duration::from_secs(300);
    })
    .await;
    let (sink, other) = (WebhookSink::start().await, WebhookSink::start().await);
    let mut behaviours = vec![Behaviour::status(200); 8];
    behaviours.push(Behaviour::Hang);
    sink.script("/hook", Behaviour::InTurn(behaviours));
    other.script("/hook", Behaviour::status(200));
    register(&server, "ann@example.test", &sink.url("/hook")).await;
    register(&server, "bob@example.test", &other.url("/hook")).await;
    receive(&server, "ann@example.test", 30).await;
    sink.wait_for(8 + 4).await;
    // These events get their turns behind the pending ones.
    receive(&server, "bob@example.test", 10).await;
    other.wait_for(10).await;
    assert_eq!(sink.requests().len(), 8 + 4);
    server.stop().await;
}
