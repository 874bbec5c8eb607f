//! Requests that wait for mail have places of their own, which are bounded and end with the service.
//! Promise: it outlives the code below it.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::TestServer;
use super::server::{GREEDY, OTHER, read_to_end, read_until};
use crate::support::until::until;

async fn wait(stream: &mut TcpStream) {
    let head = "GET /api/mail/wait?to=ann@example.test&timeout=300 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("write");
}

/// Waits until so many requests wait.
async fn until_waiting(api: &TestServer, expected: usize) {
    let line = format!("\ntempmail_http_requests_waiting {expected}\n");
    until("requests wait", async || api.get("/metrics").await.text().contains(&line)).await;
}

#[tokio::test]
async fn places_are_bounded_in_all_and_for_each_client() {
    let limits = "max-http-waiting = 3\nmax-http-waiting-per-client = 2\nlimit-exempt = ['none']";
    let api = TestServer::with(limits).await;
    let mut streams = Vec::new();
    for (client, refusal) in [
        (GREEDY, None),
        (GREEDY, None),
        (GREEDY, Some(("429", "too_many_waiting_for_client"))),
        (OTHER, None),
        (OTHER, Some(("503", "too_many_waiting"))),
    ] {
        let mut stream = api.connect_from(client).await;
        wait(&mut stream).await;
        if let Some((status, code)) = refusal {
            let answer = read_until(&mut stream, code, 1).await;
            let has_all = answer.contains(&format!("HTTP/1.1 {status}")) && answer.contains("retry-after: 5");
            assert!(has_all, "{answer}");
        } else {
            until_waiting(&api, streams.len() + 1).await;
            streams.push(stream);
        }
    }
    let of_administrator = api.administrator("GET", "/api/mail/wait?to=ann@example.test&timeout=1", "").await;
    assert_eq!(of_administrator.status, 204, "strangers take no place of the administrator");
    drop(streams);
    until_waiting(&api, 0).await;
}

#[tokio::test]
async fn a_wait_ends_at_once_when_the_service_stops() {
    let api = TestServer::start().await;
    let mut stream = api.connect().await;
    wait(&mut stream).await;
    until_waiting(&api, 1).await;
    let (_, answer) = tokio::join!(api.stop(), read_to_end(&mut stream));
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"stopping\""), "{answer}");
}
