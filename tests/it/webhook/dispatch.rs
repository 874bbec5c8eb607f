//! From mail to receiver: the whole daemon, a real receiver, a schedule of milliseconds.
//! Promise: it outlives the code below it.

use super::{LOCAL, QUICK, look_what_is_due, receiver, register, requests_to, send_many, wait_until};
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::Behaviour;

const TO: &str = "ann@example.test";

#[tokio::test]
async fn an_event_is_retried_with_the_same_id_and_body() {
    let turns =
        [Behaviour::status(500), Behaviour::Hang, Behaviour::Close, Behaviour::status(302), Behaviour::status(204)];
    let sink = receiver(Behaviour::InTurn(turns.to_vec())).await;
    let server = TestServer::ticking(QUICK).await;
    register(&server, TO, &sink.url("/hook")).await;
    server.send(TO, "Hello", "text").await;
    let requests = sink.wait_for(5).await;
    assert!(requests.iter().all(|request| request.body == requests[0].body));
    assert!(requests.iter().all(|request| request.header("webhook-id") == requests[0].header("webhook-id")));
    assert!(requests.iter().all(|request| request.header("x-webhook-signature").is_none()));
    wait_until(&server, TO, |webhook| !webhook["lastDeliveryAt"].is_null()).await;
    server.stop().await;
}

#[tokio::test]
async fn an_event_survives_a_restart_and_the_deletion_of_its_mail() {
    let sink = receiver(Behaviour::status(503)).await;
    let server = TestServer::ticking(QUICK).await;
    register(&server, TO, &sink.url("/hook")).await;
    server.send(TO, "Hello", "text").await;
    sink.wait_for(1).await;
    server.tempmail(&["delete", TO, "--yes"]).await;
    assert_eq!(server.stats().await.emails, 0);
    let server = server.restart(QUICK).await;
    sink.script("/hook", Behaviour::status(200));
    wait_until(&server, TO, |webhook| !webhook["lastDeliveryAt"].is_null()).await;
    let requests = sink.requests();
    assert!(requests.iter().all(|request| request.body == requests[0].body));
    server.stop().await;
}

#[tokio::test]
async fn a_410_disables_the_webhook_and_no_more_is_sent() {
    let sink = receiver(Behaviour::status(410)).await;
    let server = TestServer::ticking(QUICK).await;
    register(&server, TO, &sink.url("/hook")).await;
    server.send(TO, "one", "text").await;
    let webhook = wait_until(&server, TO, |webhook| webhook["status"] == "disabled").await;
    assert!(webhook["disabledReason"].as_str().is_some_and(|reason| reason.contains("410")), "{webhook}");
    server.send(TO, "two", "text").await;
    sink.script("/ok", Behaviour::status(200));
    register(&server, "bob@example.test", &sink.url("/ok")).await;
    server.send("bob@example.test", "three", "text").await;
    sink.wait_for(2).await;
    assert_eq!(requests_to(&sink, "/hook"), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_that_fails_pauses_although_more_events_come() {
    // As many as an unproven webhook may have pending.
    const MAILS: usize = 20;
    let sink = receiver(Behaviour::status(500)).await;
    let server = TestServer::ticking(LOCAL).await;
    register(&server, TO, &sink.url("/hook")).await;
    send_many(&server, TO, MAILS).await;
    sink.wait_for(2).await;
    for _ in 0..3 {
        look_what_is_due(&server, &sink).await;
    }
    // Without pauses each of them would have been sent by now. With them that takes minutes.
    let sent = requests_to(&sink, "/hook");
    assert!(sent < MAILS, "{sent}");
    server.stop().await;
}

#[tokio::test]
async fn receivers_that_hang_leave_slots_to_the_others() {
    const HANGING: usize = 20;
    const HEALTHY: usize = 100;
    // No attempt that hangs ends while the test runs.
    let server = TestServer::ticking(&format!("{LOCAL}webhook-timeout = '2m'")).await;
    let (mut hanging, mut healthy) = (Vec::new(), Vec::new());
    for number in 0..HANGING {
        let sink = receiver(Behaviour::Hang).await;
        register(&server, &format!("dead{number}@example.test"), &sink.url("/hook")).await;
        hanging.push(sink);
    }
    for number in 0..HEALTHY {
        let sink = receiver(Behaviour::status(200)).await;
        register(&server, &format!("ann{number}@example.test"), &sink.url("/hook")).await;
        healthy.push(sink);
    }
    for number in 0..HANGING {
        send_many(&server, &format!("dead{number}@example.test"), 5).await;
    }
    // No webhook is proven.
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
