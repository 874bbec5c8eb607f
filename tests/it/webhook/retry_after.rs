//! A receiver asks with `Retry-After` that its webhook backs off: all events of the webhook wait, even after a restart.

use std::time::Duration;

use tempmail::clock::Clock;
use tempmail::model::{AttemptRecord, Timestamp, Verdict, WebhookId};
use tempmail::store::Outbox;

use super::running::{NOW, PER_ORIGIN, Running};
use crate::suites::outbox::{attempt, pending};
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "a@example.test";
const WAIT: Duration = Duration::from_mins(10);

/// A webhook whose receiver has asked it to back off at the first event, and another event that is pending. The receiver
/// takes all other events.
async fn backing_off() -> Running {
    let mut running = Running::new().await;
    let asks = Behaviour::with_header(503, "retry-after", &WAIT.as_secs().to_string());
    let webhook: WebhookId = running.register(TO, "/", Behaviour::InTurn(vec![asks, Behaviour::status(200)])).await;
    running.run();
    running.receive(TO).await;
    running.log(webhook, 1).await;
    running.receive(TO).await;
    running
}

#[tokio::test]
async fn the_whole_webhook_backs_off_and_no_other_does() {
    const MAILS: usize = 60;
    let mut running = Running::new().await;
    let webhook = running.register(TO, "/", Behaviour::with_header(429, "retry-after", "3600")).await;
    for _ in 0..MAILS {
        running.receive(TO).await;
    }
    running.run();
    running.requested("/", 1).await;
    for _ in 0..5 {
        running.scan().await;
    }
    let sent = running.requests("/");
    assert!(sent <= PER_ORIGIN, "{sent} were in flight");
    let log = running.log(webhook, 1).await;
    let asked = NOW.plus(Duration::from_hours(1));
    assert!(matches!(log[0].verdict, Verdict::Retry(at) if at >= asked), "{log:?}");
    running.sink.script("/", Behaviour::status(200));
    running.clock.advance(Duration::from_mins(61));
    running.requested("/", sent + MAILS).await;
}

#[tokio::test]
async fn a_new_dispatcher_lets_the_webhook_back_off() {
    let mut running = backing_off().await;
    running.stop().await;
    running.clock.advance(WAIT / 2);
    running.run();
    running.scan().await;
    // An event that comes now waits as well.
    running.receive(TO).await;
    running.clock.advance(WAIT / 3);
    running.scan().await;
    assert_eq!(running.requests("/"), 1);
    running.clock.advance(WAIT / 3);
    running.requested("/", 4).await;
}

#[tokio::test]
async fn a_new_dispatcher_after_the_clock_was_set_back_does_not_wait() {
    let mut running = backing_off().await;
    running.stop().await;
    running.clock.step_to(Timestamp::from_millis(NOW.millis() - 600_000));
    running.run();
    running.requested("/", 2).await;
}

#[tokio::test]
async fn a_recorded_wait_longer_than_the_longest_permitted_one_does_not_count() {
    let mut running = Running::new().await;
    let webhook = running.register(TO, "/", Behaviour::status(200)).await;
    for _ in 0..2 {
        running.receive(TO).await;
    }
    let event = pending(&*running.store, webhook).await.remove(0);
    let backs_off_until = Some(running.clock.now().plus(Duration::from_hours(2)));
    let record = AttemptRecord { backs_off_until, ..attempt(&event, Verdict::GivenUp) };
    running.store.record_attempt(record).await.expect("record");
    running.run();
    running.requested("/", 1).await;
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
    // The outbox is scanned for each of these events.
    for count in 2..=5 {
        send(&daemon, "bob@example.test").await;
        sink.wait_for(count).await;
    }
    assert_eq!(sink.requests().iter().filter(|request| request.path == "/").count(), 1);
}
