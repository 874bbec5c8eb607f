//! Heads of requests that cannot be read: each gets a problem, whoever finds the fault.
//! Promise: it outlives the code below it.

use serde_json::Value;
use tokio::io::AsyncWriteExt;

use super::TestServer;
use super::server::read_to_end;

/// The statuses and codes of the answers, each of which must be a problem with its fields and exact length.
fn problems(mut answers: &str) -> Vec<(u16, String)> {
    let mut found = Vec::new();
    while let Some((head, rest)) = answers.split_once("\r\n\r\n") {
        let lower = head.to_lowercase();
        let field = |name: &str| lower.lines().find_map(|line| line.strip_prefix(name)).expect(name).trim().to_owned();
        assert_eq!(field("content-type:"), "application/problem+json", "{head}");
        assert_eq!(field("cache-control:"), "no-store", "{head}");
        assert!(!field("date:").is_empty(), "{head}");
        let (body, behind) = rest.split_at(field("content-length:").parse().expect("a length"));
        let body: Value = serde_json::from_str(body).expect("JSON");
        let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).expect("a status");
        assert_eq!(body["status"], status);
        assert!(!body["detail"].as_str().expect("detail").is_empty());
        found.push((status, body["code"].as_str().expect("a code").to_owned()));
        answers = behind;
    }
    assert_eq!(answers, "");
    found
}

#[tokio::test]
async fn a_head_that_cannot_be_read_gets_a_problem() {
    let server = TestServer::start().await;
    let get = |fields: &str| format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").into_bytes();
    let post = |fields: &str| format!("POST /api/domains HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").into_bytes();
    for (octets, status, code) in [
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\r\n\r\n".to_vec(), 400, "request_invalid"),
        (b"garbage\r\n\r\n".to_vec(), 400, "request_invalid"),
        (b"GET\r\n\r\n".to_vec(), 400, "request_invalid"),
        (b"GET / HTTP/7.3\r\n\r\n".to_vec(), 400, "request_invalid"),
        (b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), 400, "request_invalid"),
        (get("a b: c\r\n"), 400, "request_invalid"),
        (get("no colon\r\n"), 400, "request_invalid"),
        (get("X: \0\r\n"), 400, "request_invalid"),
        (get("X: 1\r\n folded\r\n"), 400, "request_invalid"),
        (post("Content-Length: ten\r\n"), 400, "request_invalid"),
        (post("Content-Length: -1\r\n"), 400, "request_invalid"),
        (post("Content-Length: 1\r\nContent-Length: 2\r\n"), 400, "request_invalid"),
        (post("Content-Length: 99999999999999999999999\r\n"), 400, "request_invalid"),
        (post("Transfer-Encoding: gzip\r\n"), 400, "request_invalid"),
        (post("Transfer-Encoding: chunked, gzip\r\n"), 400, "request_invalid"),
        (get(&format!("X: {}\r\n", "x".repeat(100_000))), 431, "head_too_large"),
        (get(&"X: 1\r\n".repeat(200)), 431, "head_too_large"),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000)).into_bytes(), 431, "head_too_large"),
    ] {
        let answers = server.exchange(&octets).await;
        let shown = octets[..octets.len().min(80)].escape_ascii();
        assert_eq!(problems(&answers), [(status, code.to_owned())], "{shown}");
    }
}

#[tokio::test]
async fn a_bad_head_behind_good_requests_gets_a_problem_in_its_turn() {
    let server = TestServer::start().await;
    let good = "GET /no-such HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answers = server.exchange(format!("{good}{good}garbage\r\n\r\n{good}").as_bytes()).await;
    let unknown = || (404, "unknown_path".to_owned());
    assert_eq!(problems(&answers), [unknown(), unknown(), (400, "request_invalid".to_owned())]);
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_goes_on_sending() {
    let server = TestServer::start().await;
    for _ in 0..20 {
        let mut stream = server.connect().await;
        stream.write_all(b"garbage\r\n\r\n").await.expect("write");
        assert_eq!(problems(&read_to_end(&mut stream).await), [(400, "request_invalid".to_owned())]);
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
        assert_eq!(problems(&answers), [(400, "json_invalid".to_owned())], "{fields}");
    }
}
