//! A daemon ends when the writer of its store has ended, because it could store no more mail.
//! Promise: it outlives the code below it.

use tempmail::error::Exit;

use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_daemon_whose_writer_has_ended_stops_with_an_error() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.deliver("hello@example.test", "Subject: kept\r\n\r\n").await;
    let _failing = disk.fail(|call| {
        assert!(!call.is(Kind::Write, "journal-"), "injected");
        None
    });
    peer.begin_data("hello@example.test").await;
    peer.send("Subject: lost\r\n\r\n.\r\n").await;
    peer.expect_closed().await;
    assert_eq!(server.failed().await.exit(), Exit::Failure);
}
