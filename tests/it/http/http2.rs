//! HTTP/2 in the clear, over real sockets.

use std::pin::Pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use futures_util::future::join_all;
use http_body_util::BodyExt;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tempmail::http::HttpLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::TestApi;
use super::server::{Server, endless, limits, read_to_end, serve};

const SHORT: Duration = Duration::from_millis(50);

/// A connection, and a task that ends with it.
pub(super) async fn connect(server: &Server) -> (SendRequest<Body>, JoinHandle<()>) {
    let stream = TokioIo::new(server.connect().await);
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.expect("a handshake");
    // How a server ends a connection is no matter here.
    let task = tokio::spawn(async move { drop(connection.await) });
    (sender, task)
}

pub(super) fn request(path: &str) -> Request<Body> {
    Request::get(format!("http://localhost{path}")).body(Body::empty()).expect("a request")
}

/// A body that never ends and never has an octet.
pub(super) struct Silent;

impl hyper::body::Body for Silent {
    type Data = axum::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        std::task::Poll::Pending
    }
}

#[tokio::test]
async fn requests_at_once_are_answered_over_one_connection() {
    let api = TestApi::new();
    let raw = format!("Subject: long\r\n\r\n{}", "0123456789abcdef".repeat(10_000));
    let id = api.receive(&["ann@example.test"], &raw).await[0];
    let server = serve(api.router.clone(), limits()).await;
    let (sender, _connection) = connect(&server).await;
    let raw_path = format!("/api/mail/messages/{id}/raw");
    let answers = join_all([raw_path.as_str(), "/healthz", "/none"].map(|path| {
        let mut sender = sender.clone();
        async move {
            let answer = sender.send_request(request(path)).await.expect("an answer");
            (answer.status().as_u16(), answer.into_body().collect().await.expect("a body").to_bytes())
        }
    }))
    .await;
    assert_eq!(answers.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 200, 404]);
    assert!(answers[0].1.ends_with(raw.as_bytes()), "{} octets", answers[0].1.len());
    let problem: Value = serde_json::from_slice(&answers[2].1).expect("JSON");
    assert_eq!(problem["code"], "unknown_path");
}

#[tokio::test]
async fn the_host_rule_holds() {
    let server = serve(TestApi::new().router, limits()).await;
    let (mut sender, _connection) = connect(&server).await;
    let elsewhere = Request::get("http://evil.test/healthz").body(Body::empty()).expect("a request");
    assert_eq!(sender.send_request(elsewhere).await.expect("an answer").status(), StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn a_head_that_is_too_long_gets_a_problem_and_one_beyond_all_bounds_a_status() {
    let server = serve(TestApi::new().router, limits()).await;
    let (sender, _connection) = connect(&server).await;
    // Each field counts 1,024 octets.
    for (fields, status, code) in [
        (15, StatusCode::OK, None),
        (16, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, Some("head_too_large")),
        (23, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, Some("head_too_large")),
        (25, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, None),
    ] {
        let mut long = request("/healthz");
        for number in 0..fields {
            let name: axum::http::HeaderName = format!("x-{number:02}").parse().expect("a name");
            long.headers_mut().insert(name, "v".repeat(1024 - 32 - 4).parse().expect("a value"));
        }
        let answer = sender.clone().send_request(long).await.expect("an answer");
        assert_eq!(answer.status(), status, "{fields} fields");
        let is_problem = answer.headers().get("content-type").is_some_and(|it| it == "application/problem+json");
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        let found = is_problem.then(|| serde_json::from_slice::<Value>(&body).expect("JSON")["code"].clone());
        assert_eq!(found, code.map(Value::from), "{fields} fields");
        assert_eq!(body.is_empty(), status != StatusCode::OK && code.is_none(), "{fields} fields");
    }
}

#[tokio::test]
async fn an_idle_connection_ends_and_so_does_half_a_preface() {
    let server = serve(TestApi::new().router, HttpLimits { head_timeout: SHORT, ..limits() }).await;
    let (mut sender, connection) = connect(&server).await;
    assert_eq!(sender.send_request(request("/healthz")).await.expect("an answer").status(), 200);
    connection.await.expect("its end");
    let mut stream = server.connect().await;
    stream.write_all(b"PRI * HTTP/2.0\r\n").await.expect("write");
    assert_eq!(read_to_end(&mut stream).await, "");
}

/// It sends nothing after the beginning of a connection, and does not answer a ping either.
#[tokio::test]
async fn an_idle_connection_that_does_not_end_is_closed() {
    let server =
        serve(TestApi::new().router, HttpLimits { head_timeout: SHORT, write_timeout: 2 * SHORT, ..limits() }).await;
    let mut stream = server.connect().await;
    let settings = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(settings).await.expect("write");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.expect("its end");
    assert!(all.windows(5).any(|frame| frame == [0x07, 0, 0, 0, 0]), "no GOAWAY in {all:?}");
}

#[tokio::test]
async fn a_request_that_the_client_took_back_keeps_no_connection() {
    let (entered, mut has_entered) = mpsc::channel(1);
    let waiting = move || async move {
        entered.send(()).await.expect("the test");
        std::future::pending::<()>().await;
    };
    let router = Router::new().route("/", get(waiting));
    let server = serve(router, HttpLimits { head_timeout: SHORT, ..limits() }).await;
    let (mut sender, connection) = connect(&server).await;
    let taken_back = tokio::spawn(sender.send_request(request("/")));
    has_entered.recv().await.expect("entered");
    taken_back.abort();
    connection.await.expect("its end");
}

#[tokio::test]
async fn a_client_that_makes_no_room_for_its_answer_is_given_up() {
    let given_up = CancellationToken::new();
    let server = serve(endless(&given_up), HttpLimits { write_timeout: SHORT, ..limits() }).await;
    let (mut sender, connection) = connect(&server).await;
    let _unread = sender.send_request(request("/")).await.expect("an answer");
    given_up.cancelled().await;
    connection.await.expect("its end");
}

#[tokio::test]
async fn a_body_that_never_comes_is_given_up() {
    let server = serve(TestApi::new().router, HttpLimits { body_timeout: SHORT, ..limits() }).await;
    let (mut sender, _connection) = connect(&server).await;
    let request = Request::post("http://localhost/api/domains").header("content-type", "application/json");
    let answer = sender.send_request(request.body(Body::new(Silent)).expect("a request")).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn an_idle_connection_makes_way_and_a_busy_one_does_not() {
    let (entered, mut has_entered) = mpsc::channel(1);
    let waiting = move || async move {
        entered.send(()).await.expect("the test");
        std::future::pending::<()>().await;
    };
    let router = Router::new().route("/", get(waiting)).route("/healthz", get("ok"));
    let server = serve(router, HttpLimits { connections_max: 2, ..limits() }).await;
    let (mut busy, busy_connection) = connect(&server).await;
    let answer = tokio::spawn(busy.send_request(request("/")));
    has_entered.recv().await.expect("entered");
    let (mut idle, idle_connection) = connect(&server).await;
    assert_eq!(idle.send_request(request("/healthz")).await.expect("an answer").status(), 200);
    let (mut third, _third_connection) = connect(&server).await;
    assert_eq!(third.send_request(request("/healthz")).await.expect("an answer").status(), 200);
    idle_connection.await.expect("its end");
    assert!(!busy_connection.is_finished() && !answer.is_finished());
}

#[tokio::test]
async fn stopping_waits_for_the_answer_in_progress() {
    let (entered, mut has_entered) = mpsc::channel(1);
    let gate = CancellationToken::new();
    let opened = gate.clone();
    let waiting = move || async move {
        entered.send(()).await.expect("the test");
        opened.cancelled().await;
        "done"
    };
    let server = serve(Router::new().route("/", get(waiting)), limits()).await;
    let (mut sender, _connection) = connect(&server).await;
    let answer = tokio::spawn(sender.send_request(request("/")));
    has_entered.recv().await.expect("entered");
    server.shutdown.cancel();
    gate.cancel();
    let answer = answer.await.expect("no panic").expect("an answer");
    assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "done");
    drop(sender);
    server.task.await.expect("served");
}
