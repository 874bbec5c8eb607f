//! Requests that wait for mail have places of their own, over real sockets.

use std::net::{Ipv4Addr, SocketAddr};

use axum::body::Body;
use axum::http::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempmail::http::HttpLimits;
use tempmail::store::StoreError;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use super::TestApi;
use super::http2::Silent;
use super::server::{Server, limits, read_to_end, read_until, serve};
use crate::support::until::until;

const ONE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
const MAIL: &str = "Subject: hello\r\n\r\ntext";

async fn from(client: Ipv4Addr, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((client, 0))).expect("bind");
    socket.connect(server).await.expect("connect")
}

fn head(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

fn wait_for(to: &str) -> String {
    head(&format!("/api/mail/wait?to={to}@example.test&timeout=300"))
}

async fn ask(stream: &mut TcpStream, octets: &str) {
    stream.write_all(octets.as_bytes()).await.expect("write");
}

/// Waits until so many requests wait.
async fn until_waiting(api: &TestApi, expected: usize) {
    let line = format!("\ntempmail_http_requests_waiting {expected}\n");
    until("requests wait", async || String::from_utf8_lossy(&api.get("/metrics").await.body).contains(&line)).await;
}

/// A service with this number of connections, and so many of each client.
async fn service(api: &TestApi, connections_max: usize, connections_per_client_max: usize) -> Server {
    serve(api.router.clone(), HttpLimits { connections_max, connections_per_client_max, ..limits() }).await
}

#[tokio::test]
async fn connections_that_wait_take_no_slot_and_do_not_count_for_their_client() {
    let api = TestApi::new();
    let server = service(&api, 1, 1).await;
    let mut waiting = Vec::new();
    for number in 1..=5 {
        let mut stream = from(ONE, server.address).await;
        ask(&mut stream, &wait_for("ann")).await;
        until_waiting(&api, number).await;
        waiting.push(stream);
    }
    let mut ordinary = from(ONE, server.address).await;
    ask(&mut ordinary, &head("/healthz")).await;
    read_until(&mut ordinary, "HTTP/1.1 200", 1).await;
    api.receive(&["ann@example.test"], MAIL).await;
    for stream in &mut waiting {
        read_until(stream, "hello", 1).await;
    }
    until_waiting(&api, 0).await;
}

#[tokio::test]
async fn an_answered_wait_takes_a_slot_again_or_its_connection_ends() {
    let api = TestApi::new();
    let server = service(&api, 2, 2).await;
    let mut waiting = [from(ONE, server.address).await, from(ONE, server.address).await];
    for (stream, number) in waiting.iter_mut().zip(1..) {
        ask(stream, &wait_for("ann")).await;
        until_waiting(&api, number).await;
    }
    let mut ordinary = from(ONE, server.address).await;
    ask(&mut ordinary, &head("/healthz")).await;
    read_until(&mut ordinary, "HTTP/1.1 200", 1).await;
    api.receive(&["ann@example.test"], MAIL).await;
    let mut kept = 0;
    for stream in &mut waiting {
        read_until(stream, "hello", 1).await;
    }
    until_waiting(&api, 0).await;
    for stream in &mut waiting {
        // The service may have closed it.
        let _ =
            stream.write_all(head("/healthz").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).await;
        kept += usize::from(read_to_end(stream).await.contains("HTTP/1.1 200"));
    }
    assert_eq!(kept, 1, "one slot was left");
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_its_place() {
    let api = TestApi::new();
    let server = service(&api, 1, 1).await;
    let mut stream = from(ONE, server.address).await;
    ask(&mut stream, &wait_for("ann")).await;
    until_waiting(&api, 1).await;
    drop(stream);
    until_waiting(&api, 0).await;
    let mut next = from(ONE, server.address).await;
    ask(&mut next, &head("/healthz")).await;
    read_until(&mut next, "HTTP/1.1 200", 1).await;
}

#[tokio::test]
async fn places_are_bounded_in_all_and_for_each_client() {
    let api = TestApi::with(|config| {
        (config.http.waiting_max, config.http.waiting_per_client_max) = (3, 2);
        config.smtp.exempt.clear();
    });
    let server = service(&api, 100, 100).await;
    let mut streams = Vec::new();
    for (client, refusal) in [
        (ONE, None),
        (ONE, None),
        (ONE, Some(("429", "too_many_waiting_for_client"))),
        (OTHER, None),
        (OTHER, Some(("503", "too_many_waiting"))),
    ] {
        let mut stream = from(client, server.address).await;
        ask(&mut stream, &wait_for("ann")).await;
        match refusal {
            None => until_waiting(&api, streams.len() + 1).await,
            Some((status, code)) => {
                let answer = read_until(&mut stream, code, 1).await;
                assert!(
                    answer.contains(&format!("HTTP/1.1 {status}")) && answer.contains("retry-after: 5"),
                    "{answer}"
                );
                continue;
            }
        }
        streams.push(stream);
    }
    let of_administrator = api.administrator("GET", "/api/mail/wait?to=ann@example.test&timeout=1", "").await;
    assert_eq!(of_administrator.status, 204, "strangers take no place of the administrator");
}

#[tokio::test]
async fn a_wait_reads_each_mail_once() {
    let api = TestApi::new();
    let server = service(&api, 1, 1).await;
    let first = api.receive(&["ann@example.test"], MAIL).await[0];
    let mut stream = server.connect().await;
    ask(&mut stream, &head("/api/mail/wait?to=ann@example.test&timeout=300&subject=code")).await;
    until_waiting(&api, 1).await;
    api.store.fail_load(first, Some(StoreError::Failed("on purpose".into())));
    api.receive(&["ann@example.test"], "Subject: your code\r\n\r\ntext").await;
    let answer = read_until(&mut stream, "your code", 1).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_wait_ends_at_once_when_the_service_stops() {
    let api = TestApi::new();
    let server = service(&api, 1, 1).await;
    let mut stream = server.connect().await;
    ask(&mut stream, &wait_for("ann")).await;
    until_waiting(&api, 1).await;
    server.shutdown.cancel();
    let answer = read_to_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"stopping\""), "{answer}");
    server.task.await.expect("served");
}

#[tokio::test]
async fn a_waiting_connection_is_not_evicted() {
    let api = TestApi::new();
    let server = service(&api, 1, 100).await;
    let mut stream = from(ONE, server.address).await;
    ask(&mut stream, &wait_for("ann")).await;
    until_waiting(&api, 1).await;
    // Each of these evicts the one before.
    for _ in 0..3 {
        let mut next = from(OTHER, server.address).await;
        ask(&mut next, &head("/healthz")).await;
        read_until(&mut next, "HTTP/1.1 200", 1).await;
    }
    api.receive(&["ann@example.test"], MAIL).await;
    read_until(&mut stream, "hello", 1).await;
}

#[tokio::test]
async fn a_connection_of_http2_has_a_slot_only_while_a_request_does_not_wait() {
    let api = TestApi::new();
    let server = service(&api, 1, 100).await;
    let stream = TokioIo::new(server.connect().await);
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.expect("a handshake");
    tokio::spawn(async move { drop(connection.await) });
    let request = |path: &str| {
        let request = Request::get(format!("http://localhost{path}")).body(Body::empty()).expect("a request");
        let mut sender = sender.clone();
        async move { sender.send_request(request).await.expect("an answer").status() }
    };
    let waits =
        ["ann", "bob"].map(|to| tokio::spawn(request(&format!("/api/mail/wait?to={to}@example.test&timeout=300"))));
    until_waiting(&api, 2).await;
    assert_eq!(request("/healthz").await, 200, "it takes the slot again");
    let mut other = server.connect().await;
    ask(&mut other, &head("/healthz")).await;
    // The slot is free as soon as the ordinary request has ended.
    read_until(&mut other, "HTTP/1.1 200", 1).await;
    assert_eq!(request("/healthz").await, 503, "there is no slot");
    api.receive(&["ann@example.test", "bob@example.test"], MAIL).await;
    for wait in waits {
        assert_eq!(wait.await.expect("no panic"), 200);
    }
}

/// A regression: the unread answer of a wait stood for another request, whose connection then counted for nobody.
#[tokio::test]
async fn an_unread_answer_of_a_wait_hides_no_other_request() {
    let api = TestApi::new();
    let server = service(&api, 100, 1).await;
    let stream = TokioIo::new(from(ONE, server.address).await);
    // All of the answer goes to the connection at once, but the client makes room for little of it.
    let (sender, connection) =
        http2::Builder::new(TokioExecutor::new()).initial_stream_window_size(1024).handshake(stream).await.expect("h2");
    tokio::spawn(async move { drop(connection.await) });
    let ask_over_it = |request: Request<Body>| {
        let mut sender = sender.clone();
        async move { sender.send_request(request).await.expect("an answer") }
    };
    let wait = Request::get("http://localhost/api/mail/wait?to=ann@example.test&timeout=300");
    let wait = tokio::spawn(ask_over_it(wait.body(Body::empty()).expect("a request")));
    until_waiting(&api, 1).await;
    api.receive(&["ann@example.test"], &format!("Subject: long\r\n\r\n{}", "text ".repeat(1_000))).await;
    let unread = wait.await.expect("no panic");
    assert_eq!(unread.status(), 200);
    // Another connection is served, so this one does not count. The other one leaves when it waits too.
    let mut other = from(ONE, server.address).await;
    ask(&mut other, &head("/healthz")).await;
    read_until(&mut other, "HTTP/1.1 200", 1).await;
    ask(&mut other, &wait_for("bob")).await;
    until_waiting(&api, 2).await;
    let endless = Request::post("http://localhost/api/domains").header("content-type", "application/json");
    let endless = endless.body(Body::new(Silent)).expect("a request");
    // Its place in the connection is before those of the next two, and when the second of them is answered, the first one
    // has ended.
    let in_progress = tokio::spawn(sender.clone().send_request(endless));
    for _ in 0..2 {
        let health = Request::get("http://localhost/healthz").body(Body::empty()).expect("a request");
        assert_eq!(ask_over_it(health).await.status(), 200);
    }
    assert!(!is_served(server.address).await, "the endless request still counts");
    in_progress.abort();
    until("it no longer does", async || is_served(server.address).await).await;
    drop((unread, other));
    until_waiting(&api, 0).await;
}

/// Whether a new connection of [`ONE`] is served.
async fn is_served(server: SocketAddr) -> bool {
    let mut stream = from(ONE, server).await;
    let close = head("/healthz").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    // The service may have refused it already.
    let _ = stream.write_all(close.as_bytes()).await;
    let answer = read_to_end(&mut stream).await;
    assert!(answer.contains("HTTP/1.1 200") || answer.contains("too_many_connections_for_client"), "{answer}");
    answer.contains("HTTP/1.1 200")
}
