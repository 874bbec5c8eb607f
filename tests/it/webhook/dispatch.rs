//! From mail to receiver: the whole daemon, a real receiver, a schedule of milliseconds.

use std::time::Duration;

use serde_json::{Value, json};
use tempmail::config::Config;

use crate::support::test_server::TestServer;
use crate::support::until::until_some;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

/// Settings that make retries quick and let loopback be called.
pub fn quick(config: &mut Config) {
    config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("network")];
    config.webhooks.schedule = vec![Duration::from_millis(20)];
    config.webhooks.timeout = Duration::from_millis(300);
}

/// Registers a webhook; its id.
pub async fn register(server: &TestServer, recipient: &str, url: &str, secret: Option<&str>) -> String {
    let body = json!({"recipient": recipient, "url": url, "secret": secret});
    let (status, answer) = server.admin_post("/api/webhooks", &body).await;
    assert_eq!((status, &answer["status"]), (201, &json!("ok")), "{answer}");
    answer["id"].as_str().expect("id").to_owned()
}

async fn listed(server: &TestServer, recipient: &str) -> Value {
    server.admin_get(&format!("/api/webhooks?recipient={recipient}")).await[0].clone()
}

/// Waits until the only webhook of `recipient` is as `is_so` says.
pub async fn wait_until(server: &TestServer, recipient: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let webhook = async || Some(listed(server, recipient).await).filter(|webhook| is_so(webhook));
    until_some(format_args!("the webhook of {recipient} is as it should be"), webhook).await
}

#[tokio::test]
async fn mail_becomes_a_request_in_the_form_of_the_interface() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(200));
    let server = TestServer::ticking_config(quick).await;
    register(&server, "ann@example.test", &sink.url("/hook"), Some("s3cret")).await;
    server.send("ann@example.test", "Hello", "<b>text</b>").await;
    let request = sink.wait_for(1).await.remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("user-agent"), Some("tempmail/1.0"));
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let mut fields: Vec<&str> = body["email"].as_object().expect("email").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["bodyText", "from", "id", "message", "receivedAt", "recipient", "subject"]);
    assert_eq!((&body["event"], &body["email"]["subject"]), (&json!("email.received"), &json!("Hello")));
    assert!(body["timestamp"].as_str().is_some_and(|text| text.ends_with('Z')), "{body}");
    let id = request.header("webhook-id").expect("id");
    let at: i64 = request.header("webhook-timestamp").expect("time").parse().expect("seconds");
    let signed = tempmail::webhook::Signer::new(b"s3cret").sign(id, at, &request.body);
    assert_eq!(request.header("x-webhook-signature"), Some(signed.hex.as_str()));
    assert_eq!(request.header("webhook-signature"), Some(signed.standard.as_str()));
    let webhook = wait_until(&server, "ann@example.test", |webhook| !webhook["lastDeliveryAt"].is_null()).await;
    assert_eq!(webhook["failures"], 0);
    server.stop().await;
}

#[tokio::test]
async fn an_event_is_retried_with_the_same_id_and_body() {
    let sink = WebhookSink::start().await;
    let turns =
        [Behaviour::status(500), Behaviour::Hang, Behaviour::Close, Behaviour::status(302), Behaviour::status(204)];
    sink.script("/hook", Behaviour::InTurn(turns.to_vec()));
    let server = TestServer::ticking_config(quick).await;
    register(&server, "ann@example.test", &sink.url("/hook"), None).await;
    server.send("ann@example.test", "Hello", "text").await;
    let requests = sink.wait_for(5).await;
    assert!(requests.iter().all(|request| request.body == requests[0].body));
    assert!(requests.iter().all(|request| request.header("webhook-id") == requests[0].header("webhook-id")));
    assert!(requests.iter().all(|request| request.header("x-webhook-signature").is_none()));
    wait_until(&server, "ann@example.test", |webhook| !webhook["lastDeliveryAt"].is_null()).await;
    server.stop().await;
}

#[tokio::test]
async fn an_event_survives_a_restart_and_the_deletion_of_its_mail() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(503));
    let server = TestServer::ticking_config(quick).await;
    register(&server, "ann@example.test", &sink.url("/hook"), None).await;
    server.send("ann@example.test", "Hello", "text").await;
    sink.wait_for(1).await;
    server.tempmail(&["delete", "ann@example.test", "--yes"]).await;
    assert_eq!(server.stats().await.emails, 0);
    let server = server.restart_config(quick).await;
    sink.script("/hook", Behaviour::status(200));
    wait_until(&server, "ann@example.test", |webhook| !webhook["lastDeliveryAt"].is_null()).await;
    let requests = sink.requests();
    assert!(requests.iter().all(|request| request.body == requests[0].body));
    server.stop().await;
}

#[tokio::test]
async fn a_410_disables_the_webhook_and_no_more_is_sent() {
    let sink = WebhookSink::start().await;
    sink.script("/hook", Behaviour::status(410));
    let server = TestServer::ticking_config(quick).await;
    register(&server, "ann@example.test", &sink.url("/hook"), None).await;
    server.send("ann@example.test", "one", "text").await;
    let webhook = wait_until(&server, "ann@example.test", |webhook| webhook["status"] == "disabled").await;
    assert!(webhook["disabledReason"].as_str().is_some_and(|reason| reason.contains("410")), "{webhook}");
    server.send("ann@example.test", "two", "text").await;
    sink.script("/ok", Behaviour::status(200));
    let (ok, other) = (sink.url("/ok"), "bob@example.test");
    register(&server, other, &ok, None).await;
    server.send(other, "three", "text").await;
    let requests = sink.wait_for(2).await;
    assert_eq!(requests.iter().filter(|request| request.path == "/hook").count(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_receiver_that_hangs_delays_no_other() {
    // As many events as a webhook may have pending before its first delivery.
    const MAILS: usize = 20;
    let (dead, alive) = (WebhookSink::start().await, WebhookSink::start().await);
    dead.script("/hook", Behaviour::Hang);
    alive.script("/hook", Behaviour::status(200));
    let server = TestServer::ticking_config(|config| {
        quick(config);
        config.webhooks.timeout = Duration::from_secs(60);
    })
    .await;
    register(&server, "dead@example.test", &dead.url("/hook"), None).await;
    register(&server, "alive@example.test", &alive.url("/hook"), None).await;
    for n in 0..MAILS {
        server.send("dead@example.test", &format!("mail {n}"), "text").await;
    }
    dead.wait_for(1).await;
    for n in 0..MAILS {
        server.send("alive@example.test", &format!("mail {n}"), "text").await;
    }
    assert_eq!(alive.wait_for(MAILS).await.len(), MAILS);
    assert_eq!(dead.requests().len(), 1, "an unproven webhook has one attempt in flight");
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_sent_to_an_address_that_is_not_public() {
    let sink = WebhookSink::start().await;
    let server = TestServer::ticking_config(quick).await;
    let id = register(&server, "ann@example.test", &sink.url("/hook"), None).await;
    // The administrator closes the network again. The webhook stays registered.
    let server = server
        .restart_config(|config| {
            quick(config);
            config.webhooks.allow = Vec::new();
        })
        .await;
    server.send("ann@example.test", "Hello", "text").await;
    wait_until(&server, "ann@example.test", |webhook| webhook["failures"].as_u64() >= Some(1)).await;
    let log = server.admin_get(&format!("/api/admin/webhooks/{id}/deliveries")).await;
    assert!(log.to_string().contains("refused_address"), "{log}");
    assert_eq!(sink.connections(), 0);
    server.stop().await;
}

#[tokio::test]
async fn receivers_that_hang_leave_slots_to_the_others() {
    const HANGING: usize = 20;
    const HEALTHY: usize = 100;
    let server = TestServer::ticking_config(|config| {
        quick(config);
        // No attempt that hangs ends while the test runs.
        config.webhooks.timeout = Duration::from_secs(120);
        config.webhooks.in_flight_max = 16;
    })
    .await;
    let mut hanging = Vec::new();
    for number in 0..HANGING {
        let sink = WebhookSink::start().await;
        sink.script("/hook", Behaviour::Hang);
        register(&server, &format!("dead{number}@example.test"), &sink.url("/hook"), None).await;
        hanging.push(sink);
    }
    let mut healthy = Vec::new();
    for number in 0..HEALTHY {
        let sink = WebhookSink::start().await;
        sink.script("/hook", Behaviour::status(200));
        register(&server, &format!("ann{number}@example.test"), &sink.url("/hook"), None).await;
        healthy.push(sink);
    }
    for number in 0..HANGING {
        for _ in 0..5 {
            server.send(&format!("dead{number}@example.test"), "lost", "text").await;
        }
    }
    // No webhook is proven. Attempts that hang free their slots as soon as they are slow.
    for count in 1..=2 {
        for number in 0..HEALTHY {
            server.send(&format!("ann{number}@example.test"), "text", "text").await;
        }
        for sink in &healthy {
            sink.wait_for(count).await;
        }
    }
    for sink in &hanging {
        sink.wait_for(1).await;
    }
    assert!(hanging.iter().all(|sink| sink.requests().len() == 1), "one at each");
    server.stop().await;
}
