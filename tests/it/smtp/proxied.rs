//! Behind a proxy: which client a connection is for, and which peer may name it.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use futures_util::future::join_all;
use tempmail::smtp::{Service, SmtpSettings};
use tokio::net::TcpSocket;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::keeper::keeper;
use crate::support::programs;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until_some;

/// An address that `HAProxy` does not connect from by itself.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);
const V1: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 51234 25\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\xc8\x22\0\x19";
const V2_LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

fn trusting(settings: &mut SmtpSettings) {
    settings.proxy_from = vec!["127.0.0.0/8".parse().expect("a network")];
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
    // All at once, because each waits a second for its greeting.
    join_all(cases.map(async |(header, client)| {
        let receiver = TestReceiver::start(FaultyStore::open(), trusting).await;
        let mut peer = SmtpPeer::connect(receiver.address).await;
        peer.send(header).await;
        peer.expect("220").await;
        peer.deliver("bob@example.test", "hi\r\n").await;
        let stored = receiver.stop().await.stored();
        assert_eq!(stored[0].envelope.client.to_string(), client, "{}", header.escape_ascii());
    }))
    .await;
}

#[tokio::test]
async fn a_client_behind_a_proxy_waits_for_the_greeting_as_well() {
    let receiver = TestReceiver::start(FaultyStore::open(), trusting).await;
    let mut peer = SmtpPeer::connect(receiver.address).await;
    peer.send([V1, b"EHLO client.test\r\n"].concat()).await;
    peer.expect("554").await;
}

#[tokio::test]
async fn a_header_may_arrive_octet_by_octet() {
    let receiver = TestReceiver::start(FaultyStore::open(), trusting).await;
    for header in [V1, V2] {
        let mut peer = SmtpPeer::connect(receiver.address).await;
        for octet in header {
            peer.send([*octet]).await;
        }
        peer.expect("220").await;
        peer.deliver("bob@example.test", "hi\r\n").await;
    }
    let stored = receiver.stop().await.stored();
    assert!(stored.iter().all(|delivery| delivery.envelope.client.to_string() == "192.0.2.7"), "{stored:?}");
}

#[tokio::test]
async fn without_a_valid_header_the_connection_closes_without_a_reply() {
    let change = |settings: &mut SmtpSettings| {
        trusting(settings);
        settings.proxy_timeout = Duration::from_millis(50);
    };
    let receiver = TestReceiver::start(FaultyStore::open(), change).await;
    let mut silent = SmtpPeer::connect(receiver.address).await;
    silent.expect_closed().await;
    let mut half = SmtpPeer::connect(receiver.address).await;
    half.send(&V1[..20]).await;
    half.expect_closed().await;
    for bad in ["EHLO client.test\r\n", "PROXY TCP4 here there 1 25\r\n", "PROXY TCP4 192.0.2.7\r\n"] {
        let mut peer = SmtpPeer::connect(receiver.address).await;
        assert_eq!(peer.try_exchange(bad).await, "", "{bad:?}");
    }
    receiver.until_counted("proxyHeadersRefused", None, 5).await;
}

#[tokio::test]
async fn no_other_peer_may_name_the_client() {
    let change = |settings: &mut SmtpSettings| settings.proxy_from = vec!["192.0.2.0/24".parse().expect("a network")];
    let receiver = TestReceiver::start(FaultyStore::open(), change).await;
    for header in [V1, V2] {
        let mut peer = SmtpPeer::greeted(receiver.address).await;
        peer.send(header).await;
        peer.expect("500 5.5.2").await;
    }
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.send(V1).await;
    peer.expect("500 5.5.2").await;
    peer.deliver("bob@example.test", "hi\r\n").await;
    assert_eq!(receiver.stop().await.stored()[0].envelope.client.to_string(), "127.0.0.1");
}

#[tokio::test]
async fn lmtp_has_no_header() {
    let receiver = TestReceiver::of(Service::Lmtp, None, FaultyStore::open(), trusting).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("LHLO mta.test", "250").await;
    let mut liar = SmtpPeer::greeted(receiver.address).await;
    liar.send(V1).await;
    liar.expect("500 5.5.2").await;
}

#[tokio::test]
async fn the_header_comes_before_the_handshake() {
    let (tls, connector, _dir) = keeper();
    let receiver = TestReceiver::of(Service::Smtps, Some(tls), FaultyStore::open(), trusting).await;
    let mut peer = SmtpPeer::connect(receiver.address).await;
    peer.send(V2).await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.expect("220").await;
    peer.deliver("bob@example.test", "hi\r\n").await;
    assert_eq!(receiver.stop().await.stored()[0].envelope.client.to_string(), "192.0.2.7");
}

#[tokio::test(flavor = "multi_thread")]
async fn haproxy_names_its_clients() {
    let Some(haproxy) = programs::find("haproxy", "the PROXY protocol of HAProxy") else { return };
    let receiver = TestReceiver::start(FaultyStore::open(), trusting).await;
    let fronts = [free_port(), free_port()];
    let mut configuration =
        "defaults\n mode tcp\n timeout connect 5s\n timeout client 20s\n timeout server 20s\n".to_owned();
    for (front, send) in fronts.iter().zip(["send-proxy", "send-proxy-v2"]) {
        let back = receiver.address;
        writeln!(configuration, "listen {send}\n bind {front}\n server tempmail {back} {send}").expect("a string");
    }
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("haproxy.cfg");
    std::fs::write(&file, configuration).expect("write");
    let mut child =
        Command::new(haproxy).arg("-db").arg("-f").arg(&file).stderr(Stdio::null()).spawn().expect("haproxy");
    for front in fronts {
        let mut peer = until_some("haproxy listens", async || {
            assert_eq!(child.try_wait().expect("its state"), None, "haproxy has ended");
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.bind(SocketAddr::from((CLIENT, 0))).expect("bind");
            socket.connect(front).await.ok().map(SmtpPeer::over)
        })
        .await;
        peer.expect("220").await;
        peer.deliver("bob@example.test", "hi\r\n").await;
    }
    child.kill().and_then(|()| child.wait()).expect("its end");
    let stored = receiver.stop().await.stored();
    let clients: Vec<_> = stored.iter().map(|delivery| delivery.envelope.client).collect();
    assert_eq!(clients, [CLIENT; 2]);
}

/// A port that is free at the moment.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}
