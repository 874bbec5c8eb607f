//! The daemon's settings have their effect on events.
//! Promise: it outlives the code below it.

use std::time::Duration;

use super::{LOCAL, QUICK, first_attempt, lines, prove, receiver, register, send_many, wait_until};
use crate::support::test_server::TestServer;
use crate::support::until::until;
use crate::support::webhook_sink::Behaviour;

const TO: &str = "ann@example.test";

#[tokio::test]
async fn an_event_is_retried_within_the_grace() {
    for (grace, is_retried) in [("0s", false), ("24h", true)] {
        let sink = receiver(Behaviour::status(500)).await;
        let settings = format!("{LOCAL}webhook-schedule = ['12h']\nwebhook-grace = '{grace}'");
        let server = TestServer::ticking(&settings).await;
        let line = first_attempt(&server, &sink.url("/hook")).await;
        assert_eq!(!line["nextAttemptAt"].is_null(), is_retried, "{line}");
        server.stop().await;
    }
}

#[tokio::test]
async fn events_beyond_the_rate_limit_of_an_address_wait_and_do_not_fail() {
    let (sink, other) = (receiver(Behaviour::status(200)).await, receiver(Behaviour::status(200)).await);
    let server = TestServer::ticking(&format!("{QUICK}webhook-per-address-per-minute = 2")).await;
    register(&server, TO, &sink.url("/hook")).await;
    register(&server, "other@example.test", &other.url("/hook")).await;
    send_many(&server, TO, 5).await;
    sink.wait_for(2).await;
    let are_sent = async || {
        server.pass(Duration::from_secs(10)).await;
        // When an event comes, the service looks what else is due.
        server.send("other@example.test", "Hello", "text").await;
        sink.requests().len() >= 5
    };
    until("all five events are sent", are_sent).await;
    wait_until(&server, TO, |webhook| webhook["failures"] == 0 && !webhook["lastDeliveryAt"].is_null()).await;
    server.stop().await;
}

#[tokio::test]
async fn each_limit_of_the_outbox_has_its_own_setting() {
    // Six mails of 200 KB, of which five fit into a megabyte, are pending for each of two webhooks.
    let text = format!("{}\r\n", "x".repeat(70)).repeat(200 * 1024 / 72);
    for (settings, dropped) in
        [("outbox-size-per-webhook = '1MB'", 2), ("outbox-events = 3", 6), ("outbox-size = '1MB'", 7), ("", 0)]
    {
        let server = TestServer::with(&format!("{LOCAL}{settings}")).await;
        let (mut ids, mut sinks) = (Vec::new(), Vec::new());
        let recipients = [TO, "bob@example.test"];
        for recipient in recipients {
            let sink = receiver(Behaviour::status(200)).await;
            ids.push(register(&server, recipient, &sink.url("/hook")).await);
            prove(&server, recipient).await;
            sink.script("/hook", Behaviour::status(500));
            sinks.push(sink);
        }
        for recipient in recipients {
            for _ in 0..6 {
                server.send(recipient, "Hello", &text).await;
            }
        }
        let mut all = 0;
        for (recipient, id) in recipients.into_iter().zip(ids) {
            let of_webhook = wait_until(&server, recipient, |_| true).await["dropped"].as_u64().expect("a number");
            let log = lines(&server, &id, 1).await;
            assert_eq!(log.iter().filter(|line| line["error"] == "outbox_full").count() as u64, of_webhook, "{log:?}");
            all += of_webhook;
        }
        assert_eq!(all, dropped, "{settings}");
        server.stop().await;
    }
}
