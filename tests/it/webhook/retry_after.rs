//! A receiver asks with `Retry-After` that its webhook backs off: all events of the webhook wait, even after a restart.
//! Promise: it outlives the code below it.

use std::time::Duration;

use tempmail::model::Timestamp;

use super::{LOCAL, lines, look_what_is_due, prove, receiver, register, requests_to, send_many};
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::{START, TestServer};
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "a@example.test";
/// The most attempts in flight of one webhook.
const IN_FLIGHT: usize = 4;

fn quick() -> String {
    format!("{LOCAL}webhook-schedule = ['50ms']")
}

async fn are_requested(sink: &WebhookSink, count: usize) {
    until(format_args!("{count} requests"), async || requests_to(sink, "/hook") >= count).await;
}

#[tokio::test]
async fn the_whole_webhook_backs_off_and_no_other_does() {
    const MAILS: usize = 60;
    let sink = receiver(Behaviour::status(200)).await;
    let server = TestServer::ticking(&quick()).await;
    let webhook = register(&server, TO, &sink.url("/hook")).await;
    prove(&server, TO).await;
    sink.script("/hook", Behaviour::with_header(429, "retry-after", "3600"));
    send_many(&server, TO, MAILS).await;
    are_requested(&sink, 2).await;
    for _ in 0..5 {
        look_what_is_due(&server, &sink).await;
    }
    let sent = requests_to(&sink, "/hook") - 1;
    assert!(sent <= IN_FLIGHT, "{sent} were in flight");
    let line = &lines(&server, &webhook, 2).await[0];
    let next = Timestamp::from_text(line["nextAttemptAt"].as_str().expect("a time")).expect("a time");
    assert!(line["result"] == "retry" && next >= START.plus(Duration::from_hours(1)), "{line}");
    sink.script("/hook", Behaviour::status(200));
    server.pass(Duration::from_mins(61)).await;
    look_what_is_due(&server, &sink).await;
    are_requested(&sink, 1 + sent + MAILS).await;
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_backs_off_after_a_restart() {
    let asks = Behaviour::with_header(503, "retry-after", "600");
    let sink = receiver(Behaviour::InTurn(vec![asks, Behaviour::status(200)])).await;
    let server = TestServer::ticking(&quick()).await;
    let webhook = register(&server, TO, &sink.url("/hook")).await;
    server.send(TO, "first", "text").await;
    lines(&server, &webhook, 1).await;
    server.send(TO, "second", "text").await;
    let server = server.restart(&quick()).await;
    server.pass(Duration::from_mins(5)).await;
    look_what_is_due(&server, &sink).await;
    // An event that comes now waits as well.
    server.send(TO, "third", "text").await;
    server.pass(Duration::from_mins(3)).await;
    look_what_is_due(&server, &sink).await;
    assert_eq!(requests_to(&sink, "/hook"), 1);
    server.pass(Duration::from_mins(3)).await;
    look_what_is_due(&server, &sink).await;
    are_requested(&sink, 1 + 3).await;
    server.stop().await;
}

#[tokio::test]
async fn a_retry_is_due_if_it_would_wait_longer_than_the_schedule_permits() {
    let sink = receiver(Behaviour::InTurn(vec![Behaviour::status(500), Behaviour::status(200)])).await;
    let server = TestServer::ticking(LOCAL).await;
    let webhook = register(&server, TO, &sink.url("/hook")).await;
    server.send(TO, "Hello", "text").await;
    lines(&server, &webhook, 1).await;
    // The clock is set back by three hours.
    server.clock.step_to(Timestamp::from_millis(START.millis() - 3 * 3_600_000));
    look_what_is_due(&server, &sink).await;
    are_requested(&sink, 2).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_backs_off_after_the_process_was_killed() {
    let (dir, sink) = (tempfile::tempdir().expect("directory"), WebhookSink::start().await);
    sink.script("/", Behaviour::with_header(503, "retry-after", "3600"));
    sink.script("/other", Behaviour::status(200));
    let flags = ["--webhook-allow", "127.0.0.0/8", "--webhook-schedule", "50ms"];
    let daemon = Program::serve(dir.path(), &flags);
    let add = |recipient: &str, path: &str| {
        let added = daemon.tempmail(&["webhook", "add", recipient, &sink.url(path), "-o", "id"]);
        assert_eq!(added.code, Some(0), "{}", added.stderr);
        added.stdout.trim().to_owned()
    };
    let id = add("ann@example.test", "/");
    add("bob@example.test", "/other");
    let send = async |daemon: &Program, recipient: &str| {
        SmtpPeer::greeted(daemon.smtp).await.deliver(recipient, "Subject: s\r\n\r\ntext").await;
    };
    send(&daemon, "ann@example.test").await;
    let is_recorded = async || !daemon.tempmail(&["webhook", "deliveries", &id]).stdout.is_empty();
    until("the attempt is recorded", is_recorded).await;
    send(&daemon, "ann@example.test").await;
    daemon.kill();
    let daemon = Program::serve(dir.path(), &flags);
    // The service looks for each of these events what else is due.
    for count in 2..=5 {
        send(&daemon, "bob@example.test").await;
        sink.wait_for(count).await;
    }
    assert_eq!(requests_to(&sink, "/"), 1);
}
