//! The last replies of sessions when the service stops.
//! Promise: it outlives the code below it.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{TO, inbox, messages};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;
use crate::support::until::until;

#[tokio::test]
async fn idle_clients_and_clients_within_data_get_421_at_once() {
    let server = TestServer::start().await;
    let (address, clock) = (server.smtp(), Arc::clone(&server.clock));
    let mut idle = SmtpPeer::greeted(address).await;
    let mut in_data = SmtpPeer::greeted(address).await;
    in_data.begin_data(TO).await;
    in_data.send("half a message").await;
    let stopping = tokio::spawn(server.stop());
    for peer in [&mut idle, &mut in_data] {
        peer.expect("421 4.3.2").await;
        peer.expect_closed().await;
    }
    drop((idle, in_data));
    let dir = stopping.await.expect("a stop");
    // A child that another test starts at this moment may still have the listener.
    until("nobody listens", async || TcpStream::connect(address).await.is_err()).await;
    assert_eq!(messages(&TestServer::again(dir, clock, "").await).await, 0);
}

#[tokio::test]
async fn a_message_at_the_store_gets_its_answer_first() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    let address = server.smtp();
    let mut peer = SmtpPeer::greeted(address).await;
    peer.begin_data(TO).await;
    let held = disk.hold(|call| call.is(Kind::Sync, "journal-"));
    // A command behind the message comes too late.
    peer.send("hi\r\n.\r\nNOOP\r\n").await;
    until("the message is being stored", async || held.waiting() > 0).await;
    let stopping = tokio::spawn(server.stop());
    // The stop has begun when the listener is closed; no reply may come before that of the store.
    until("the listener is closed", async || TcpStream::connect(address).await.is_err()).await;
    drop(held);
    peer.expect_all(&["250 2.0.0 Stored", "421 4.3.2"]).await;
    peer.expect_closed().await;
    drop(peer);
    stopping.await.expect("a stop");
    let server = TestServer::on(disk, "").await;
    assert_eq!(inbox(&server, TO).await.len(), 1);
}

#[tokio::test]
async fn a_store_that_does_not_answer_keeps_no_session_open() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "drain-timeout = '50ms'").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    let held = disk.hold(|call| call.is(Kind::Sync, "journal-"));
    peer.send(".\r\n").await;
    until("the message is being stored", async || held.waiting() > 0).await;
    let stopping = tokio::spawn(server.stop());
    peer.expect_closed().await;
    drop(held);
    stopping.await.expect("a stop");
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_delay_a_stop() {
    let server = TestServer::with("drain-timeout = '5m'").await;
    let mut stream = TcpStream::connect(server.smtp()).await.expect("connect");
    // More replies than any buffer takes.
    let flood = b"HELP\r\n".repeat(100_000);
    let written = tokio::time::timeout(std::time::Duration::from_secs(1), async {
        while stream.write_all(&flood).await.is_ok() {}
    });
    assert!(written.await.is_err(), "the service reads on and on");
    server.stop().await;
}
