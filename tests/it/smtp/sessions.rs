//! Whole sessions, and the number of connections.

use std::time::Duration;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;

#[tokio::test]
async fn pipelined_commands_are_answered_in_order() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.send(
        "EHLO client.test\r\nMAIL FROM:<>\r\nRCPT TO:<a@other.test>\r\nRCPT TO:<a@example.test>\r\nDATA\r\n\
         hi\r\n.\r\nMAIL FROM:<>\r\nRSET\r\nQUIT\r\n",
    )
    .await;
    for start in ["250", "250 2.1.0", "550 5.1.2", "250 2.1.5", "354", "250 2.0.0", "250 2.1.0", "250 2.0.0", "221"] {
        peer.expect(start).await;
    }
    peer.expect_closed().await;
}

#[tokio::test]
async fn octets_one_by_one_make_the_same_dialog() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    for octet in b"HELO client.test\r\nMAIL FROM:<>\r\nRCPT TO:<a@example.test>\r\nDATA\r\nhi\r\n.\r\nQUIT\r\n" {
        peer.send([*octet]).await;
    }
    for start in ["250 localhost", "250 2.1.0", "250 2.1.5", "354", "250 2.0.0", "221"] {
        peer.expect(start).await;
    }
    assert_eq!(receiver.stop().await.stored()[0].raw, "hi\r\n");
}

#[tokio::test]
async fn the_twentieth_error_is_the_last() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    // The server does not read all of it, but the 421 must arrive.
    peer.send("FOO\r\n".repeat(50_000)).await;
    for _ in 0..20 {
        peer.expect("500 5.5.2").await;
    }
    peer.expect("421 4.7.0").await;
    peer.expect_closed().await;
}

#[tokio::test]
async fn a_connection_beyond_the_limit_is_refused() {
    let receiver = TestReceiver::start(FaultyStore::open(), |settings| {
        settings.connections_max = 2;
        // No connection is evicted within the time of a test.
        settings.stress_timeout = Duration::from_mins(5);
    })
    .await;
    let mut first = SmtpPeer::greeted(receiver.address).await;
    let mut second = SmtpPeer::greeted(receiver.address).await;
    let mut third = SmtpPeer::connect(receiver.address).await;
    third.expect("421 4.3.2").await;
    third.expect_closed().await;
    receiver.until_counted("refused", "connections", 1).await;
    receiver.until_counted("replies", "4yz", 1).await;
    second.command("NOOP", "250").await;
    first.command("QUIT", "221").await;
    first.expect_closed().await;
    SmtpPeer::greeted_in_the_end(receiver.address).await;
}
