//! Who gets a connection when many want one, over real sockets. No timeout ends within a test.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use serde_json::Value;
use tempmail::http::HttpLimits;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;

use super::TestApi;
use super::server::{endless, limits, read_to_end, read_until, serve};

const GREEDY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
const NEVER: Duration = Duration::from_hours(1);
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

pub(super) fn patient(connections_max: usize) -> HttpLimits {
    HttpLimits {
        connections_max,
        connections_per_client_max: 1_000,
        head_timeout: NEVER,
        body_timeout: NEVER,
        write_timeout: NEVER,
        ..limits()
    }
}

pub(super) async fn from(client: Ipv4Addr, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((client, 0))).expect("bind");
    socket.connect(server).await.expect("connect")
}

/// Sends a request, whose answer must be 200.
pub(super) async fn healthy(stream: &mut TcpStream) {
    stream.write_all(HEALTH).await.expect("write");
    read_until(stream, "HTTP/1.1 200", 1).await;
}

/// The status and the code of a refusal, which must have its fields.
fn refusal(answer: &str) -> (String, String) {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let body: Value = serde_json::from_str(body).expect("JSON");
    let lower = head.to_lowercase();
    for field in
        ["content-type: application/problem+json", "retry-after: 1", "connection: close", "cache-control: no-store"]
    {
        assert!(lower.contains(field), "{head}");
    }
    let status = head.split(' ').nth(1).expect("a status");
    assert_eq!(body["status"].to_string(), status);
    (status.to_owned(), body["code"].as_str().expect("a code").to_owned())
}

#[tokio::test]
async fn half_open_connections_of_one_client_make_way_for_others() {
    let server = serve(TestApi::new().router, patient(100)).await;
    let mut idle = from(OTHER, server.address).await;
    healthy(&mut idle).await;
    let mut flood = Vec::new();
    for number in 0..250_u8 {
        let mut stream = from(GREEDY, server.address).await;
        let start: &[u8] = match number % 3 {
            0 => b"",
            1 => b"GET /healthz HTTP/1.1\r\nHost: loc",
            _ => b"POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
        };
        // One that was evicted at once can no longer write.
        let _ = stream.write_all(start).await;
        flood.push(stream);
    }
    let mut new: Vec<TcpStream> = Vec::new();
    for client in 3..13 {
        let mut stream = from(Ipv4Addr::new(127, 0, 0, client), server.address).await;
        healthy(&mut stream).await;
        new.push(stream);
    }
    for stream in new.iter_mut().chain([&mut idle]) {
        healthy(stream).await;
    }
}

#[tokio::test]
async fn an_idle_connection_makes_way_for_a_new_one() {
    let server = serve(TestApi::new().router, patient(1)).await;
    let mut first = server.connect().await;
    healthy(&mut first).await;
    let mut second = server.connect().await;
    healthy(&mut second).await;
    assert_eq!(read_to_end(&mut first).await, "");
}

#[tokio::test]
async fn a_busy_connection_stays_until_its_answer_is_complete() {
    let gate = CancellationToken::new();
    let opened = gate.clone();
    let wait = get(move || async move {
        opened.cancelled().await;
        "done"
    });
    let router = Router::new().route("/", wait);
    let server = serve(router, patient(1)).await;
    let mut busy = server.connect().await;
    busy.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    let mut refused = from(OTHER, server.address).await;
    let answer = read_to_end(&mut refused).await;
    assert_eq!(refusal(&answer), ("503".to_owned(), "too_many_connections".to_owned()));
    let mut next = from(OTHER, server.address).await;
    next.write_all(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    gate.cancel();
    assert!(read_to_end(&mut busy).await.ends_with("done"));
    read_until(&mut next, "HTTP/1.1 404", 1).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_makes_way_for_others() {
    let dropped = CancellationToken::new();
    let server = serve(endless(&dropped), patient(1)).await;
    let mut stuck = from(GREEDY, server.address).await;
    stuck.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    let mut next = from(OTHER, server.address).await;
    next.write_all(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    read_until(&mut next, "HTTP/1.1 404", 1).await;
    assert!(dropped.is_cancelled());
}

#[tokio::test]
async fn a_client_that_owes_its_body_makes_way_for_others() {
    let router = Router::new().route("/", post(|body: String| async { body }));
    let server = serve(router, patient(1)).await;
    let mut slow = from(GREEDY, server.address).await;
    slow.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx").await.expect("write");
    let mut next = from(OTHER, server.address).await;
    next.write_all(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    read_until(&mut next, "HTTP/1.1 404", 1).await;
    assert_eq!(read_to_end(&mut slow).await, "");
}

#[tokio::test]
async fn a_client_has_so_many_connections() {
    let exempt = vec!["127.0.0.3/32".parse().expect("a network")];
    let server =
        serve(TestApi::new().router, HttpLimits { connections_per_client_max: 2, exempt, ..patient(100) }).await;
    let mut held = [from(GREEDY, server.address).await, from(GREEDY, server.address).await];
    for stream in &mut held {
        healthy(stream).await;
    }
    let mut beyond = from(GREEDY, server.address).await;
    let answer = read_to_end(&mut beyond).await;
    assert_eq!(refusal(&answer), ("429".to_owned(), "too_many_connections_for_client".to_owned()));
    let mut others = Vec::new();
    for _ in 0..4 {
        let mut stream = from(OTHER, server.address).await;
        healthy(&mut stream).await;
        others.push(stream);
    }
    let [first, mut second] = held;
    healthy(&mut second).await;
    drop(first);
    let mut again = crate::support::until::until_some("a connection that is permitted", async || {
        let mut stream = from(GREEDY, server.address).await;
        stream.write_all(HEALTH).await.ok()?;
        read_to_marker(&mut stream).await.then_some(stream)
    })
    .await;
    healthy(&mut again).await;
}

/// Whether the answer is 200.
async fn read_to_marker(stream: &mut TcpStream) -> bool {
    use tokio::io::AsyncReadExt;
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.is_ok() && &start == b"HTTP/1.1 200"
}
