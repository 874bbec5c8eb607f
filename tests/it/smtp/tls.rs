//! STARTTLS and TLS from the first octet, with clients of our own.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;

use super::{ENDED, REFUSED, TO, inbox, messages, secured, until_counted, until_metric};
use crate::support::certificates::Pair;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const FAILED: &str = "tlsHandshake";
const CONNECTIONS: &str = "tempmail_smtp_connections";

/// A peer that has said STARTTLS, and must do a handshake now.
async fn before_handshake(address: SocketAddr) -> SmtpPeer {
    let mut peer = SmtpPeer::greeted(address).await;
    peer.command("STARTTLS", "220 2.0.0").await;
    peer
}

#[tokio::test]
async fn starttls_encrypts_and_forgets() {
    let (server, connector, _dir) = secured("").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let extensions = peer.command("EHLO client.test", "250").await;
    assert!(extensions.contains("STARTTLS"), "{extensions}");
    peer.dialog(&[("MAIL FROM:<ann@sender.test>", "250"), ("STARTTLS now", "501 5.5.4"), ("STARTTLS", "220 2.0.0")])
        .await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.command("RCPT TO:<bob@example.test>", "503 5.5.1").await;
    peer.command("MAIL FROM:<ann@sender.test>", "503 5.5.1 Send HELO").await;
    let extensions = peer.command("EHLO client.test", "250").await;
    assert!(!extensions.contains("STARTTLS"), "{extensions}");
    peer.command("STARTTLS", "503 5.5.1").await;
    peer.deliver(TO, "hi\r\n").await;
    peer.command("QUIT", "221").await;
    peer.expect_closed().await;
    assert_eq!(inbox(&server, TO).await[0].raw, r"hi\r\n\r\n");
}

#[tokio::test]
async fn commands_in_the_clear_behind_starttls_are_never_executed() {
    let (server, connector, _dir) = secured("").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    // In one write, so that the server has read all of it when it begins the handshake.
    peer.send("EHLO a\r\nSTARTTLS\r\nEHLO evil\r\nMAIL FROM:<evil@sender.test>\r\nRCPT TO:<bob@example.test>\r\n")
        .await;
    peer.expect_all(&["250", "220 2.0.0"]).await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    // A reply to any of those commands would come before this one.
    peer.dialog(&[("DATA", "503 5.5.1 Send MAIL"), ("NOOP", "250 2.0.0"), ("QUIT", "221")]).await;
    peer.expect_closed().await;
    assert_eq!(messages(&server).await, 0);
}

#[tokio::test]
async fn octets_that_are_no_handshake_end_the_session() {
    let (server, connector, _dir) = secured("max-smtp-connections = 1").await;
    let mut peer = before_handshake(server.smtp()).await;
    peer.send("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\nhi\r\n.\r\n").await;
    let reply = peer.try_exchange("NOOP\r\n").await;
    assert!(!reply.contains("250"), "{reply:?}");
    drop(peer);
    // The slot is free again, also after a handshake that was cut short.
    let mut peer = SmtpPeer::greeted_in_the_end(server.smtp()).await;
    peer.command("STARTTLS", "220 2.0.0").await;
    peer.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc").await;
    drop(peer);
    let mut peer = SmtpPeer::greeted_in_the_end(server.smtp()).await;
    peer.command("STARTTLS", "220 2.0.0").await;
    peer.secure(&connector).await.expect("a handshake").command("NOOP", "250").await;
    assert_eq!(messages(&server).await, 0);
}

#[tokio::test]
async fn commands_pipelined_across_starttls_are_never_executed_wherever_they_are_cut() {
    let (server, connector, _dir) = secured("").await;
    let wire = b"STARTTLS\r\nEHLO evil\r\nMAIL FROM:<evil@sender.test>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\n";
    let mut secured = 0;
    for cut in 0..=wire.len() {
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.command("EHLO client.test", "250").await;
        let (before, after) = wire.split_at(cut);
        peer.send_cut(&[before, after]).await;
        peer.expect("220 2.0.0").await;
        // The octets that the server reads after STARTTLS are no handshake.
        let Ok(mut peer) = peer.secure(&connector).await else { continue };
        secured += 1;
        peer.send("DATA\r\nQUIT\r\n").await;
        peer.expect_all(&["503 5.5.1 Send MAIL", "221"]).await;
        peer.expect_closed().await;
    }
    assert!(secured > 0, "none came to the handshake");
    assert_eq!(messages(&server).await, 0);
}

#[tokio::test]
async fn commands_behind_an_unfinished_handshake_are_never_executed() {
    let (server, _, _dir) = secured("tls-handshake-timeout = '100ms'").await;
    let commands = "EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\nhi\r\n.\r\n";
    // A record that is longer than what comes; a whole one that is half a message; one that is no handshake.
    let beginnings: [&[u8]; 3] = [
        b"\x16\x03\x01\x20\x00\x01\x00\x01\xfc",
        b"\x16\x03\x01\x00\x05\x01\x00\x01\xfc\x03",
        b"\x15\x03\x01\x00\x02\x01\x00",
    ];
    for beginning in beginnings {
        for mut peer in [before_handshake(server.smtp()).await, SmtpPeer::connect(server.smtps()).await] {
            peer.send(beginning).await;
            let said = peer.try_exchange(commands).await;
            assert!(said.is_empty() || said.starts_with('\x15'), "{said:?}");
        }
    }
    assert_eq!(messages(&server).await, 0);
}

#[tokio::test]
async fn a_handshake_has_a_timeout() {
    let (server, _, _dir) = secured("tls-handshake-timeout = '100ms'").await;
    for mut peer in [before_handshake(server.smtp()).await, SmtpPeer::connect(server.smtps()).await] {
        peer.expect_closed().await;
    }
    until_counted(&server, REFUSED, FAILED, 2).await;
}

#[tokio::test]
async fn stopping_waits_for_no_handshake() {
    let (server, _, _dir) = secured("tls-handshake-timeout = '5m'\ndrain-timeout = '5m'").await;
    let peers = [before_handshake(server.smtp()).await, SmtpPeer::connect(server.smtps()).await];
    until_metric(&server, CONNECTIONS, 2).await;
    server.stop().await;
    for mut peer in peers {
        peer.expect_closed().await;
    }
}

#[tokio::test]
async fn with_tls_from_the_first_octet_nothing_is_sent_in_the_clear() {
    let (server, connector, _dir) = secured("max-smtp-connections = 1").await;
    let peer = SmtpPeer::connect(server.smtps()).await;
    until_metric(&server, CONNECTIONS, 1).await;
    let mut one_too_many = SmtpPeer::connect(server.smtps()).await;
    one_too_many.expect_closed().await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.expect("220").await;
    peer.deliver(TO, "hi\r\n").await;
    peer.dialog(&[("STARTTLS", "503"), ("QUIT", "221")]).await;
    peer.expect_closed().await;
    assert_eq!(messages(&server).await, 1);
}

#[tokio::test]
async fn a_handshake_forgets_all_but_the_errors() {
    let (server, connector, _dir) = secured("smtp-auth = 'accept-any'").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.dialog(&[("FOO", "500"), ("EHLO a", "250"), ("AUTH PLAIN AGEAYg==", "235"), ("MAIL FROM:<>", "250")]).await;
    peer.dialog(&[("RCPT TO:<bob@example.test>", "250"), ("STARTTLS", "220")]).await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.dialog(&[("DATA", "503"), ("RCPT TO:<bob@example.test>", "503"), ("MAIL FROM:<>", "503")]).await;
    peer.deliver(TO, "hi\r\n").await;
    assert_eq!(inbox(&server, TO).await[0].json["envelope"]["protocol"], "ESMTPS");
    // A stored message has forgiven them; these are counted in the clear and behind the handshake.
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for _ in 0..10 {
        peer.command("FOO", "500").await;
    }
    peer.command("STARTTLS", "220").await;
    let mut peer = peer.secure(&connector).await.expect("a handshake");
    peer.send("FOO\r\n".repeat(10)).await;
    peer.expect_all(&["500 5.5.2"; 10]).await;
    peer.expect("421 4.7.0").await;
}

#[tokio::test]
async fn without_a_certificate_there_is_no_starttls() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let extensions = peer.command("EHLO client.test", "250").await;
    assert!(!extensions.contains("STARTTLS"), "{extensions}");
    peer.command("STARTTLS", "502 5.5.1").await;
    peer.deliver(TO, "hi\r\n").await;
}

#[tokio::test]
async fn a_session_outlives_its_certificate() {
    let (server, connector, dir) = secured("").await;
    let handshake = async |connector| before_handshake(server.smtp()).await.secure(connector).await;
    let mut before = handshake(&connector).await.expect("a handshake");
    let next = Pair::fresh();
    next.write(dir.path());
    let trusts_next = next.connector();
    until("the new certificate is served", async || handshake(&trusts_next).await.is_ok()).await;
    assert!(handshake(&connector).await.is_err(), "the old certificate is served");
    before.deliver(TO, "hi\r\n").await;
}

/// While more than three quarters of the connections are taken.
#[tokio::test]
async fn under_stress_a_handshake_has_less_time() {
    let (server, _, _dir) = secured("max-smtp-connections = 1\nsmtp-stress-timeout = '50ms'").await;
    let mut silent = before_handshake(server.smtp()).await;
    silent.expect_closed().await;
    until_counted(&server, ENDED, "crowded", 1).await;
    until_counted(&server, REFUSED, FAILED, 1).await;
}
