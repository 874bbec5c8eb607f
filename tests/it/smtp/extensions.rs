//! CHUNKING and LMTP over real sockets, with peers of our own.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;

use super::{TO, inbox, messages};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;
use crate::support::until::until;

const BEGIN: &str = "MAIL FROM:<ann@sender.test>\r\nRCPT TO:<bob@example.test>\r\n";

#[tokio::test]
async fn pipelined_chunks_are_answered_one_by_one() {
    let server = TestServer::with("max-message-size = 100000\nsegment-size = '1MB'").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let large = "x".repeat(60_000);
    let first = format!("{BEGIN}BDAT 4\r\n.\r\n.BDAT 60000\r\n{large}BDAT 0 LAST\r\n");
    let too_large = format!("{BEGIN}BDAT 60000\r\n{large}BDAT 60000\r\n{large}BDAT 6 LAST\r\nQUIT\r\n");
    peer.send(format!("EHLO client.test\r\n{first}{too_large}NOOP\r\n")).await;
    let chunk = "250 2.0.0 Chunk";
    peer.expect_all(&["250-", "250 2.1.0", "250 2.1.5", chunk, chunk, "250 2.0.0 Stored"]).await;
    peer.expect_all(&["250 2.1.0", "250 2.1.5", chunk, "552 5.3.4", "552 5.3.4", "250 2.0.0 OK"]).await;
    peer.command("QUIT", "221").await;
    let mails = inbox(&server, TO).await;
    assert_eq!((mails.len(), &mails[0].raw), (1, &format!(r".\r\n.{large}")));
}

#[tokio::test]
async fn the_last_chunk_is_answered_by_the_store() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let held = disk.hold(|call| call.is(Kind::Sync, "journal-"));
    peer.send(format!("EHLO client.test\r\n{BEGIN}BDAT 2 LAST\r\nhi")).await;
    peer.expect_all(&["250-", "250 2.1.0", "250 2.1.5"]).await;
    until("the message is being stored", async || held.waiting() > 0).await;
    peer.expect_silence().await;
    drop(held);
    peer.expect("250 2.0.0 Stored").await;
}

#[tokio::test]
async fn lmtp_answers_for_each_recipient() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "lmtp-listen = '127.0.0.1:0'").await;
    let mut peer = SmtpPeer::greeted(server.lmtp()).await;
    peer.dialog(&[("EHLO client.test", "500"), ("LHLO client.test", "250")]).await;
    let begin = [
        ("MAIL FROM:<>", "250 2.1.0"),
        ("RCPT TO:<bob@example.test>", "250 2.1.5"),
        ("RCPT TO:<b@other.test>", "550 5.1.2"),
        ("RCPT TO:<c@example.test>", "250 2.1.5"),
        ("DATA", "354"),
    ];
    peer.dialog(&begin).await;
    peer.send("hi\r\n.\r\n").await;
    peer.expect_all(&["250 2.0.0 Stored"; 2]).await;
    peer.dialog(&begin).await;
    let _failing = disk.fail(|call| call.is(Kind::Write, "journal-0000000000000001").then_some(ErrorKind::StorageFull));
    peer.send("hi\r\n.\r\n").await;
    peer.expect_all(&["452 4.3.1"; 2]).await;
    peer.command("NOOP", "250 2.0.0 OK").await;
    assert_eq!((messages(&server).await, server.stats().await.emails), (1, 2));
    assert_eq!(inbox(&server, TO).await[0].json["envelope"]["protocol"], "LMTP");
}
