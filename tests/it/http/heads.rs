//! Heads of requests that cannot be read: each gets a status, and the connection ends behind it.
//! Promise: it outlives the code below it.

use serde_json::Value;
use tokio::io::AsyncWriteExt;

use super::TestServer;
use super::server::read_to_end;

/// The statuses and codes of the answers, each with its exact length. Those to heads that cannot be read have no body, and
/// close the connection; others are problems with their fields.
fn refusals(mut answers: &str) -> Vec<(u16, String)> {
    let mut found = Vec::new();
    while let Some((head, rest)) = answers.split_once("\r\n\r\n") {
        let lower = head.to_lowercase();
        let field = |name: &str| lower.lines().find_map(|line| line.strip_prefix(name)).expect(name).trim().to_owned();
        assert!(!field("date:").is_empty(), "{head}");
        let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).expect("a status");
        let (body, behind) = rest.split_at(field("content-length:").parse().expect("a length"));
        if body.is_empty() {
            assert_eq!(field("connection:"), "close", "{head}");
            found.push((status, String::new()));
        } else {
            assert_eq!(field("content-type:"), "application/problem+json", "{head}");
            assert_eq!(field("cache-control:"), "no-store", "{head}");
            let body: Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(body["status"], status);
            assert!(!body["detail"].as_str().expect("detail").is_empty());
            found.push((status, body["code"].as_str().expect("a code").to_owned()));
        }
        answers = behind;
    }
    assert_eq!(answers, "");
    found
}

fn unreadable(status: u16) -> (u16, String) {
    (status, String::new())
}

#[tokio::test]
async fn a_head_that_cannot_be_read_gets_a_status() {
    let server = TestServer::start().await;
    let get = |fields: &str| format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").into_bytes();
    let post = |fields: &str| format!("POST /api/domains HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").into_bytes();
    for (octets, status) in [
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\r\n\r\n".to_vec(), 400),
        (b"garbage\r\n\r\n".to_vec(), 400),
        (b"GET\r\n\r\n".to_vec(), 400),
        (b"GET / HTTP/7.3\r\n\r\n".to_vec(), 400),
        (b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), 400),
        (get("a b: c\r\n"), 400),
        (get("no colon\r\n"), 400),
        (get("X: \0\r\n"), 400),
        (get("X: 1\r\n folded\r\n"), 400),
        (post("Content-Length: ten\r\n"), 400),
        (post("Content-Length: -1\r\n"), 400),
        (post("Content-Length: 1\r\nContent-Length: 2\r\n"), 400),
        (post("Content-Length: 99999999999999999999999\r\n"), 400),
        // hyper has a meaning of its own for these two numbers, and refuses them as a head that is too large before any
        // handler could say 413 (DecodedLength::checked_new, Server::on_error).
        (post("Content-Length: 18446744073709551615\r\n"), 431),
        (post("Content-Length: 18446744073709551614\r\n"), 431),
        (post("Transfer-Encoding: gzip\r\n"), 400),
        (post("Transfer-Encoding: chunked, gzip\r\n"), 400),
        (get(&format!("X: {}\r\n", "x".repeat(100_000))), 431),
        (get(&"X: 1\r\n".repeat(200)), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000)).into_bytes(), 431),
    ] {
        let answers = server.exchange(&octets).await;
        let shown = octets[..octets.len().min(80)].escape_ascii();
        assert_eq!(refusals(&answers), [unreadable(status)], "{shown}");
    }
    let metrics = server.get("/metrics").await;
    let metrics = metrics.text();
    let mut panics = metrics.lines().filter(|line| line.starts_with("tempmail_panics_total"));
    assert!(panics.all(|line| line.ends_with(" 0")), "{metrics}");
}

#[tokio::test]
async fn a_bad_head_behind_good_requests_is_refused_in_its_turn() {
    let server = TestServer::start().await;
    let good = "GET /no-such HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answers = server.exchange(format!("{good}{good}garbage\r\n\r\n{good}").as_bytes()).await;
    let unknown = || (404, "unknown_path".to_owned());
    assert_eq!(refusals(&answers), [unknown(), unknown(), unreadable(400)]);
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_goes_on_sending() {
    let server = TestServer::start().await;
    for _ in 0..20 {
        let mut stream = server.connect().await;
        stream.write_all(b"garbage\r\n\r\n").await.expect("write");
        assert_eq!(refusals(&read_to_end(&mut stream).await), [unreadable(400)]);
        // A client that still sends must not be reset: it may not have read the answer yet.
        for _ in 0..4 {
            stream.write_all(&vec![b'x'; 64 * 1024]).await.expect("write");
        }
    }
}

/// RFC 9112 section 6.1: such a request may be an attempt to smuggle another one, so the connection closes behind it.
#[tokio::test]
async fn a_request_with_two_lengths_is_the_last_one_of_its_connection() {
    let server = TestServer::start().await;
    for fields in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: ten\r\n",
    ] {
        let smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let request = format!(
            "POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{fields}\r\n0\r\n\r\n{smuggled}"
        );
        let answers = server.exchange(request.as_bytes()).await;
        assert_eq!(refusals(&answers), [(400, "json_invalid".to_owned())], "{fields}");
    }
}
