//! Receivers that hang do not slow down the others. The tests count requests; they measure no time.
//! Promise: it outlives the code below it.

use super::{LOCAL, lines, prove, receiver, register, requests_to, send_many, webhooks_of};
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const HEALTHY: usize = 100;
/// Webhooks of the receiver that hangs, and mails for each of them: as many events as a webhook may have pending.
const DEAD: usize = 10;
const DEAD_MAILS: usize = 300;
const ENDLESS_MAILS: usize = 20;

/// A service on which no attempt that hangs ends while the test runs.
async fn patient(settings: &str) -> TestServer {
    TestServer::ticking(&format!("{LOCAL}webhook-timeout = '2m'\n{settings}")).await
}

#[tokio::test]
async fn receivers_get_events_beside_one_that_hangs_and_one_with_an_endless_body() {
    let server = patient(&format!("outbox-events = {DEAD_MAILS}")).await;
    let (dead, endless) = (WebhookSink::start().await, receiver(Behaviour::EndlessBody(200)).await);
    let mut hanging = Vec::new();
    for number in 0..DEAD {
        let path = format!("/{number}");
        dead.script(&path, Behaviour::InTurn(vec![Behaviour::status(200), Behaviour::Hang]));
        hanging.push(register(&server, "dead@example.test", &dead.url(&path)).await);
    }
    prove(&server, "dead@example.test").await;
    register(&server, "endless@example.test", &endless.url("/hook")).await;
    let mut healthy = Vec::new();
    for number in 0..HEALTHY {
        let sink = receiver(Behaviour::status(200)).await;
        register(&server, &format!("h{number}@example.test"), &sink.url("/hook")).await;
        healthy.push(sink);
    }

    send_many(&server, "dead@example.test", DEAD_MAILS).await;
    dead.wait_for(DEAD + 1).await;
    send_many(&server, "endless@example.test", ENDLESS_MAILS).await;
    for count in 1..=3 {
        for number in 0..HEALTHY {
            server.send(&format!("h{number}@example.test"), "Hello", "text").await;
        }
        for sink in &healthy {
            assert_eq!(sink.wait_for(count).await.len(), count, "each event is sent once");
        }
    }
    endless.wait_for(ENDLESS_MAILS).await;

    let hang = dead.requests().len() - DEAD;
    assert!(hang <= 4 * DEAD, "{hang} attempts hang");
    for id in hanging {
        assert_eq!(lines(&server, &id, 1).await.len(), 1, "no attempt that hangs has ended");
    }
    for webhook in webhooks_of(&server, "dead@example.test").await {
        assert_eq!(webhook["dropped"], 0, "all its events are pending");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_prompt_receiver_that_begins_to_hang_has_four_attempts_in_flight() {
    const PROMPT: usize = 9;
    let server = patient("").await;
    let (sink, other) = (WebhookSink::start().await, receiver(Behaviour::status(200)).await);
    let behaviours = [vec![Behaviour::status(200); PROMPT], vec![Behaviour::Hang]].concat();
    sink.script("/hook", Behaviour::InTurn(behaviours));
    register(&server, "ann@example.test", &sink.url("/hook")).await;
    register(&server, "bob@example.test", &other.url("/hook")).await;
    prove(&server, "ann@example.test").await;
    send_many(&server, "ann@example.test", 30).await;
    sink.wait_for(PROMPT + 4).await;
    // These events get their turns behind the pending ones.
    send_many(&server, "bob@example.test", 10).await;
    other.wait_for(10).await;
    assert_eq!(sink.requests().len(), PROMPT + 4);
    server.stop().await;
}

#[tokio::test]
async fn large_bodies_that_no_receiver_takes_hold_up_no_small_one() {
    const HANGING: usize = 14;
    const OCTETS: usize = 3 << 20;
    let server = patient("max-message-size = '4MB'\nmax-webhooks-per-recipient = 20").await;
    let mut hanging = Vec::new();
    for _ in 0..HANGING {
        let sink = receiver(Behaviour::Hang).await;
        register(&server, "large@example.test", &sink.url("/hook")).await;
        hanging.push(sink);
    }
    let small = receiver(Behaviour::status(200)).await;
    register(&server, "small@example.test", &small.url("/hook")).await;
    server.send("large@example.test", "large", &format!("{}\r\n", "x".repeat(990)).repeat(OCTETS / 992)).await;
    until("a large body is sent", async || hanging.iter().any(|sink| requests_to(sink, "/hook") > 0)).await;
    for count in 1..=3 {
        server.send("small@example.test", "small", "text").await;
        small.wait_for(count).await;
    }
    server.stop().await;
}
