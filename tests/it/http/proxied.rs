//! Behind a proxy: which client a request is for, and which peer may name it.
//! Promise: it outlives the code below it.

use reqwest::Client;
use tokio::io::AsyncWriteExt;

use super::TestServer;
use super::server::{read_to_end, read_until};
use crate::support::http;

const INBOX: &str = "/api/mail/messages?to=a@example.test";
const V1: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 51234 80\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\xc8\x22\0\x50";
const REQUEST: &[u8] =
    b"GET /api/mail/messages?to=a@example.test HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// One request a minute for each client, behind the trusted proxy 127.0.0.1.
async fn behind_a_proxy() -> TestServer {
    TestServer::with("rate-limit = 1\ntrusted-proxies = ['127.0.0.1/32']").await
}

fn peer(address: &str) -> Client {
    let address: std::net::IpAddr = address.parse().expect("an address");
    http::client_builder().local_address(address).build().expect("a client")
}

/// Whether a request of a peer with these fields is within the rate limit of its client.
async fn passes(api: &TestServer, peer: &Client, fields: &[(&str, &str)]) -> bool {
    let request = peer.get(format!("http://{}{INBOX}", api.http()));
    let request = fields.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.expect("an answer").status() == 200
}

#[tokio::test]
async fn a_trusted_proxy_names_the_client_and_nothing_forged_counts() {
    let api = behind_a_proxy().await;
    let proxy = peer("127.0.0.1");
    let named = async |field| passes(&api, &proxy, &[("x-forwarded-for", field)]).await;
    assert!(named("192.0.2.1").await);
    assert!(!named("192.0.2.1").await);
    assert!(!named("6.6.6.6, 192.0.2.1").await, "a client does not choose its bucket");
    assert!(named("6.6.6.6, 192.0.2.2").await);
    assert!(named("6.6.6.6").await, "nor does it fill another's");
    let stray = [("x-forwarded-for", "192.0.2.3"), ("forwarded", "for=192.0.2.4")];
    assert!(passes(&api, &proxy, &stray).await);
    assert!(!named("192.0.2.3").await, "a field that the proxy does not write moves nobody");
    assert!(passes(&api, &proxy, &[]).await, "the proxy itself");
}

#[tokio::test]
async fn from_other_peers_the_fields_mean_nothing() {
    let api = behind_a_proxy().await;
    let other = peer("127.0.0.2");
    for (field, value) in [("x-forwarded-for", "192.0.2.1"), ("forwarded", "for=192.0.2.1")] {
        passes(&api, &other, &[(field, value)]).await;
        assert!(!passes(&api, &other, &[(field, value)]).await, "{field}");
    }
    assert!(passes(&api, &peer("127.0.0.1"), &[("x-forwarded-for", "192.0.2.1")]).await);
}

/// A service whose connections from loopback begin with a PROXY header, and which permits one request a minute.
async fn with_header(proxy_timeout: &str) -> TestServer {
    let settings = format!("rate-limit = 1\nproxy-from = ['127.0.0.0/8']\nproxy-timeout = '{proxy_timeout}'");
    TestServer::with(&settings).await
}

#[tokio::test]
async fn a_proxy_header_names_the_client() {
    let server = with_header("1m").await;
    let status = async |header: &[u8]| {
        let answer = server.exchange(&[header, REQUEST].concat()).await;
        answer.split(' ').nth(1).expect("a status").to_owned()
    };
    assert_eq!(status(V1).await, "200");
    assert_eq!(status(V2).await, "429", "the same client");
    assert_eq!(status(b"PROXY TCP6 2001:db8::7 2001:db8::1 51234 80\r\n").await, "200");
    assert_eq!(status(b"PROXY TCP6 2001:db8::8 2001:db8::1 51234 80\r\n").await, "429", "the same /64");
    assert_eq!(status(b"PROXY UNKNOWN\r\n").await, "200", "the proxy itself");
}

#[tokio::test]
async fn a_proxy_header_may_arrive_octet_by_octet() {
    let server = with_header("1m").await;
    let mut stream = server.connect().await;
    stream.set_nodelay(true).expect("a socket");
    for octet in [V2, REQUEST].concat() {
        stream.write_all(&[octet]).await.expect("write");
    }
    read_until(&mut stream, "HTTP/1.1 200", 1).await;
}

#[tokio::test]
async fn without_a_proxy_header_the_connection_closes_without_an_answer() {
    let server = with_header("50ms").await;
    for octets in [REQUEST, b"", &V1[..20], b"PROXY TCP4 here there 1 80\r\n"] {
        let mut stream = server.connect().await;
        let _ = stream.write_all(octets).await;
        assert_eq!(read_to_end(&mut stream).await, "", "{}", octets.escape_ascii());
    }
}

#[tokio::test]
async fn no_other_peer_may_send_a_proxy_header() {
    for settings in ["", "proxy-from = ['127.0.0.2/32']", "trusted-proxies = ['127.0.0.0/8']"] {
        let server = TestServer::with(settings).await;
        let answer = server.exchange(&[V1, REQUEST].concat()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        let answer = server.exchange(REQUEST).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test]
async fn the_connections_of_a_trusted_proxy_have_no_limit_of_one_client() {
    let limits = "limit-exempt = ['none']\nmax-http-connections-per-client = 1\ntrusted-proxies = ['127.0.0.0/8']";
    let server = TestServer::with(limits).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = server.connect().await;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("write");
        read_until(&mut stream, "HTTP/1.1 200", 1).await;
        held.push(stream);
    }
}
