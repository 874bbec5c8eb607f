//! The memory for incoming messages, over real sockets.
//! Promise: it outlives the code below it.

use std::net::Ipv4Addr;

use super::{REFUSED, TO, bounded, count, from, messages, until_counted};
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
async fn a_message_without_memory_is_refused_at_data_and_accepted_later() {
    let settings = "smtp-body-budget = '1MB'\nmax-message-size = '400KB'\nsegment-size = '1MB'";
    let server = TestServer::with(settings).await;
    let ready = async |parameters: &str| ready(Ipv4Addr::LOCALHOST, &server, parameters).await;
    let mut first = ready("").await;
    let mut second = ready(" SIZE=409600").await;
    let mut third = ready("").await;
    let mut small = ready(" SIZE=204800").await;
    first.command("DATA", "354").await;
    second.command("DATA", "354").await;
    third.command("DATA", "452 4.3.1").await;
    until_counted(&server, REFUSED, "memory", 1).await;
    small.dialog(&[("DATA", "354"), (".", "250 2.0.0")]).await;
    // The refusal does not end the transaction.
    third.command("DATA", "452 4.3.1").await;
    first.send(format!("{}\r\n", "x".repeat(62)).repeat(6400)).await;
    first.command(".", "250 2.0.0").await;
    third.dialog(&[("DATA", "354"), (".", "250 2.0.0")]).await;
    second.command(".", "250 2.0.0").await;
    assert_eq!(messages(&server).await, 4);
}

#[tokio::test]
async fn a_client_has_a_part_of_the_memory() {
    // A quarter of it is 256 KB.
    let server = bounded("smtp-body-budget = '1MB'\nmax-message-size = '100KB'\nsegment-size = '1MB'").await;
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
        let mut peer = ready(client, &server, "").await;
        peer.command(command, reply).await;
        peers.push(peer);
    }
    // A client that announces a small size has room.
    ready(greedy, &server, " SIZE=20480").await.command("DATA", "354").await;
    until_counted(&server, REFUSED, "memoryPerClient", 2).await;
    assert_eq!(count(&server, REFUSED, "memory").await, 0);
    // Memory that one message releases is free for another.
    peers[0].command(".", "250 2.0.0").await;
    peers[2].command("DATA", "354").await;
}
