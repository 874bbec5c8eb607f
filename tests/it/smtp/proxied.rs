//! Behind a proxy: which client a connection is for, and which peer may name it.
//! Promise: it outlives the code below it.

use super::{REFUSED, TO, inbox, secured, until_counted};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const V1: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 51234 25\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\xc8\x22\0\x19";
const V2_LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";
const TRUSTING: &str = "proxy-from = ['127.0.0.0/8']\n";

/// The client of each mail of an inbox, oldest first.
async fn clients(server: &TestServer, to: &str) -> Vec<String> {
    let client = |mail: super::Mail| mail.json["envelope"]["client"].as_str().expect("a client").to_owned();
    inbox(server, to).await.into_iter().map(client).collect()
}

#[tokio::test]
async fn the_header_names_the_client() {
    let cases: [(&[u8], &str); 5] = [
        (V1, "192.0.2.7"),
        (V2, "192.0.2.7"),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 51234 25\r\n", "2001:db8::7"),
        (b"PROXY UNKNOWN\r\n", "127.0.0.1"),
        (V2_LOCAL, "127.0.0.1"),
    ];
    let server = TestServer::with(TRUSTING).await;
    for (header, client) in cases {
        let to = format!("n{}@example.test", header.len());
        let mut peer = SmtpPeer::connect(server.smtp()).await;
        peer.send(header).await;
        peer.expect("220").await;
        peer.deliver(&to, "hi\r\n").await;
        assert_eq!(clients(&server, &to).await, [client], "{}", header.escape_ascii());
    }
}

#[tokio::test]
async fn a_header_may_arrive_octet_by_octet() {
    let server = TestServer::with(TRUSTING).await;
    for header in [V1, V2] {
        let mut peer = SmtpPeer::connect(server.smtp()).await;
        for octet in header {
            peer.send([*octet]).await;
        }
        peer.expect("220").await;
        peer.deliver(TO, "hi\r\n").await;
    }
    assert_eq!(clients(&server, TO).await, ["192.0.2.7"; 2]);
}

#[tokio::test]
async fn without_a_valid_header_the_connection_closes_without_a_reply() {
    let server = TestServer::ticking(&format!("{TRUSTING}proxy-timeout = '50ms'")).await;
    let mut silent = SmtpPeer::connect(server.smtp()).await;
    silent.expect_closed().await;
    let mut half = SmtpPeer::connect(server.smtp()).await;
    half.send(&V1[..20]).await;
    half.expect_closed().await;
    for bad in ["EHLO client.test\r\n", "PROXY TCP4 here there 1 25\r\n", "PROXY TCP4 192.0.2.7\r\n"] {
        let mut peer = SmtpPeer::connect(server.smtp()).await;
        assert_eq!(peer.try_exchange(bad).await, "", "{bad:?}");
    }
    until_counted(&server, REFUSED, "proxyHeader", 5).await;
}

#[tokio::test]
async fn no_other_peer_may_name_the_client() {
    let server = TestServer::with("proxy-from = ['192.0.2.0/24']").await;
    for header in [V2, V1] {
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.send(header).await;
        peer.expect("500 5.5.2").await;
        if header == V1 {
            peer.deliver(TO, "hi\r\n").await;
        }
    }
    assert_eq!(clients(&server, TO).await, ["127.0.0.1"]);
}

#[tokio::test]
async fn lmtp_has_no_header() {
    let server = TestServer::with(&format!("{TRUSTING}lmtp-listen = '127.0.0.1:0'")).await;
    let mut peer = SmtpPeer::greeted(server.lmtp()).await;
    peer.command("LHLO mta.test", "250").await;
    let mut liar = SmtpPeer::greeted(server.lmtp()).await;
    liar.send(V1).await;
    liar.expect("500 5.5.2").await;
}

#[tokio::test]
async fn the_header_comes_before_the_handshake() {
    let (server, connector, _dir) = secured(TRUSTING).await;
    let mut peer = SmtpPeer::connect(server.smtps()).await;
    peer.send(V2).await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.expect("220").await;
    peer.deliver(TO, "hi\r\n").await;
    assert_eq!(clients(&server, TO).await, ["192.0.2.7"]);
}
