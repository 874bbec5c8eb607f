//! Events that end without a request: those that are late, and those whose messages are damaged.
//! Promise: it outlives the code below it.

use std::path::Path;
use std::time::Duration;

use super::{LOCAL, lines, look_what_is_due, receiver, register, requests_to};
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "a@example.test";
const DAMAGED: usize = 10;

/// The receiver asks at the first event that nothing is sent for an hour.
async fn paused(settings: &str) -> (TestServer, WebhookSink, String) {
    let sink = receiver(Behaviour::with_header(503, "retry-after", "3600")).await;
    let server = TestServer::ticking(&format!("{LOCAL}webhook-schedule = ['20ms']\n{settings}")).await;
    let webhook = register(&server, TO, &sink.url("/hook")).await;
    server.send(TO, "first", "BROKEN").await;
    lines(&server, &webhook, 1).await;
    sink.script("/hook", Behaviour::status(200));
    (server, sink, webhook)
}

#[tokio::test]
async fn a_late_event_is_not_sent() {
    let (server, sink, webhook) = paused("retention = '1h'\nwebhook-grace = '1h'").await;
    server.send(TO, "second", "text").await;
    server.pass(Duration::from_mins(121)).await;
    look_what_is_due(&server, &sink).await;
    let log = lines(&server, &webhook, 3).await;
    assert!(log[..2].iter().all(|line| line["error"] == "too_late" && line["result"] == "given_up"), "{log:?}");
    assert_eq!(requests_to(&sink, "/hook"), 1);
    server.stop().await;
}

/// Changes an octet of each `BROKEN` in the files of a directory.
fn damage(dir: &Path) {
    for file in std::fs::read_dir(dir.join("store")).expect("list").map(|entry| entry.expect("entry").path()) {
        let Ok(mut octets) = std::fs::read(&file) else { continue };
        let places: Vec<usize> = memchr::memmem::find_iter(&octets, b"BROKEN").collect();
        if !places.is_empty() {
            for at in places {
                octets[at] = b'b';
            }
            let mut file = std::fs::OpenOptions::new().write(true).open(&file).expect("open");
            std::io::Write::write_all(&mut file, &octets).expect("write");
        }
    }
}

#[tokio::test]
async fn damaged_events_end_and_hold_up_no_other() {
    let (server, sink, webhook) = paused("").await;
    for number in 1..DAMAGED {
        server.send(TO, &number.to_string(), "BROKEN").await;
    }
    damage(server.dir());
    server.send(TO, "whole", "text").await;
    server.pass(Duration::from_mins(61)).await;
    look_what_is_due(&server, &sink).await;
    let log = lines(&server, &webhook, DAMAGED + 2).await;
    let count = |what: &str| log.iter().filter(|line| line["error"] == what).count();
    assert_eq!((count("damaged"), count("http_status"), log.len()), (DAMAGED, 1, DAMAGED + 2), "{log:?}");
    assert_eq!(requests_to(&sink, "/hook"), 2);
    server.stop().await;
}
