//! One attempt, against receivers of every kind.

use std::time::Duration;

use tempmail::webhook::{CallerSettings, Disposition, ErrorClass};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{EVENT, NOW, PATIENT, SECRET, Setup, request_to, request_with};
use crate::support::webhook_sink::{Behaviour, Request, WebhookSink};

const RETRY: Disposition = Disposition::Retry { after: None };

#[tokio::test]
async fn the_request_arrives_as_it_was_made() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    sink.script("/hook", Behaviour::Answer(200, Vec::new(), b"thanks".to_vec()));
    let outcome = setup.call(&sink.url("/hook?key=a%20b")).await;
    assert_eq!((outcome.status, outcome.class, outcome.response.as_str()), (Some(200), None, "thanks"));
    assert_eq!((outcome.disposition(), outcome.detail.as_str()), (Disposition::Delivered, ""));

    let [request] = sink.requests().try_into().expect("one request");
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook?key=a%20b"));
    let sent = request_to(&sink.url("/hook"));
    assert_eq!(request.body, sent.body);
    assert_eq!(request.header("host"), Some(sink.addr().to_string().as_str()));
    assert_eq!(
        names_of(&request),
        [
            "content-length",
            "content-type",
            "host",
            "user-agent",
            "webhook-id",
            "webhook-signature",
            "webhook-timestamp",
            "x-webhook-signature"
        ]
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("user-agent"), Some("tempmail/1.0"));
    assert_eq!(request.header("webhook-id"), Some(EVENT.to_string().as_str()));
    assert_eq!(request.header("webhook-timestamp"), Some("1700000360"));
    let signed =
        tempmail::webhook::Signer::new(SECRET.as_bytes()).sign(&EVENT.to_string(), 1_700_000_360, &request.body);
    assert_eq!(request.header("x-webhook-signature"), Some(signed.hex.as_str()));
    assert_eq!(request.header("webhook-signature"), Some(signed.standard.as_str()));
}

/// The names of the header fields, in their order.
fn names_of(request: &Request) -> Vec<&str> {
    let mut names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn without_a_secret_there_is_no_signature_header() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    setup.caller.call(request_with(&sink.url("/hook"), None, NOW)).await.expect("a turn");
    let [request] = sink.requests().try_into().expect("one request");
    let names = ["content-length", "content-type", "host", "user-agent", "webhook-id", "webhook-timestamp"];
    assert_eq!(names_of(&request), names);
}

#[tokio::test]
async fn the_status_decides_what_follows() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    let seconds = |count| Disposition::Retry { after: Some(Duration::from_secs(count)) };
    for (behaviour, disposition) in [
        (Behaviour::status(200), Disposition::Delivered),
        (Behaviour::status(204), Disposition::Delivered),
        (Behaviour::status(410), Disposition::Gone),
        (Behaviour::status(500), RETRY),
        (Behaviour::status(404), RETRY),
        (Behaviour::with_header(429, "retry-after", "120"), seconds(120)),
        (Behaviour::with_header(503, "Retry-After", "7"), seconds(7)),
        (Behaviour::with_header(503, "Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), seconds(0)),
        (Behaviour::with_header(429, "retry-after", "soon"), RETRY),
        (Behaviour::with_header(500, "retry-after", "120"), RETRY),
    ] {
        sink.script("/hook", behaviour.clone());
        let outcome = setup.call(&sink.url("/hook")).await;
        assert_eq!(outcome.disposition(), disposition, "{behaviour:?}");
        let class = (disposition != Disposition::Delivered).then_some(ErrorClass::HttpStatus);
        assert_eq!(outcome.class, class, "{behaviour:?}");
        assert!(outcome.retry_after.is_none() || matches!(outcome.status, Some(429 | 503)), "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    for status in [301, 302, 303, 307, 308] {
        sink.script("/hook", Behaviour::with_header(status, "location", &sink.url("/elsewhere")));
        let outcome = setup.call(&sink.url("/hook")).await;
        assert_eq!((outcome.status, outcome.class), (Some(status), Some(ErrorClass::HttpStatus)));
        assert_eq!(outcome.disposition(), RETRY);
    }
    assert!(sink.requests().iter().all(|request| request.path == "/hook"));
}

#[tokio::test]
async fn an_attempt_at_a_receiver_that_does_not_answer_ends_at_the_timeout() {
    let (setup, sink) = (Setup::impatient().await, WebhookSink::start().await);
    for behaviour in [Behaviour::Hang, Behaviour::SlowHeader] {
        sink.script("/hook", behaviour.clone());
        let outcome = setup.call(&sink.url("/hook")).await;
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Timeout)), "{behaviour:?}");
        assert_eq!(outcome.disposition(), RETRY);
    }
}

#[tokio::test]
async fn the_status_counts_whatever_happens_to_the_body() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    for (behaviour, status, start) in [
        (Behaviour::EndlessBody(200), 200, "xxxx"),
        (Behaviour::EndlessBody(500), 500, "xxxx"),
        (Behaviour::UnfinishedBody(202), 202, "the start"),
        (Behaviour::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), 200, "half"),
        (Behaviour::Answer(200, vec![("content-encoding", "gzip".to_owned())], vec![0x1f, 0x8b, 8]), 200, "\u{1f}"),
    ] {
        sink.script("/hook", behaviour.clone());
        let outcome = setup.call(&sink.url("/hook")).await;
        assert_eq!(outcome.status, Some(status), "{behaviour:?}");
        assert!(outcome.response.starts_with(start), "{behaviour:?}: {:?}", outcome.response);
        assert!(outcome.response.len() <= 1024, "{behaviour:?}");
        assert_eq!(outcome.disposition() == Disposition::Delivered, status < 300, "{behaviour:?}");
        assert!(outcome.duration < PATIENT.timeout, "{behaviour:?}");
    }
    // The sockets buffer some octets besides the 64 KB that are read.
    assert!(sink.endless_octets() < 16 * 1024 * 1024, "{}", sink.endless_octets());
}

#[tokio::test]
async fn a_response_that_is_not_http_within_the_limits_is_a_failure() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    for behaviour in [
        Behaviour::Close,
        Behaviour::HugeHeaders(24),
        Behaviour::Answer(200, vec![("x", "y".to_owned()); 101], Vec::new()),
        Behaviour::Raw(b"220 mail.example ESMTP\r\n"),
        Behaviour::Raw(b"200 OK\r\n\r\n"),
        Behaviour::Raw(b"HTTP/1.1 2000 OK\r\n\r\n"),
        Behaviour::Raw(b""),
    ] {
        sink.script("/hook", behaviour.clone());
        let outcome = setup.call(&sink.url("/hook")).await;
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Other)), "{behaviour:?}");
        assert_eq!(outcome.disposition(), RETRY);
        assert!(!outcome.detail.is_empty(), "{behaviour:?}");
        assert!(!outcome.detail.contains("/hook"), "{}", outcome.detail);
    }
    assert_eq!(sink.requests().len(), 7, "no request was repeated");
}

#[tokio::test]
async fn an_attempt_ends_at_a_header_section_that_never_ends() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    sink.script("/hook", Behaviour::HugeHeaders(100_000));
    let outcome = setup.call(&sink.url("/hook")).await;
    assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Other)));
}

#[tokio::test]
async fn a_closed_port_is_a_connect_error() {
    let setup = Setup::local().await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        listener.local_addr().expect("bound address")
    };
    for scheme in ["http", "https"] {
        let outcome = setup.call(&format!("{scheme}://{closed}/")).await;
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Connect)), "{}", outcome.detail);
    }
}

#[tokio::test]
async fn a_peer_without_tls_is_a_tls_error() {
    let setup = Setup::local().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("https://{}/", listener.local_addr().expect("bound address"));
    for answer in [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), b""] {
        let peer = async {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let hello = stream.read_u8().await.expect("the start of a handshake");
            assert_eq!(hello, 0x16);
            stream.write_all(answer).await.expect("a peer that reads");
            stream.shutdown().await.expect("a peer that reads");
            // The peer reads until the client leaves, because unread octets would cause a reset.
            while stream.read(&mut [0; 4096]).await.is_ok_and(|count| count > 0) {}
        };
        let (outcome, ()) = tokio::join!(setup.call(&url), peer);
        assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Tls)), "{}", outcome.detail);
    }
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_an_error_of_its_step() {
    let settings = CallerSettings { connect_timeout: Duration::from_millis(200), ..PATIENT };
    let setup = Setup::new(&["127.0.0.0/8"], &[], settings).await;
    let sink = WebhookSink::start().await;
    // The receiver waits for the end of a header section, so it never answers the handshake.
    let outcome = setup.call(&format!("https://{}/", sink.addr())).await;
    assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Connect)), "{}", outcome.detail);
    assert!(outcome.duration < PATIENT.timeout);
    setup.zone.set_addresses("silent.example", &["127.0.0.1"]);
    setup.zone.silence("silent.example");
    let outcome = setup.call("http://silent.example/").await;
    assert_eq!((outcome.status, outcome.class), (None, Some(ErrorClass::Dns)), "{}", outcome.detail);
}

#[tokio::test]
async fn a_connection_is_reused() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    sink.script("/hook", Behaviour::Answer(200, Vec::new(), vec![b'x'; 60_000]));
    for _ in 0..5 {
        assert_eq!(setup.call(&sink.url("/hook")).await.disposition(), Disposition::Delivered);
    }
    let connections: Vec<usize> = sink.requests().iter().map(|request| request.connection).collect();
    assert_eq!((connections, sink.connections()), (vec![0; 5], 1));
}

#[tokio::test]
async fn a_connection_that_is_not_clean_is_not_reused() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    let closing = Behaviour::with_header(200, "connection", "close");
    for (behaviour, times) in [(closing, 2), (Behaviour::EndlessBody(200), 1), (Behaviour::Close, 1)] {
        sink.script("/hook", behaviour.clone());
        for _ in 0..times {
            let before = sink.connections();
            let outcome = setup.call(&sink.url("/hook")).await;
            assert_eq!(outcome.status.is_some(), !matches!(behaviour, Behaviour::Close), "{behaviour:?}: {outcome:?}");
            assert_eq!(sink.connections(), before + 1, "{behaviour:?}");
        }
    }
}

#[tokio::test]
async fn requests_in_flight_together_have_their_own_connections_and_four_are_reused() {
    let (setup, sink) = (Setup::local().await, WebhookSink::start().await);
    sink.script("/hook", Behaviour::status(200));
    let url = sink.url("/hook");
    let all = async || futures_util::future::join_all((0..8).map(|_| setup.call(&url))).await;
    assert!(all().await.iter().all(|outcome| outcome.status == Some(200)));
    assert_eq!(sink.connections(), 8);
    assert!(all().await.iter().all(|outcome| outcome.status == Some(200)));
    assert_eq!(sink.connections(), 8 + 4);
}
