//! Whole sessions, and the number of connections.
//! Promise: it outlives the code below it.

use super::{REFUSED, REPLIES, TO, inbox, until_counted};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn pipelined_commands_are_answered_in_order() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.send(
        "EHLO client.test\r\nMAIL FROM:<>\r\nRCPT TO:<a@other.test>\r\nRCPT TO:<a@example.test>\r\nDATA\r\n\
         hi\r\n.\r\nMAIL FROM:<>\r\nRSET\r\nQUIT\r\n",
    )
    .await;
    peer.expect_all(&[
        "250",
        "250 2.1.0",
        "550 5.1.2",
        "250 2.1.5",
        "354",
        "250 2.0.0",
        "250 2.1.0",
        "250 2.0.0",
        "221",
    ])
    .await;
    peer.expect_closed().await;
}

#[tokio::test]
async fn octets_one_by_one_make_the_same_dialog() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for octet in b"HELO client.test\r\nMAIL FROM:<>\r\nRCPT TO:<bob@example.test>\r\nDATA\r\nhi\r\n.\r\nQUIT\r\n" {
        peer.send([*octet]).await;
    }
    peer.expect_all(&["250 localhost", "250 2.1.0", "250 2.1.5", "354", "250 2.0.0", "221"]).await;
    assert_eq!(inbox(&server, TO).await[0].raw, r"hi\r\n");
}

#[tokio::test]
async fn the_twentieth_error_is_the_last() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    // The server does not read all of it, but the 421 must arrive.
    peer.send("FOO\r\n".repeat(50_000)).await;
    peer.expect_all(&["500 5.5.2"; 20]).await;
    peer.expect("421 4.7.0").await;
    peer.expect_closed().await;
}

#[tokio::test]
async fn a_connection_beyond_the_limit_is_refused() {
    let server = TestServer::with("max-smtp-connections = 2").await;
    let mut first = SmtpPeer::greeted(server.smtp()).await;
    let mut second = SmtpPeer::greeted(server.smtp()).await;
    let mut third = SmtpPeer::connect(server.smtp()).await;
    third.expect("421 4.3.2").await;
    third.expect_closed().await;
    until_counted(&server, REFUSED, "connections", 1).await;
    until_counted(&server, REPLIES, "4yz", 1).await;
    second.command("NOOP", "250").await;
    first.command("QUIT", "221").await;
    first.expect_closed().await;
    SmtpPeer::greeted_in_the_end(server.smtp()).await;
}
