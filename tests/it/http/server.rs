//! Connections, over real sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tempmail::clock::SystemClock;
use tempmail::http::{HttpLimits, HttpListener, serve_control, serve_public};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::TestApi;

pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) shutdown: CancellationToken,
    pub(super) task: JoinHandle<()>,
}

pub(super) fn limits() -> HttpLimits {
    HttpLimits::new(1_000)
}

pub(super) async fn serve(router: Router, limits: HttpLimits) -> Server {
    serve_with(None, router, limits).await
}

/// Serves with TLS, if there is a configuration for it.
pub(super) async fn serve_with(tls: Option<TlsAcceptor>, router: Router, limits: HttpLimits) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    let shutdown = CancellationToken::new();
    let listener = match tls {
        None => HttpListener::Tcp(listener),
        Some(tls) => HttpListener::Tls(listener, tls),
    };
    let task = tokio::spawn(serve_public(vec![listener], router, limits, Arc::new(SystemClock), shutdown.clone()));
    Server { address, shutdown, task }
}

impl Server {
    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("connect")
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

/// A service whose answer has no end. `dropped` is cancelled when an answer is dropped.
pub(super) fn endless(dropped: &CancellationToken) -> Router {
    let dropped = dropped.clone();
    let answer = move || async move {
        let guard = dropped.drop_guard();
        let chunks = futures_util::stream::repeat_with(move || {
            let _ = &guard;
            Ok::<_, std::io::Error>(vec![b'x'; 64 * 1024])
        });
        axum::body::Body::from_stream(chunks)
    };
    Router::new().route("/", get(answer))
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
    let server = serve(TestApi::new().router, limits()).await;
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
    let server = serve(TestApi::new().router, limits()).await;
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
    let server = serve(TestApi::new().router, HttpLimits { head_timeout: Duration::from_millis(50), ..limits() }).await;
    for start in ["", "GET / HTTP/1.1\r\nHost: loc"] {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.expect("write");
        let answer = read_to_end(&mut stream).await;
        assert!(!answer.contains("200"), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_never_comes_is_given_up() {
    let server = serve(TestApi::new().router, HttpLimits { body_timeout: Duration::from_millis(50), ..limits() }).await;
    let answer = server
        .exchange(
            b"POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\
              Connection: close\r\n\r\n{",
        )
        .await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_timeout"), "{answer}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up() {
    let given_up = CancellationToken::new();
    let server = serve(endless(&given_up), HttpLimits { write_timeout: Duration::from_millis(50), ..limits() }).await;
    let mut stuck = server.connect().await;
    stuck.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    given_up.cancelled().await;
}

#[tokio::test]
async fn an_idle_listener_holds_no_slot() {
    let listeners =
        [TcpListener::bind("127.0.0.1:0").await.expect("bind"), TcpListener::bind("127.0.0.1:0").await.expect("bind")];
    let addresses = listeners.each_ref().map(|listener| listener.local_addr().expect("address"));
    let limits = HttpLimits { connections_max: 1, ..limits() };
    tokio::spawn(serve_public(
        listeners.map(HttpListener::Tcp).into(),
        TestApi::new().router,
        limits,
        Arc::new(SystemClock),
        CancellationToken::new(),
    ));
    for address in addresses {
        let mut stream = TcpStream::connect(address).await.expect("connect");
        stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await.expect("write");
        assert!(read_to_end(&mut stream).await.starts_with("HTTP/1.0 200"));
    }
}

#[tokio::test]
async fn a_panic_is_a_500_and_nothing_else() {
    let api = TestApi::new();
    // A poisoned lock makes the test's service panic in every later call.
    let domains = api.domains.clone();
    let poisoned = std::thread::spawn(move || {
        let _entries = domains.entries.lock().expect("entries");
        panic!("on purpose");
    });
    assert!(poisoned.join().is_err());
    let server = serve(api.router, limits()).await;
    let answer = server
        .exchange(
            b"GET /api/domains HTTP/1.1\r\nHost: localhost\r\n\r\n\
              GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )
        .await;
    assert!(answer.starts_with("HTTP/1.1 500") && answer.contains("\"internal\""), "{answer}");
    assert!(answer.contains("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn stopping_finishes_what_is_at_hand_and_closes_what_is_idle() {
    let gate = CancellationToken::new();
    let (entered, mut has_entered) = tokio::sync::mpsc::channel(1);
    let waiting = {
        let gate = gate.clone();
        move || async move {
            entered.send(()).await.expect("test");
            gate.cancelled().await;
            "done"
        }
    };
    let server = serve(Router::new().route("/", get(waiting)), limits()).await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    read_until(&mut idle, "HTTP/1.1 404", 1).await;
    let mut busy = server.connect().await;
    busy.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    has_entered.recv().await.expect("entered");

    server.shutdown.cancel();
    assert_eq!(read_to_end(&mut idle).await, "");
    gate.cancel();
    assert!(read_to_end(&mut busy).await.ends_with("done"));
    server.task.await.expect("served");
    assert!(TcpStream::connect(server.address).await.is_err(), "the server has stopped listening");
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let router = Router::new().route("/", get(std::future::pending::<()>));
    let server = serve(router, HttpLimits { drain_timeout: Duration::from_millis(50), ..limits() }).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    // A second connection is answered after the first was accepted.
    let mut probe = server.connect().await;
    probe.write_all(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
    read_until(&mut probe, "HTTP/1.1 404", 1).await;
    server.shutdown.cancel();
    server.task.await.expect("served");
    assert_eq!(read_to_end(&mut stream).await, "");
}

#[tokio::test]
async fn a_client_of_the_control_socket_is_the_administrator() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("tempmail.sock");
    let listener = UnixListener::bind(&path).expect("bind");
    let shutdown = CancellationToken::new();
    let task =
        tokio::spawn(serve_control(listener, TestApi::new().router, limits(), Arc::new(SystemClock), shutdown.clone()));
    let mut stream = UnixStream::connect(&path).await.expect("connect");
    stream
        .write_all(b"GET /api/admin/status HTTP/1.1\r\nHost: tempmail\r\nConnection: close\r\n\r\n")
        .await
        .expect("write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    shutdown.cancel();
    task.await.expect("served");

    let server = serve(TestApi::new().router, limits()).await;
    let answer = server.exchange(b"GET /api/admin/status HTTP/1.0\r\nHost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.0 401"), "{answer}");
}

#[tokio::test]
async fn a_panic_costs_one_request_and_amid_an_answer_one_connection() {
    let api = TestApi::new();
    let first = api.receive(&["ann@example.test"], "Subject: first\r\n\r\n").await[0];
    api.receive(&["ann@example.test"], "Subject: second\r\n\r\n").await;
    api.store.panic_at_load(first);
    let server = serve(api.router.clone(), limits()).await;
    let get = |target: &str, end: &str| format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{end}\r\n");

    // Before the response has begun, the client gets a problem, and the connection stays open.
    let both = get(&format!("/api/mail/messages/{first}"), "") + &get("/healthz", "Connection: close\r\n");
    let answers = server.exchange(both.as_bytes()).await;
    assert!(answers.starts_with("HTTP/1.1 500 ") && answers.contains("\"code\":\"internal\""), "{answers}");
    assert!(answers.contains("HTTP/1.1 200 OK"), "{answers}");

    // After the response has begun, it breaks off, and no client takes that for its end.
    let list = server.exchange(get("/api/mail/messages?to=ann@example.test", "").as_bytes()).await;
    assert!(!list.contains("total") && !list.ends_with("0\r\n\r\n"), "{list}");

    let other = server.exchange(get("/healthz", "Connection: close\r\n").as_bytes()).await;
    assert!(other.starts_with("HTTP/1.1 200 OK"), "{other}");
    server.shutdown.cancel();
    server.task.await.expect("no panic");
}
