//! One attempt, against receivers of every kind.
//! Promise: it outlives the code below it.

use std::ops::RangeInclusive;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempmail::model::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{LOCAL, QUICK, SECRET, first_attempt, is_genuine, receiver, register, register_with, test, wait_until};
use crate::support::dns_zone::DnsZone;
use crate::support::reserved::Reserved;
use crate::support::test_server::{START, TestServer};
use crate::support::webhook_sink::{Behaviour, Request, WebhookSink};

/// The names of the header fields, in their order.
fn names_of(request: &Request) -> Vec<&str> {
    let mut names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn mail_becomes_a_request_in_the_form_of_the_interface() {
    let (sink, to) = (receiver(Behaviour::Answer(200, Vec::new(), b"thanks".to_vec())).await, "ann@example.test");
    let server = TestServer::live(LOCAL).await;
    let id = register_with(&server, to, &sink.url("/hook?key=a%20b"), SECRET).await;
    server.send(to, "Hello", "<b>text</b>").await;
    let request = sink.wait_for(1).await.remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook?key=a%20b"));
    let unsigned =
        ["connection", "content-length", "content-type", "host", "user-agent", "webhook-id", "webhook-timestamp"];
    let signed = [&unsigned[..6], &["webhook-signature", "webhook-timestamp", "x-webhook-signature"]].concat();
    assert_eq!(names_of(&request), signed);
    assert_eq!(request.header("host"), Some(sink.addr().to_string().as_str()));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("user-agent"), Some("tempmail/1.0"));
    assert!(is_genuine(&request), "{request:?}");
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let mut fields: Vec<&str> = body["email"].as_object().expect("email").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["bodyText", "from", "id", "message", "receivedAt", "recipient", "subject"]);
    assert_eq!((&body["event"], &body["email"]["subject"]), (&json!("email.received"), &json!("Hello")));
    assert!(body["timestamp"].as_str().is_some_and(|text| text.ends_with('Z')), "{body}");
    let webhook = wait_until(&server, to, |webhook| !webhook["lastDeliveryAt"].is_null()).await;
    assert_eq!(webhook["failures"], 0);
    let line = &super::lines(&server, &id, 1).await[0];
    assert_eq!((&line["status"], &line["error"], &line["response"]), (&json!(200), &Value::Null, &json!("thanks")));
    assert_eq!(line["event"], request.header("webhook-id").expect("an id"));

    register(&server, "bob@example.test", &sink.url("/hook")).await;
    server.send("bob@example.test", "Hello", "without a secret").await;
    assert_eq!(names_of(&sink.wait_for(2).await[1]), unsigned);
    server.stop().await;
}

#[tokio::test]
async fn the_status_decides_what_follows() {
    const SCHEDULED: RangeInclusive<u64> = 8..=12;
    let server = TestServer::with(&format!("{LOCAL}webhook-schedule = ['10s']")).await;
    let asking = Behaviour::with_header;
    for (behaviour, result, waits) in [
        (Behaviour::status(200), "delivered", None),
        (Behaviour::status(204), "delivered", None),
        (Behaviour::status(410), "given_up", None),
        (Behaviour::status(500), "retry", Some(SCHEDULED)),
        (Behaviour::status(404), "retry", Some(SCHEDULED)),
        (asking(429, "retry-after", "120"), "retry", Some(120..=120)),
        (asking(503, "Retry-After", "7"), "retry", Some(SCHEDULED)),
        (asking(503, "Retry-After", "Tue, 14 Nov 2023 22:15:00 GMT"), "retry", Some(100..=100)),
        (asking(503, "Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), "retry", Some(SCHEDULED)),
        (asking(429, "retry-after", "7200"), "retry", Some(3600..=3600)),
        (asking(429, "retry-after", "soon"), "retry", Some(SCHEDULED)),
        (asking(500, "retry-after", "120"), "retry", Some(SCHEDULED)),
    ] {
        let sink = receiver(behaviour.clone()).await;
        let line = first_attempt(&server, &sink.url("/hook")).await;
        assert_eq!(line["result"], result, "{behaviour:?}: {line}");
        let error = if result == "delivered" { Value::Null } else { json!("http_status") };
        assert_eq!(line["error"], error, "{behaviour:?}");
        let next = line["nextAttemptAt"].as_str().map(|text| Timestamp::from_text(text).expect(text));
        let wait = next.map(|next| next.since(START).as_secs());
        assert_eq!(wait.is_some(), waits.is_some(), "{behaviour:?}: {line}");
        assert!(wait.zip(waits).is_none_or(|(wait, waits)| waits.contains(&wait)), "{behaviour:?}: {line}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let server = TestServer::with(LOCAL).await;
    for status in [301, 302, 303, 307, 308] {
        let sink = WebhookSink::start().await;
        sink.script("/hook", Behaviour::with_header(status, "location", &sink.url("/elsewhere")));
        let line = first_attempt(&server, &sink.url("/hook")).await;
        assert_eq!((&line["status"], &line["error"]), (&json!(status), &json!("http_status")));
        assert_eq!(line["result"], "retry");
        assert!(sink.requests().iter().all(|request| request.path == "/hook"));
    }
    server.stop().await;
}

/// The first attempt fails without a status, and would be made again. What the log says about it.
async fn fails_with(error: &str, server: &TestServer, url: &str) -> String {
    let line = first_attempt(server, url).await;
    let found = (&line["status"], &line["error"], &line["result"]);
    assert_eq!(found, (&Value::Null, &json!(error), &json!("retry")), "{url}: {line}");
    line["response"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn an_attempt_at_a_receiver_that_does_not_answer_ends_at_the_timeout() {
    let server = TestServer::with(QUICK).await;
    for behaviour in [Behaviour::Hang, Behaviour::SlowHeader] {
        fails_with("timeout", &server, &receiver(behaviour).await.url("/hook")).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn the_status_counts_whatever_happens_to_the_body() {
    let server = TestServer::with(LOCAL).await;
    for (behaviour, status, start) in [
        (Behaviour::EndlessBody(200), 200, "xxxx"),
        (Behaviour::EndlessBody(500), 500, "xxxx"),
        (Behaviour::UnfinishedBody(202), 202, "the start"),
        (Behaviour::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), 200, "half"),
        (Behaviour::Answer(200, vec![("content-encoding", "gzip".to_owned())], vec![0x1f, 0x8b, 8]), 200, "\u{1f}"),
    ] {
        let sink = receiver(behaviour.clone()).await;
        let line = first_attempt(&server, &sink.url("/hook")).await;
        assert_eq!(line["status"], status, "{behaviour:?}");
        let response = line["response"].as_str().expect("a text");
        assert!(response.starts_with(start) && response.len() <= 1024, "{behaviour:?}: {response:?}");
        assert_eq!(line["result"] == "delivered", status < 300, "{behaviour:?}");
        // The sockets buffer some octets besides what is read.
        assert!(sink.endless_octets() < 16 << 20, "{}", sink.endless_octets());
    }
    server.stop().await;
}

#[tokio::test]
async fn a_response_that_is_not_http_within_the_limits_is_a_failure() {
    let server = TestServer::with(LOCAL).await;
    for behaviour in [
        Behaviour::Close,
        // A field that is longer than a whole header section may be.
        Behaviour::Answer(200, vec![("x", "y".repeat(2_000_000))], Vec::new()),
        // A header section that never ends.
        Behaviour::HugeHeaders(100_000),
        Behaviour::Answer(200, vec![("x", "y".to_owned()); 101], Vec::new()),
        Behaviour::Raw(b"220 mail.example ESMTP\r\n"),
        Behaviour::Raw(b"200 OK\r\n\r\n"),
        Behaviour::Raw(b"HTTP/1.1 2000 OK\r\n\r\n"),
        Behaviour::Raw(b""),
    ] {
        let sink = receiver(behaviour.clone()).await;
        let said = fails_with("other", &server, &sink.url("/hook")).await;
        assert!(!said.is_empty() && !said.contains("/hook"), "{behaviour:?}: {said}");
        assert_eq!(sink.requests().len(), 1, "no request was repeated");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_closed_port_is_a_connect_error() {
    let server = TestServer::with(LOCAL).await;
    let closed = Reserved::new();
    for scheme in ["http", "https"] {
        fails_with("connect", &server, &format!("{scheme}://{}/", closed.address)).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_peer_without_tls_is_a_tls_error() {
    let server = TestServer::with(LOCAL).await;
    for answer in [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), b""] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("https://{}/", listener.local_addr().expect("bound address"));
        let peer = async {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let hello = stream.read_u8().await.expect("the start of a handshake");
            assert_eq!(hello, 0x16);
            stream.write_all(answer).await.expect("a peer that reads");
            stream.shutdown().await.expect("a peer that reads");
            // It reads until the client leaves, because unread octets would cause a reset.
            while stream.read(&mut [0; 4096]).await.is_ok_and(|count| count > 0) {}
        };
        tokio::join!(fails_with("tls", &server, &url), peer);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_an_error_of_its_step() {
    let (zone, sink) = (DnsZone::start().await, WebhookSink::start().await);
    let resolver = format!("resolver = ['{}']\nwebhook-connect-timeout = '200ms'\n", zone.addr());
    let server = TestServer::with(&format!("{LOCAL}{resolver}")).await;
    // The receiver waits for the end of a header section, so it never answers the handshake.
    fails_with("connect", &server, &format!("https://{}/", sink.addr())).await;
    zone.set_addresses("silent.example", &["127.0.0.1"]);
    zone.silence("silent.example");
    fails_with("dns", &server, "http://silent.example/").await;
    server.stop().await;
}

#[tokio::test]
async fn at_most_four_tests_are_in_flight() {
    let sink = receiver(Behaviour::Hang).await;
    let server = TestServer::with(&format!("{LOCAL}webhook-timeout = '1s'")).await;
    let id = register(&server, "a@example.test", &sink.url("/hook")).await;
    let answers = join_all((0..6).map(|_| test(&server, &id))).await;
    let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(status, _)| *status == 200);
    assert_eq!((made.len(), refused.len(), sink.connections()), (4, 2, 4));
    assert!(made.iter().all(|(_, line)| line["result"] == "given_up" && line["error"] == "timeout"), "{made:?}");
    assert!(refused.iter().all(|(status, problem)| *status == 503 && problem["code"] == "busy"), "{refused:?}");
    // The places are free again.
    sink.script("/hook", Behaviour::status(200));
    assert_eq!(test(&server, &id).await.1["result"], "delivered");
    server.stop().await;
}
