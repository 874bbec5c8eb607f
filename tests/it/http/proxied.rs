//! Behind a proxy: which client a request is for, and which peer may name it.
//! Promise: it outlives the code below it.

use reqwest::Client;
use tokio::io::AsyncWriteExt;

use super::TestServer;
use super::server::read_until;
use crate::support::http;

const INBOX: &str = "/api/mail/messages?to=a@example.test";
const V1: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 51234 80\r\n";
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

#[tokio::test]
async fn nobody_may_send_a_proxy_header() {
    for settings in ["", "proxy-from = ['127.0.0.0/8']", "trusted-proxies = ['127.0.0.0/8']"] {
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
