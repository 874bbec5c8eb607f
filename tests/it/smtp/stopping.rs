//! The last replies of sessions when the service stops.

use std::time::Duration;

use tokio::net::TcpStream;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

#[tokio::test]
async fn idle_clients_and_clients_within_data_get_421_at_once() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut idle = SmtpPeer::greeted(receiver.address).await;
    let mut in_data = SmtpPeer::greeted(receiver.address).await;
    in_data.begin_data("bob@example.test").await;
    in_data.send("half a message").await;
    receiver.shutdown.cancel();
    idle.expect("421 4.3.2").await;
    idle.expect_closed().await;
    in_data.expect("421 4.3.2").await;
    in_data.expect_closed().await;
    drop((idle, in_data));
    let address = receiver.address;
    assert_eq!(receiver.stop().await.stored(), []);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_message_at_the_store_gets_its_answer_first() {
    let receiver = TestReceiver::start(FaultyStore::gated(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    // A command behind the message comes too late.
    peer.send("hi\r\n.\r\nNOOP\r\n").await;
    receiver.store.wait_for_arrivals(1).await;
    receiver.shutdown.cancel();
    // The stop has begun when the listener is closed; no reply may come before that of the store.
    until("the listener is closed", async || TcpStream::connect(receiver.address).await.is_err()).await;
    receiver.store.let_through(1);
    peer.expect("250 2.0.0 Stored").await;
    peer.expect("421 4.3.2").await;
    peer.expect_closed().await;
    drop(peer);
    assert_eq!(receiver.stop().await.stored().len(), 1);
}

#[tokio::test]
async fn a_store_that_does_not_answer_does_not_delay_the_stop() {
    let receiver =
        TestReceiver::start(FaultyStore::gated(), |settings| settings.drain_timeout = Duration::from_millis(50)).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.send(".\r\n").await;
    receiver.store.wait_for_arrivals(1).await;
    receiver.shutdown.cancel();
    peer.expect_closed().await;
    receiver.until_counted("ended", "cutOff", 1).await;
    let store = receiver.stop().await;
    assert_eq!(store.stored(), []);
}
