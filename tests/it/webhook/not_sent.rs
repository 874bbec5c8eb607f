//! An event is not sent once its webhook is deleted or disabled, even if the event was read before.
//! Promise: it outlives the code below it.

use super::{LOCAL, look_what_is_due, prove, receiver, register, requests_to, send_many, wait_until};
use crate::support::exposition::Exposition;
use crate::support::test_disk::TestDisk;
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "a@example.test";
/// The most attempts in flight of one webhook.
const IN_FLIGHT: usize = 4;
/// More events than are read at once.
const MAILS: usize = 140;

/// A proven webhook at `/hook` that behaves like this from now on, with many events; its id.
async fn with_many_events(behaviour: Behaviour, timeout: &str) -> (TestServer, WebhookSink, String) {
    let sink = receiver(Behaviour::status(200)).await;
    let server =
        TestServer::ticking(&format!("{LOCAL}webhook-timeout = '{timeout}'\nwebhook-schedule = ['50ms']")).await;
    let webhook = register(&server, TO, &sink.url("/hook")).await;
    prove(&server, TO).await;
    sink.script("/hook", behaviour);
    send_many(&server, TO, MAILS).await;
    (server, sink, webhook)
}

/// Waits until the attempts that hang have ended, and other events have been sent.
async fn until_all_is_sent(server: &TestServer, sink: &WebhookSink) {
    Exposition::until(server.http(), "what hangs has ended", |metrics| {
        metrics.value("tempmail_webhook_attempts_total", &[("result", "timeout")]) > 0
    })
    .await;
    look_what_is_due(server, sink).await;
}

async fn delete(server: &TestServer, webhook: &str) {
    let deleted = server.delete(&format!("/api/webhooks?id={webhook}")).await;
    assert_eq!(deleted.json()["deleted"], 1);
}

#[tokio::test]
async fn a_deleted_webhook_gets_no_event_that_was_read_before() {
    let (server, sink, webhook) = with_many_events(Behaviour::Hang, "3s").await;
    // The one that proved it, and as many as may hang at once.
    sink.wait_for(1 + IN_FLIGHT).await;
    delete(&server, &webhook).await;
    until_all_is_sent(&server, &sink).await;
    assert_eq!(requests_to(&sink, "/hook"), 1 + IN_FLIGHT, "what waited for a place was not sent");
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_that_answered_410_gets_no_event_that_was_read_before() {
    let gone = Behaviour::InTurn(vec![Behaviour::status(410), Behaviour::Hang]);
    let (server, sink, _) = with_many_events(gone, "1s").await;
    wait_until(&server, TO, |webhook| webhook["status"] == "disabled").await;
    for _ in 0..5 {
        look_what_is_due(&server, &sink).await;
    }
    assert!(requests_to(&sink, "/hook") <= 1 + IN_FLIGHT, "those that were in flight when it was disabled");
    server.stop().await;
}

#[tokio::test]
async fn the_last_check_is_right_before_the_request() {
    for (deleted, requests) in [(TO, 0), ("b@example.test", 1)] {
        let (disk, sink) = (TestDisk::default(), receiver(Behaviour::status(200)).await);
        let server = TestServer::on(disk.clone(), LOCAL).await;
        let mut ids = Vec::new();
        for recipient in [TO, "b@example.test"] {
            ids.push((recipient, register(&server, recipient, &sink.url("/hook")).await));
        }
        let held = disk.hold(|call| call.is_by_reader_of("journal-"));
        server.send(TO, "Hello", "text").await;
        until("the event is being read", async || held.waiting() > 0).await;
        let (_, webhook) = ids.iter().find(|(recipient, _)| *recipient == deleted).expect("a webhook");
        delete(&server, webhook).await;
        drop(held);
        look_what_is_due(&server, &sink).await;
        server.stop().await;
        assert_eq!(requests_to(&sink, "/hook"), requests, "{deleted} was deleted");
    }
}
