//! Requests that wait for mail have places of their own, which are bounded and end with the service.
//! Promise: it outlives the code below it.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::TestServer;
use super::server::{GREEDY, OTHER, read_to_end, read_until};

async fn wait(stream: &mut TcpStream, field: &str) {
    let head = "GET /api/mail/wait?to=ann@example.test&timeout=300 HTTP/1.1\r\nHost: localhost\r\n";
    stream.write_all(format!("{head}{field}\r\n").as_bytes()).await.expect("write");
}

#[tokio::test]
async fn places_are_bounded_in_all_and_for_each_client_and_network() {
    let limits = "max-http-waiting = 16\nmax-http-waiting-per-client = 2\nlimit-exempt = ['none']";
    let api = TestServer::with(limits).await;
    let mut streams = Vec::new();
    let of_client = Some(("429", "rate_limited"));
    let first_network = [
        (GREEDY, None),
        (GREEDY, None),
        (GREEDY, of_client),
        (OTHER, None),
        (OTHER, None),
        (Ipv4Addr::new(127, 0, 0, 4), of_client),
    ];
    let others = (1..=12).map(|network| (Ipv4Addr::new(127, 0, network, 1), None));
    let last = (Ipv4Addr::new(127, 0, 13, 1), Some(("503", "busy")));
    for (client, refusal) in first_network.into_iter().chain(others).chain([last]) {
        let mut stream = api.connect_from(client).await;
        wait(&mut stream, "").await;
        if let Some((status, code)) = refusal {
            let answer = read_until(&mut stream, code, 1).await;
            let has_all = answer.contains(&format!("HTTP/1.1 {status}")) && answer.contains("retry-after: 5");
            assert!(has_all, "{answer}");
        } else {
            api.until_waiting(streams.len() + 1).await;
            streams.push(stream);
        }
    }
    let of_administrator = api.administrator("GET", "/api/mail/wait?to=ann@example.test&timeout=1", "").await;
    assert_eq!(of_administrator.status, 204, "strangers take no place of the administrator");
    drop(streams);
    api.until_waiting(0).await;
}

#[tokio::test]
async fn the_clients_of_one_network_leave_places_to_others() {
    let api = TestServer::with("max-http-waiting = 400\ntrusted-proxies = ['127.0.0.0/8']").await;
    let mut streams = JoinSet::new();
    for client in 0..200 {
        let mut stream = api.connect().await;
        wait(&mut stream, &format!("X-Forwarded-For: 2001:db8:0:{:x}::1\r\n", client % 100)).await;
        streams.spawn(async move { read_until(&mut stream, "\"rate_limited\"", 1).await });
    }
    for _ in 0..100 {
        let refused = timeout(Duration::from_secs(60), streams.join_next()).await.expect("a refusal in time");
        let answer = refused.expect("a stream").expect("an answer");
        assert!(answer.contains("HTTP/1.1 429") && answer.contains("network"), "{answer}");
    }
    api.until_waiting(100).await;
    let mut newcomer = api.connect().await;
    wait(&mut newcomer, "X-Forwarded-For: 2001:db8:1::1\r\n").await;
    api.until_waiting(101).await;
}

#[tokio::test]
async fn a_wait_ends_at_once_when_the_service_stops() {
    let api = TestServer::start().await;
    let mut stream = api.connect().await;
    wait(&mut stream, "").await;
    api.until_waiting(1).await;
    let (_, answer) = tokio::join!(api.stop(), read_to_end(&mut stream));
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"stopping\""), "{answer}");
}
