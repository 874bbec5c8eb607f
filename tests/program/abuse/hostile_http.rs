//! HTTP requests as an attacker makes them, octet by octet, against the real program.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::http;
use crate::support::program::Program;

const INBOX: &str = "/api/mail/messages?to=ann@example.test";

/// Sends octets, and returns what comes back until the server closes.
async fn exchange(server: SocketAddr, octets: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server).await.expect("connect");
    // The server may have refused before it read everything.
    let _ = stream.write_all(octets).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

/// The status and the code of the only answer. A refusal must be a problem in JSON, or have no body if the head of the
/// request cannot be read.
fn outcome(answer: &[u8]) -> (u16, String) {
    let text = String::from_utf8_lossy(answer);
    let answers = text.matches("HTTP/1.1 ").count() + text.matches("HTTP/1.0 ").count();
    assert_eq!(answers, 1, "one answer: {text}");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("no status: {head}"));
    let is_bare = [400, 431].contains(&status) && body.is_empty();
    if status < 400 || is_bare {
        return (status, String::new());
    }
    assert!(head.to_lowercase().contains("content-type: application/problem+json"), "{head}");
    let problem: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    (status, problem["code"].as_str().expect("a code").to_owned())
}

fn get(target: &str) -> Vec<u8> {
    request("GET", target, "", b"")
}

fn request(method: &str, target: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n");
    [head.as_bytes(), body].concat()
}

fn json(path: &str, body: &[u8]) -> Vec<u8> {
    request("POST", path, &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()), body)
}

/// Requests, and the status and code that each of them gets; without a code for a good answer, and for a head that cannot
/// be read.
fn cases() -> Vec<(&'static str, Vec<u8>, u16, &'static str)> {
    let nested = |open: &str, times: usize| format!("{{\"domain\":{}", open.repeat(times)).into_bytes();
    let long = |octets: usize| get(&format!("{INBOX}&subject={}", "x".repeat(octets)));
    vec![
        ("doubled", get("/api/mail/messages?to=ann@example.test&to=bob@example.test"), 400, "parameter_invalid"),
        ("doubled by another spelling", get(&format!("{INBOX}&%74o=bob@example.test")), 400, "parameter_invalid"),
        ("contradictory", get(&format!("{INBOX}&page=2&cursor=")), 400, "parameter_invalid"),
        ("a NUL in an address", get("/api/mail/messages?to=ann%00@example.test"), 400, "address_invalid"),
        ("a NUL in a filter", get(&format!("{INBOX}&subject=a%00b")), 200, ""),
        (
            "a line end in a value",
            get("/api/mail/messages?to=ann@example.test%0d%0aX-Evil:%201"),
            400,
            "address_invalid",
        ),
        ("a bare line end in the target", get("/api/mail/messages?to=ann\n@example.test"), 400, ""),
        ("overlong UTF-8", get("/api/mail/messages?to=ann%c0%ae@example.test"), 400, "parameter_invalid"),
        ("a lone surrogate", get("/api/mail/messages?to=ann%ed%a0%80@example.test"), 400, "parameter_invalid"),
        ("half an escape", get("/api/mail/messages?to=ann%4"), 400, "parameter_invalid"),
        (
            "raw octets",
            [b"GET /api/mail/messages?to=\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".as_slice()]
                .concat(),
            400,
            "",
        ),
        ("a long query", long(20_000), 414, "query_too_long"),
        ("a query of 1 MB", long(1 << 20), 431, ""),
        ("traversal in an id", get("/api/mail/messages/..%2f..%2fadmin%2ftokens"), 400, "id_invalid"),
        ("traversal in a path", get("/api/mail/../admin/tokens"), 404, "unknown_path"),
        ("a backslash", get("/api\\mail\\messages"), 404, "unknown_path"),
        ("a doubled slash", get("//api/mail/messages?to=ann@example.test"), 404, "unknown_path"),
        ("a method in another case", request("get", INBOX, "", b""), 405, "method_not_allowed"),
        ("a method that nobody knows", request("PROPFIND", INBOX, "", b""), 405, "method_not_allowed"),
        ("CONNECT", request("CONNECT", "localhost:25", "", b""), 404, "unknown_path"),
        ("TRACE", request("TRACE", "/", "", b""), 405, "method_not_allowed"),
        ("absolute form", request("GET", &format!("http://localhost{INBOX}"), "", b""), 200, ""),
        ("absolute form of another host", get(&format!("http://evil.test{INBOX}")), 421, "host_not_allowed"),
        ("HTTP/1.0", b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n".to_vec(), 200, ""),
        ("two hosts", request("GET", "/healthz", "Host: evil.test\r\n", b""), 400, "host_invalid"),
        ("a space before a colon", request("GET", "/healthz", "Content-Length : 5\r\n", b"hello"), 400, ""),
        ("a folded field", request("GET", "/healthz", "X: a\r\n b\r\n", b""), 400, ""),
        (
            "lengths that differ",
            request("POST", "/api/domains", "Content-Length: 2\r\nContent-Length: 3\r\n", b"{}"),
            400,
            "",
        ),
        ("a length with a sign", request("POST", "/api/domains", "Content-Length: +2\r\n", b"{}"), 400, ""),
        ("a length in hexadecimal", request("POST", "/api/domains", "Content-Length: 0x2\r\n", b"{}"), 400, ""),
        (
            "a coding that nobody knows",
            request("POST", "/api/domains", "Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n"),
            400,
            "",
        ),
        ("arrays that nest", json("/api/domains", &nested("[", 10_000)), 400, "json_invalid"),
        ("objects that nest", json("/api/domains", &nested("{\"a\":", 2_000)), 400, "json_invalid"),
        ("a body that is too long", json("/api/domains", &vec![b' '; 1 << 20]), 413, "body_too_large"),
        ("JSON that is not UTF-8", json("/api/domains", b"{\"domain\":\"\xff\"}"), 400, "json_invalid"),
        ("a number beyond all bounds", json("/api/domains", br#"{"domain":1e999999}"#), 400, "json_invalid"),
        (
            "a form",
            request(
                "POST",
                "/api/domains",
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n",
                b"domain=a",
            ),
            415,
            "content_type_unsupported",
        ),
        (
            "text",
            request("POST", "/api/domains", "Content-Type: text/plain\r\nContent-Length: 2\r\n", b"{}"),
            415,
            "content_type_unsupported",
        ),
    ]
}

#[tokio::test]
async fn hostile_requests_get_a_clear_answer_and_do_no_harm() {
    let daemon = Program::fresh(&["--rate-limit", "off"]);
    let mut wrong = Vec::new();
    for (what, octets, status, code) in cases() {
        let found = outcome(&exchange(daemon.http, &octets).await);
        if found != (status, code.to_owned()) {
            wrong.push(format!("{what}: {found:?}, not {status} {code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(http::total(daemon.http, "ann@example.test").await, 0);
    assert!(!daemon.log().contains("ERROR"), "{}", daemon.log());
    daemon.stop();
}

/// Two readings of where a request ends let one client answer for another behind a proxy that reuses connections.
#[tokio::test]
async fn a_request_inside_the_body_of_another_is_never_answered() {
    let daemon = Program::fresh(&["--rate-limit", "off"]);
    let smuggled = "GET /api/admin/tokens HTTP/1.1\r\nHost: localhost\r\nX: ";
    let length = smuggled.len();
    for fields in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding : chunked\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding: xchunked\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding:\x0bchunked\r\n"),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
    ] {
        let body = format!("0\r\n\r\n{smuggled}\r\n\r\n");
        let head =
            format!("POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{fields}\r\n");
        let answer = exchange(daemon.http, [head, body].concat().as_bytes()).await;
        outcome(&answer);
        assert!(!String::from_utf8_lossy(&answer).contains("token_required"), "{fields}");
    }
    daemon.stop();
}
