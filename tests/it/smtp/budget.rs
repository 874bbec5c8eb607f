//! The memory for incoming messages, over real sockets.

use std::net::Ipv4Addr;
use std::time::Duration;

use tempmail::smtp::Service;

use super::{TestReceiver, from, until_checked};
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const KB: u64 = 1 << 10;
const TO: &str = "bob@example.test";

/// A receiver for messages of up to 100 KB, with memory for 250 KB.
async fn receiver(store: FaultyStore) -> TestReceiver {
    TestReceiver::start(store, |settings| {
        settings.message_octets_max = 100 * KB;
        settings.bodies_octets_max = 250 * KB;
    })
    .await
}

/// A peer that has sent all commands up to RCPT; `parameters` are those of MAIL.
async fn ready(receiver: &TestReceiver, parameters: &str) -> SmtpPeer {
    ready_from(Ipv4Addr::LOCALHOST, receiver, parameters).await
}

/// Like [`ready`], from any address of loopback.
async fn ready_from(client: Ipv4Addr, receiver: &TestReceiver, parameters: &str) -> SmtpPeer {
    let mut peer = from(client, receiver.address).await;
    peer.expect("220").await;
    peer.command("EHLO client.test", "250").await;
    peer.command(&format!("MAIL FROM:<ann@sender.test>{parameters}"), "250 2.1.0").await;
    peer.command(&format!("RCPT TO:<{TO}>"), "250 2.1.5").await;
    peer
}

fn lines(octets: u64) -> String {
    format!("{}\r\n", "x".repeat(62)).repeat(usize::try_from(octets / 64).expect("a test's size"))
}

#[tokio::test]
async fn a_message_without_memory_is_refused_at_data_and_accepted_later() {
    let receiver = receiver(FaultyStore::open()).await;
    let mut first = ready(&receiver, "").await;
    let mut second = ready(&receiver, " SIZE=102400").await;
    let mut third = ready(&receiver, "").await;
    let mut small = ready(&receiver, " SIZE=51200").await;
    first.command("DATA", "354").await;
    second.command("DATA", "354").await;
    third.command("DATA", "452 4.3.1").await;
    receiver.until_counted("refused", "memory", 1).await;
    small.command("DATA", "354").await;
    small.command(".", "250 2.0.0").await;
    // The refusal does not end the transaction.
    third.command("DATA", "452 4.3.1").await;
    first.send(lines(100 * KB)).await;
    first.command(".", "250 2.0.0").await;
    third.command("DATA", "354").await;
    third.command(".", "250 2.0.0").await;
    second.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.stored().len(), 4);
}

#[tokio::test]
async fn a_message_reserves_its_memory_until_the_store_has_answered() {
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
    assert_eq!(receiver.stop().await.stored().len(), 3);
}

#[tokio::test]
async fn a_message_larger_than_its_size_gets_only_the_memory_that_is_left() {
    let receiver = receiver(FaultyStore::open()).await;
    // While there is room, the message is accepted.
    let mut liar = ready(&receiver, " SIZE=1").await;
    liar.command("DATA", "354").await;
    liar.send(lines(90 * KB)).await;
    liar.command(".", "250 2.0.0").await;
    // Without room it is refused at its end, and the session goes on.
    let mut first = ready(&receiver, "").await;
    let mut second = ready(&receiver, "").await;
    first.command("DATA", "354").await;
    second.command("DATA", "354").await;
    let mut liar = ready(&receiver, " SIZE=1").await;
    liar.command("DATA", "354").await;
    liar.send(lines(90 * KB)).await;
    liar.command(".", "452 4.3.1").await;
    // The refusal has released its memory.
    let mut small = ready(&receiver, " SIZE=51200").await;
    small.command("DATA", "354").await;
    small.command(".", "250 2.0.0").await;
    liar.command("NOOP", "250 2.0.0").await;
    first.command(".", "250 2.0.0").await;
    second.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.stored().len(), 4);
}

#[tokio::test]
async fn a_client_that_disconnects_releases_its_memory() {
    let receiver = receiver(FaultyStore::open()).await;
    for _ in 0..10 {
        let mut peer = ready(&receiver, "").await;
        // The session before may hold its memory for a moment.
        until("memory is free", async || peer.try_exchange("DATA\r\n").await.starts_with("354")).await;
        peer.send(lines(50 * KB)).await;
    }
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn a_client_has_a_part_of_the_memory() {
    let receiver = TestReceiver::bounded(|settings| {
        settings.message_octets_max = 100 * KB;
        settings.bodies_octets_max = 1000 * KB;
        settings.bodies_octets_per_client_max = 250 * KB;
    })
    .await;
    let [greedy, neighbour] = [1, 2].map(|host| Ipv4Addr::new(127, 0, 1, host));
    let mut peers = Vec::new();
    // No client announces a size or sends anything.
    for (client, command, reply) in [
        (greedy, "DATA", "354"),
        (greedy, "BDAT 1\r\n", "250"),
        (greedy, "DATA", "452 4.3.1 Too many messages from your address"),
        (greedy, "BDAT 1\r\n", "452 4.3.1 Too many messages from your address"),
        (neighbour, "DATA", "354"),
        (neighbour, "DATA", "354"),
    ] {
        let mut peer = ready_from(client, &receiver, "").await;
        peer.command(command, reply).await;
        peers.push(peer);
    }
    // A client that announces a small size has room.
    ready_from(greedy, &receiver, " SIZE=20480").await.command("DATA", "354").await;
    receiver.until_counted("refused", "memoryPerClient", 2).await;
    assert_eq!(receiver.count("refused", "memory"), 0);
    // Memory that one message releases is free for another.
    peers[0].command(".", "250 2.0.0").await;
    peers[2].command("DATA", "354").await;
}

#[tokio::test]
async fn while_memory_is_scarce_a_client_that_reserves_it_without_need_is_ended_soon_and_no_other() {
    let (receiver, clock) = TestReceiver::with_clock(Service::Smtp, None, |settings| {
        settings.message_octets_max = 100 * KB;
        settings.bodies_octets_max = 400 * KB;
        settings.bodies_octets_per_client_max = 400 * KB;
    })
    .await;
    let mut idle = ready(&receiver, "").await;
    let mut silent = ready(&receiver, "").await;
    silent.command("DATA", "354").await;
    clock.advance(Duration::from_secs(1));
    let mut others = Vec::new();
    for _ in 0..2 {
        let mut other = ready(&receiver, "").await;
        other.command("DATA", "354").await;
        others.push(other);
    }
    // With three quarters reserved, memory is not scarce.
    until_checked(&clock).await;
    assert_eq!(receiver.count("ended", "stressed"), 0);
    let mut chunked = ready(&receiver, "").await;
    chunked.send("BDAT 5\r\nhello").await;
    chunked.expect("250").await;
    silent.expect("421 4.3.2 Too slow").await;
    silent.expect_closed().await;
    idle.command("DATA", "354").await;
}
