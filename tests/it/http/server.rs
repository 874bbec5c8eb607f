//! Connections: their timeouts and bounds, what a panic costs, and how they end when the service stops.
//! Promise: it outlives the code below it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::TestServer;
use crate::support::test_disk::TestDisk;
use crate::support::test_disk::rules::Held;
use crate::support::until::until;

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// A request that owes its body.
const OWED: &[u8] = b"POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                      Content-Length: 10\r\nConnection: close\r\n\r\n{";
pub(super) const GREEDY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
pub(super) const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

impl TestServer {
    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.http()).await.expect("connect")
    }

    /// A connection of the client with this address.
    pub(super) async fn connect_from(&self, client: Ipv4Addr) -> TcpStream {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from((client, 0))).expect("bind");
        socket.connect(self.http()).await.expect("connect")
    }

    /// Sends octets, and returns all octets that come back until the server closes.
    pub(super) async fn exchange(&self, octets: &[u8]) -> String {
        let mut stream = self.connect().await;
        // A server that has already closed has sent its reason before.
        let _ = stream.write_all(octets).await;
        read_to_end(&mut stream).await
    }
}

pub(super) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    // A reset counts as a close, because the server may close before it has read all our octets.
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        all.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Sends a request, whose answer must be 200.
async fn healthy(stream: &mut TcpStream) {
    stream.write_all(HEALTH).await.expect("write");
    read_until(stream, "HTTP/1.1 200", 1).await;
}

/// Reads until `marker` has come `count` times.
pub(super) async fn read_until(stream: &mut TcpStream, marker: &str, count: usize) -> String {
    let mut all = String::new();
    let mut buffer = [0; 4096];
    while all.matches(marker).count() < count {
        let length = stream.read(&mut buffer).await.expect("read");
        assert_ne!(length, 0, "closed after {all:?}");
        all.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    all
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_on_one_connection() {
    let server = TestServer::start().await;
    let answers = server
        .exchange(
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /no-such HTTP/1.1\r\nHost: localhost\r\n\r\n\
              GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )
        .await;
    let found: Vec<_> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(found, ["200", "404", "200"], "{answers}");
}

#[tokio::test]
async fn the_host_rule_holds_over_tcp() {
    let server = TestServer::start().await;
    for (head, status) in [
        ("GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n", "421"),
        ("GET http://evil.test/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "421"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200"),
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\nConnection: close\r\n\r\n", "400"),
        ("GET / HTTP/1.0\r\n\r\n", "200"),
    ] {
        let answer = server.exchange(head.as_bytes()).await;
        assert_eq!(answer.split(' ').nth(1), Some(status), "{head}");
    }
}

#[tokio::test]
async fn a_head_that_never_ends_is_cut_off() {
    let server = TestServer::with("http-head-timeout = '50ms'").await;
    for start in ["", "GET / HTTP/1.1\r\nHost: loc"] {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.expect("write");
        let answer = read_to_end(&mut stream).await;
        assert!(!answer.contains("200"), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_never_comes_is_given_up() {
    let server = TestServer::with("http-body-timeout = '50ms'").await;
    let answer = server.exchange(OWED).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_timeout"), "{answer}");
}

#[tokio::test]
async fn while_most_places_are_taken_peers_have_ten_seconds() {
    let server = TestServer::with("max-http-connections = 8\nhttp-head-timeout = '1h'").await;
    let mut before = server.connect().await;
    healthy(&mut before).await;
    // Six of the places are for requests that wait.
    let mut crowded = server.connect().await;
    healthy(&mut crowded).await;
    server.pass(Duration::from_secs(11)).await;
    assert_eq!(read_to_end(&mut crowded).await, "");
    healthy(&mut before).await;
}

/// The status and the code of a refusal of a connection, which names when to come again.
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
async fn all_clients_have_so_many_connections() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "max-http-connections = 1").await;
    let (mut busy, held) = reading(&disk, &server).await;
    let answer = read_to_end(&mut server.connect_from(OTHER).await).await;
    assert_eq!(refusal(&answer), ("503".to_owned(), "busy".to_owned()));
    drop(held);
    read_until(&mut busy, "\"subject\":\"s\"", 1).await;
    drop(busy);
    until("a connection is permitted again", async || is_served(&server, OTHER).await).await;
}

#[tokio::test]
async fn a_client_has_so_many_connections() {
    let settings = "max-http-connections-per-client = 2\nlimit-exempt = ['127.0.0.3/32']";
    let server = TestServer::with(settings).await;
    let mut held = [server.connect_from(GREEDY).await, server.connect_from(GREEDY).await];
    for stream in &mut held {
        healthy(stream).await;
    }
    let answer = read_to_end(&mut server.connect_from(GREEDY).await).await;
    assert_eq!(refusal(&answer), ("429".to_owned(), "rate_limited".to_owned()));
    let mut others = Vec::new();
    for _ in 0..4 {
        let mut stream = server.connect_from(OTHER).await;
        healthy(&mut stream).await;
        others.push(stream);
    }
    let [first, mut second] = held;
    healthy(&mut second).await;
    drop(first);
    until("a connection is permitted again", async || is_served(&server, GREEDY).await).await;
}

/// Whether a new connection of a client is served.
pub(super) async fn is_served(server: &TestServer, client: Ipv4Addr) -> bool {
    let mut stream = server.connect_from(client).await;
    // The service may have refused it already.
    let _ = stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await;
    read_to_end(&mut stream).await.contains(" 200 OK")
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up() {
    let limits = "max-http-connections-per-client = 1\nlimit-exempt = ['none']\nmax-message-size = '20MB'";
    let server = TestServer::with(&format!("{limits}\nhttp-write-timeout = '50ms'")).await;
    let id = server.receive(&["ann@example.test"], &"x".repeat(19_000_000)).await.remove(0);
    let mut stuck = server.connect_from(GREEDY).await;
    let request = format!("GET /api/mail/messages/{id}/raw HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stuck.write_all(request.as_bytes()).await.expect("write");
    until("its place is free", async || is_served(&server, GREEDY).await).await;
    assert!(read_to_end(&mut stuck).await.len() < 19_000_000, "it has no whole answer");
}

#[tokio::test]
async fn an_idle_listener_holds_no_slot() {
    let listen = "http-listen = ['127.0.0.1:0', '127.0.0.1:0']\nmax-http-connections = 1";
    let server = TestServer::with(listen).await;
    let status = server.admin_get("/api/admin/status").await;
    let addresses = status["httpListen"].as_array().expect("a list");
    assert_eq!(addresses.len(), 2);
    for address in addresses {
        let address = address.as_str().expect("an address");
        until("the slot is free", async || {
            let mut stream = TcpStream::connect(address).await.expect("connect");
            let _ = stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await;
            read_to_end(&mut stream).await.starts_with("HTTP/1.0 200")
        })
        .await;
    }
}

/// A connection whose request waits for the disk, until what holds it is dropped.
async fn reading(disk: &TestDisk, server: &TestServer) -> (TcpStream, Held) {
    server.send("ann@example.test", "s", "text").await;
    let held = disk.hold(|call| call.is_by_reader_of("journal-"));
    let mut busy = server.connect().await;
    busy.write_all(b"GET /api/mail/messages?to=ann@example.test HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("write");
    until("the mail is being read", async || held.waiting() > 0).await;
    (busy, held)
}

#[tokio::test]
async fn stopping_finishes_what_is_at_hand_and_closes_what_is_idle() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    let mut idle = server.connect().await;
    healthy(&mut idle).await;
    let address = server.http();
    let (mut busy, held) = reading(&disk, &server).await;
    let stopping = tokio::spawn(server.stop());
    assert_eq!(read_to_end(&mut idle).await, "");
    drop(held);
    let answer = read_to_end(&mut busy).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"subject\":\"s\""), "{answer}");
    stopping.await.expect("stopped");
    // A child that another test starts at this moment may still have the listener.
    until("nobody listens", async || TcpStream::connect(address).await.is_err()).await;
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let server = TestServer::with("http-body-timeout = '1h'\ndrain-timeout = '50ms'").await;
    let mut stream = server.connect().await;
    stream.write_all(OWED).await.expect("write");
    let in_flight = async || server.get("/metrics").await.text().contains("\ntempmail_http_requests_in_flight 2\n");
    until("the request has begun", in_flight).await;
    server.stop().await;
    assert!(!read_to_end(&mut stream).await.contains("HTTP/1.1 2"));
}

#[tokio::test]
async fn a_panic_costs_one_request_and_amid_an_answer_one_connection() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    let large = |subject: &str| format!("Subject: {subject}\r\n\r\n{}", "x".repeat(200_000));
    server.receive_all("ann@example.test", ["first", "second"].map(large)).await;
    let page = server.get("/api/mail/messages?to=ann@example.test&limit=1").await.json();
    let newest = page["emails"][0]["id"].as_str().expect("id");
    let get = |target: &str, end: &str| format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{end}\r\n");
    let (name, first) = super::place(&disk, "Subject: first");
    let _panics = disk.fail(move |call| {
        let is_in = (call.offset..call.offset + call.octets).contains(&first);
        assert!(!(call.is_by_reader_of(&name) && is_in), "the disk panics as the test wants");
        None
    });

    // After the response has begun, it breaks off, and no client takes that for its end.
    let list = server.exchange(get("/api/mail/messages?to=ann@example.test", "").as_bytes()).await;
    assert!(list.starts_with("HTTP/1.1 200") && !list.contains("total") && !list.ends_with("0\r\n\r\n"), "{list}");

    // Before the response has begun, the client gets a problem, and the connection stays open.
    let alone = get("/api/mail/messages?to=ann@example.test&subject=first", "");
    let answers = server.exchange((alone + &get("/healthz", "Connection: close\r\n")).as_bytes()).await;
    assert!(answers.starts_with("HTTP/1.1 500 ") && answers.contains("\"code\":\"internal\""), "{answers}");
    assert!(answers.contains("HTTP/1.1 200 OK"), "{answers}");

    let other = get(&format!("/api/mail/messages/{newest}/raw"), "Connection: close\r\n");
    let other = server.exchange(other.as_bytes()).await;
    assert!(other.starts_with("HTTP/1.1 200 OK"), "{other}");
    server.stop().await;
}
