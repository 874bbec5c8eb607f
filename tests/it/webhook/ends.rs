//! Events that end without a request: those that are late, and those whose messages are damaged.

use std::time::Duration;

use tempmail::store::{Outbox, Store};

use super::running::{GRACE, NOW, Running};
use crate::support::mail::delivery;
use crate::support::webhook_sink::Behaviour;

const TO: &str = "a@example.test";

#[tokio::test]
async fn a_late_event_is_not_sent() {
    let mut running = Running::new().await;
    let webhook = running.register(TO, "/", Behaviour::status(200)).await;
    running.receive(TO).await;
    running.clock.advance(Duration::from_hours(1) + GRACE + Duration::from_secs(1));
    running.run();
    let log = running.log(webhook, 1).await;
    assert_eq!((log[0].error.as_deref(), running.requests("/")), (Some("too_late"), 0));
    assert_eq!(running.store.pending_webhooks().await, Ok(vec![]));
}

#[tokio::test]
async fn damaged_events_end_and_hold_up_no_other() {
    let mut running = Running::new().await;
    let webhook = running.register(TO, "/", Behaviour::status(200)).await;
    for n in 0..10 {
        let mail = delivery(&[TO], format!("Subject: {n}\r\n\r\nBROKEN"), NOW);
        running.store.receive(mail).await.expect("receive");
    }
    for file in std::fs::read_dir(running.dir.path()).expect("list").map(|entry| entry.expect("entry").path()) {
        let mut octets = std::fs::read(&file).expect("read");
        let places: Vec<usize> =
            (0..octets.len().saturating_sub(6)).filter(|at| &octets[*at..at + 6] == b"BROKEN").collect();
        if !places.is_empty() {
            for at in places {
                octets[at] = b'b';
            }
            let mut file = std::fs::OpenOptions::new().write(true).open(&file).expect("open");
            std::io::Write::write_all(&mut file, &octets).expect("write");
        }
    }
    running.receive(TO).await;
    running.run();
    let log = running.log(webhook, 11).await;
    let damaged = log.iter().filter(|record| record.error.as_deref() == Some("damaged")).count();
    assert_eq!((damaged, running.requests("/")), (10, 1), "{log:?}");
    assert_eq!(running.store.pending_webhooks().await, Ok(vec![]));
}
