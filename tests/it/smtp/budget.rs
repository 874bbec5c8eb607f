//! The memory for messages that are coming in, over real sockets.

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;

const KB: u64 = 1 << 10;
const TO: &str = "bob@example.test";

/// A receiver of messages of up to 100 KB with memory for 250 KB.
async fn receiver(store: FaultyStore) -> TestReceiver {
    TestReceiver::start(store, |settings| {
        settings.message_octets_max = 100 * KB;
        settings.bodies_octets_max = 250 * KB;
    })
    .await
}

/// A peer that has said everything up to RCPT; `parameters` are those of MAIL.
async fn ready(receiver: &TestReceiver, parameters: &str) -> SmtpPeer {
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "250").await;
    peer.command(&format!("MAIL FROM:<ann@sender.test>{parameters}"), "250 2.1.0").await;
    peer.command(&format!("RCPT TO:<{TO}>"), "250 2.1.5").await;
    peer
}

fn lines(octets: u64) -> String {
    format!("{}\r\n", "x".repeat(62)).repeat(usize::try_from(octets / 64).expect("a test's size"))
}

#[tokio::test]
async fn a_message_without_its_memory_is_refused_before_it_is_sent_and_taken_later() {
    let receiver = receiver(FaultyStore::open()).await;
    let mut first = ready(&receiver, "").await;
    let mut second = ready(&receiver, " SIZE=102400").await;
    let mut third = ready(&receiver, "").await;
    let mut small = ready(&receiver, " SIZE=51200").await;
    first.command("DATA", "354").await;
    second.command("DATA", "354").await;
    third.command("DATA", "452 4.3.1").await;
    small.command("DATA", "354").await;
    small.command(".", "250 2.0.0").await;
    // The transaction is still there; nothing was lost by asking.
    third.command("DATA", "452 4.3.1").await;
    first.send(lines(100 * KB)).await;
    first.command(".", "250 2.0.0").await;
    third.command("DATA", "354").await;
    third.command(".", "250 2.0.0").await;
    second.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.kept().len(), 4);
}

#[tokio::test]
async fn a_message_at_the_store_has_its_memory_until_it_is_answered() {
    let receiver = receiver(FaultyStore::gated()).await;
    let mut peers = Vec::new();
    for _ in 0..2 {
        let mut peer = ready(&receiver, "").await;
        peer.command("DATA", "354").await;
        peer.send(lines(100 * KB) + ".\r\n").await;
        peers.push(peer);
    }
    receiver.store.wait_for_arrivals(2).await;
    let mut other = ready(&receiver, "").await;
    other.command("DATA", "452 4.3.1").await;
    receiver.store.let_through(1_000);
    for peer in &mut peers {
        peer.expect("250 2.0.0").await;
    }
    other.command("DATA", "354").await;
    other.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.kept().len(), 3);
}

#[tokio::test]
async fn a_size_that_lies_takes_no_more_than_is_left() {
    let receiver = receiver(FaultyStore::open()).await;
    // While there is room, the message is taken for what it is.
    let mut liar = ready(&receiver, " SIZE=1").await;
    liar.command("DATA", "354").await;
    liar.send(lines(90 * KB)).await;
    liar.command(".", "250 2.0.0").await;
    // Where there is none, it is refused at its end, and the session goes on in step.
    let mut first = ready(&receiver, "").await;
    let mut second = ready(&receiver, "").await;
    first.command("DATA", "354").await;
    second.command("DATA", "354").await;
    let mut liar = ready(&receiver, " SIZE=1").await;
    liar.command("DATA", "354").await;
    liar.send(lines(90 * KB)).await;
    liar.command(".", "452 4.3.1").await;
    // Its memory came back when it was refused.
    let mut small = ready(&receiver, " SIZE=51200").await;
    small.command("DATA", "354").await;
    small.command(".", "250 2.0.0").await;
    liar.command("NOOP", "250 2.0.0").await;
    first.command(".", "250 2.0.0").await;
    second.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.kept().len(), 4);
}

#[tokio::test]
async fn a_client_that_vanishes_gives_its_memory_back() {
    let receiver = receiver(FaultyStore::open()).await;
    for _ in 0..10 {
        let mut peer = ready(&receiver, "").await;
        // A session that has not noticed yet may hold its memory for a moment.
        while !peer.try_exchange("DATA\r\n").await.starts_with("354") {}
        peer.send(lines(50 * KB)).await;
    }
    assert_eq!(receiver.stop().await.kept(), []);
}
