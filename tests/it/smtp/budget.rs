//! The memory for incoming messages, over real sockets.
//! Promise: it outlives the code below it.

use std::net::Ipv4Addr;

use super::{REFUSED, TO, bounded, count, from, messages, settled, until_counted};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

/// A peer that has sent all commands up to RCPT; `parameters` are those of MAIL.
async fn ready(client: Ipv4Addr, server: &TestServer, parameters: &str) -> SmtpPeer {
    let mut peer = from(client, server.smtp()).await;
    peer.expect("220").await;
    let mail = format!("MAIL FROM:<ann@sender.test>{parameters}");
    peer.dialog(&[("EHLO client.test", "250"), (&mail, "250 2.1.0"), (&format!("RCPT TO:<{TO}>"), "250 2.1.5")]).await;
    peer
}

/// Two messages of the largest size leave room for half of one.
#[tokio::test]
async fn a_message_without_memory_is_refused_at_its_end_and_accepted_later() {
    let settings = "smtp-body-budget = '1MB'\nmax-message-size = '400KB'\nsegment-size = '1MB'";
    let server = TestServer::with(settings).await;
    let text = format!("{}\r\n", "x".repeat(62)).repeat(6300);
    let mut peers = Vec::new();
    for _ in 0..2 {
        let mut peer = ready(Ipv4Addr::LOCALHOST, &server, "").await;
        peer.command("DATA", "354").await;
        peer.send(&text).await;
        peers.push(peer);
    }
    settled().await;
    let mut third = ready(Ipv4Addr::LOCALHOST, &server, "").await;
    third.command("DATA", "354").await;
    third.send(&text).await;
    third.command(".", "452 4.3.1 Too many messages arrive at once").await;
    until_counted(&server, REFUSED, "memory", 1).await;
    let mut small = ready(Ipv4Addr::LOCALHOST, &server, "").await;
    small.dialog(&[("DATA", "354"), ("hi\r\n.", "250 2.0.0")]).await;
    for peer in &mut peers {
        peer.command(".", "250 2.0.0").await;
    }
    third.deliver(TO, &text).await;
    assert_eq!(messages(&server).await, 4);
}

/// Clients that have announced a message and send nothing hold no memory.
#[tokio::test]
async fn silent_connections_that_have_said_data_keep_nobody_out() {
    let server = bounded("smtp-body-budget = '1MB'\nmax-message-size = '400KB'\nsegment-size = '1MB'").await;
    let mut silent = Vec::new();
    for network in 1..=50 {
        for host in 1..=10 {
            let mut peer = ready(Ipv4Addr::new(127, 1, network, host), &server, "").await;
            peer.command("DATA", "354").await;
            silent.push(peer);
        }
    }
    let mut peer = from(Ipv4Addr::new(127, 2, 0, 1), server.smtp()).await;
    peer.expect("220").await;
    peer.deliver(TO, &format!("{}\r\n", "x".repeat(62)).repeat(6300)).await;
    assert_eq!(count(&server, REFUSED, "memory").await, 0);
}

#[tokio::test]
async fn a_client_has_a_part_of_the_memory() {
    // A quarter of it is 256 KB.
    let server = bounded("smtp-body-budget = '1MB'\nmax-message-size = '200KB'\nsegment-size = '1MB'").await;
    let [greedy, neighbour, other] =
        [(1, 1), (1, 2), (2, 1)].map(|(network, host)| Ipv4Addr::new(127, 0, network, host));
    let text = format!("{}\r\n", "x".repeat(62)).repeat(3000);
    let begun = async |client| {
        let mut peer = ready(client, &server, "").await;
        peer.command("DATA", "354").await;
        peer.send(&text).await;
        settled().await;
        peer
    };
    let mut first = begun(greedy).await;
    begun(greedy).await.command(".", "452 4.3.1 Too many messages from your address or network").await;
    begun(neighbour).await.command(".", "452 4.3.1 Too many messages from your address or network").await;
    begun(other).await.command(".", "250 2.0.0").await;
    until_counted(&server, REFUSED, "memoryPerClient", 2).await;
    assert_eq!(count(&server, REFUSED, "memory").await, 0);
    // Memory that one message releases is free for another.
    first.command(".", "250 2.0.0").await;
    begun(greedy).await.command(".", "250 2.0.0").await;
}
