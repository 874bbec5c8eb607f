//! Attacks by strangers who register webhooks: on third parties, on other users, and on this service.
//! Promise: it outlives the code below it.

use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::{LIMITED, QUICK, lines, prove, receiver, register, register_with, wait_until};
use crate::support::clock::Still;
use crate::support::http;
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const KB: usize = 1024;
/// What a host that took no event may get in a minute.
const CALLS_MAX: usize = 120;
const OCTETS_MAX: usize = 8_000_000;

/// Registers a webhook from a client's address. Returns the status and the body of the response.
async fn register_from(client: &str, server: &TestServer, body: &Value) -> (u16, Value) {
    let from: IpAddr = client.parse().expect(client);
    let client = http::client_builder().local_address(from).build().expect("a client");
    let answer =
        client.post(format!("http://{}/api/webhooks", server.http())).json(body).send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.expect("JSON"))
}

fn of(recipient: &str, url: &str, secret: &str) -> Value {
    json!({ "recipient": recipient, "url": url, "secret": secret })
}

/// A text of so many octets.
fn text_of(octets: usize) -> String {
    format!("{}\r\n", "x".repeat(70)).repeat(octets / 72)
}

#[tokio::test]
async fn a_victim_gets_few_requests_and_octets_however_many_webhooks_lead_there() {
    const WEBHOOKS: usize = 40;
    for (text, mails) in [(text_of(200 * KB), 1), ("small".to_owned(), 10)] {
        let (victim, other) = (WebhookSink::start().await, WebhookSink::start_on_two().await);
        other.script("/hook", Behaviour::status(200));
        let limits = "webhook-timeout = '20s'\nwebhook-schedule = ['10ms']\nwebhook-registrations-per-minute = 1000";
        let server = TestServer::with(&format!("{LIMITED}{limits}")).await;
        // Each webhook is of another network, and half of them have a name of their own for the victim.
        let port = victim.addr().port();
        for number in 0..WEBHOOKS {
            let host = if number % 2 == 0 { format!("v{number}.localhost") } else { "127.0.0.1".to_owned() };
            let hook = of(&format!("v{}@example.test", number % 20), &format!("http://{host}:{port}/{number}"), "");
            assert_eq!(register_from(&format!("127.0.{number}.1"), &server, &hook).await.0, 201);
        }
        // At another host, since the ports of one share its limits.
        register(&server, "b@example.test", &format!("http://127.0.0.2:{}/hook", other.addr().port())).await;
        for number in 0..20 * mails {
            server.send(&format!("v{}@example.test", number % 20), "mail", &text).await;
        }
        victim.wait_for(1).await;
        // Meanwhile another receiver gets events, so the outbox is scanned as often.
        for count in 1..=20 {
            server.send("b@example.test", "mail", "text").await;
            other.wait_for(count).await;
        }
        let attempts = victim.requests().len();
        assert!(attempts <= CALLS_MAX, "{attempts} in a minute");
        let octets: usize = victim.requests().iter().map(|request| request.body.len()).sum();
        assert!(octets <= OCTETS_MAX, "{octets} octets in a minute");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_client_with_all_its_webhooks_leaves_room_to_the_others() {
    let limits = "max-webhooks-per-client = 5\nmax-webhooks = 8\nwebhook-registrations-per-minute = 10";
    let server = TestServer::with(limits).await;
    let url = |client: usize, number: usize| format!("https://c{client}.example/{number}");
    let register = async |client: usize, number: usize| {
        let from = format!("127.0.0.{client}");
        let body = of(&format!("a{number}@example.test"), &url(client, number), "");
        let (status, answer) = register_from(&from, &server, &body).await;
        (status, answer["code"].as_str().unwrap_or_default().to_owned())
    };
    for number in 0..5 {
        assert_eq!(register(2, number).await.0, 201);
    }
    assert_eq!(register(2, 5).await, (422, "limit_reached".to_owned()));
    assert_eq!(register(2, 0).await.0, 200, "it is registered already");
    for _ in 0..20 {
        register(2, 6).await;
    }
    assert_eq!(register(2, 7).await, (429, "rate_limited".to_owned()));
    server.clock.advance(Duration::from_secs(1));
    for number in 0..3 {
        assert_eq!(register(3, number).await.0, 201, "another client sent too many");
    }
    // No more webhooks are permitted. After an hour the oldest unproven one is evicted.
    assert_eq!(register(4, 0).await, (422, "limit_reached".to_owned()));
    server.clock.advance(Duration::from_mins(61));
    for number in 0..5 {
        assert_eq!(register(4, number).await.0, 201);
    }
    let page = server.admin_get("/api/admin/webhooks?origin=https://c2.example").await;
    assert_eq!(page["webhooks"].as_array().map(Vec::len), Some(0), "{page}");
    let all = server.admin_get("/api/admin/webhooks").await;
    assert_eq!(all["webhooks"].as_array().map(Vec::len), Some(8), "{all}");
    // The administrator sees which client that is, and deletes its webhooks.
    let listed = server.tempmail(&["webhook", "list", "--all", "--origin", "https://c4.example/x", "-o", "tsv"]).await;
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!((listed.code, lines.len()), (Some(0), 5), "{}", listed.stderr);
    assert!(lines.iter().all(|line| line.ends_with("@example.test\t127.0.0.4")), "{lines:?}");
    let removed = server.tempmail(&["webhook", "remove", "--origin", "https://c4.example", "--yes"]).await;
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(0), "https://c4.example\t5\n"), "{}", removed.stderr);
    let others = server.tempmail(&["webhook", "list", "--all", "--domain", "example.test", "-o", "id"]).await;
    assert_eq!(others.stdout.lines().count(), 3);
    server.stop().await;
}

#[tokio::test]
async fn receivers_that_hang_for_clients_of_many_networks_hold_up_nobody() {
    const CLIENTS: usize = 40;
    let (hanging, healthy) = (receiver(Behaviour::Hang).await, receiver(Behaviour::status(200)).await);
    // No attempt that hangs ends while the test runs.
    let server = TestServer::ticking("webhook-allow = ['127.0.0.0/8']\nwebhook-timeout = '2m'").await;
    for client in 0..CLIENTS {
        for number in 0..10 {
            let hook = of(&format!("v{client}@example.test"), &hanging.url(&format!("/hook?{number}")), "");
            assert_eq!(register_from(&format!("127.0.{client}.1"), &server, &hook).await.0, 201);
        }
    }
    for client in 0..CLIENTS {
        server.send(&format!("v{client}@example.test"), "mail", "text").await;
    }
    hanging.wait_for(10 * CLIENTS).await;
    let hook = of("a@example.test", &healthy.url("/hook"), "");
    assert_eq!(register_from("127.0.200.1", &server, &hook).await.0, 201);
    for count in 1..=3 {
        server.send("a@example.test", "mail", "text").await;
        healthy.wait_for(count).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn only_the_administrators_webhook_gets_events_of_an_address_that_became_a_role_address() {
    let sink = WebhookSink::start().await;
    sink.script("/stranger", Behaviour::status(200));
    sink.script("/admin", Behaviour::status(200));
    let settings = |roles: &str| format!("{QUICK}domain = ['mail.example.com']\nrole-addresses = '{roles}'");
    let to = "billing@mail.example.com";
    let server = TestServer::ticking(&settings("none")).await;
    let (status, answer) = register_from("127.0.0.1", &server, &of(to, &sink.url("/stranger"), "")).await;
    assert_eq!(status, 201, "{answer}");
    let stranger = answer["id"].as_str().expect("id").to_owned();
    register(&server, to, &sink.url("/admin")).await;
    let server = server.restart(&settings("billing")).await;
    server.send(to, "Your certificate", "the code is 123456").await;
    assert_eq!(sink.wait_for(1).await[0].path, "/admin");
    let line = &lines(&server, &stranger, 1).await[0];
    assert_eq!((&line["error"], &line["result"]), (&json!("role_address"), &json!("given_up")));
    assert!(sink.requests().iter().all(|request| request.path == "/admin"));
    server.stop().await;
}

#[tokio::test]
async fn a_secret_can_be_guessed_at_most_sixty_times_a_minute() {
    let server = TestServer::start().await;
    let url = "https://a.example/hook";
    register_with(&server, "a@example.test", url, "s3cret").await;
    let still = Still::begin();
    let mut answers = Vec::new();
    for number in 0..62 {
        let secret = if number == 61 { "s3cret".to_owned() } else { format!("guess {number}") };
        answers.push(register_from("127.0.0.1", &server, &of("a@example.test", url, &secret)).await.0);
    }
    assert!(answers[..60].iter().all(|status| *status != 429), "{answers:?}");
    assert_eq!(answers[60..], [429, 429], "the right secret gets the same answer as a wrong one");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(register_from("127.0.0.1", &server, &of("a@example.test", url, "s3cret")).await.0, 200);
    assert_eq!(register_from("127.0.0.1", &server, &of("a@example.test", url, "s3cret")).await.0, 429);
    drop(still);
    server.stop().await;
}

#[tokio::test]
async fn a_receiver_that_is_briefly_down_loses_no_event_to_many_unproven_webhooks() {
    const STRANGERS: usize = 300;
    let (sink, honest) = (receiver(Behaviour::status(200)).await, "honest@example.test");
    let settings = "webhook-allow = ['127.0.0.0/8']\nwebhook-schedule = ['200ms']\noutbox-size = '2MB'";
    let server = TestServer::ticking(settings).await;
    let id = register(&server, honest, &sink.url("/hook")).await;
    prove(&server, honest).await;
    sink.script("/hook", Behaviour::status(500));
    for number in 0..STRANGERS {
        register(&server, &format!("s{}@example.test", number % 30), &format!("http://n{number}.invalid/")).await;
    }
    for _ in 0..3 {
        server.send(honest, "kept", &text_of(250 * KB)).await;
    }
    for number in 0..60 {
        server.send(&format!("s{}@example.test", number % 30), "pressure", &text_of(20 * KB)).await;
    }
    assert_eq!(wait_until(&server, honest, |_| true).await["dropped"], 0);
    sink.script("/hook", Behaviour::status(200));
    let are_delivered = async || lines(&server, &id, 1).await.iter().filter(|line| line["status"] == 200).count() == 4;
    until("all three events are delivered", are_delivered).await;
    let requests = sink.requests();
    let ids: HashSet<_> = requests.iter().map(|request| request.header("webhook-id").expect("an id")).collect();
    assert_eq!(ids.len(), 4);
    server.stop().await;
}
