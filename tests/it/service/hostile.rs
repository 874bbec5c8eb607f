//! Clients that are broken, hostile, or gone.
//! Promise: it outlives the code below it.

use rand::RngExt;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const TO: &str = "hello@example.test";

/// Sends octets, ends its own direction, and reads until the server closes.
async fn throw(server: SocketAddr, octets: &[u8]) {
    let mut stream = TcpStream::connect(server).await.expect("connect");
    // The server may close at any moment.
    let _ = stream.write_all(octets).await;
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

#[tokio::test]
async fn random_octets_on_either_port_do_no_harm() {
    let server = TestServer::start().await;
    for round in 0..40_usize {
        let mut octets: Vec<u8> = (0..rand::rng().random_range(1..20_000)).map(|_| rand::random()).collect();
        // Some mutations that come after the first commands.
        for start in
            [&b"DATA\r\n"[..], b"EHLO a\r\nMAIL FROM:<>\r\n", b"GET / HTTP/1.1\r\n"].iter().skip(round % 4).take(1)
        {
            octets.splice(0..0, start.iter().copied());
        }
        throw(server.smtp(), &octets).await;
        throw(server.http(), &octets).await;
    }
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: still here\r\n\r\n").await;
    assert_eq!(http::total(server.http(), TO).await, 1);
    assert_eq!(http::get(server.http(), "/readyz").await.0, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_goes_in_the_middle_of_data_leaves_nothing() {
    let server = TestServer::start().await;
    for end in ["", "\r\n", "\r\n.", "\r\n.\r", "\n.\n"] {
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.begin_data(TO).await;
        peer.send(format!("Subject: half\r\n\r\nhalf a line{end}")).await;
        drop(peer);
    }
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: whole\r\n\r\n").await;
    // A stop waits for the sessions, so all of them have ended.
    let server = server.restart("").await;
    assert_eq!(server.stats().await.emails, 1);
    server.stop().await;
}

#[tokio::test]
async fn after_twenty_malformed_commands_the_session_is_closed() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for number in 1..20 {
        let reply = peer.command(&format!("NONSENSE {number}"), "5").await;
        assert!(reply.starts_with("500 5.5"), "{reply}");
    }
    peer.send("NONSENSE\r\n").await;
    let mut reply = peer.reply().await;
    if reply.starts_with('5') {
        reply = peer.reply().await;
    }
    assert!(reply.starts_with("421"), "{reply}");
    peer.expect_closed().await;
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "Subject: fine\r\n\r\n").await;
    server.stop().await;
}
