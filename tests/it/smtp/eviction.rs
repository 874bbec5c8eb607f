//! Which connection is evicted when all are taken, and the shorter timeouts before that, over real sockets.
//!
//! The clock of the receiver stands still unless a test moves it, so no client is idle by accident.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tempmail::smtp::{Service, SmtpSettings};
use tempmail::tls::Keeper;

use super::{TestReceiver, from, until_checked};
use crate::support::clock::SetClock;
use crate::support::keeper::keeper;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const TO: &str = "bob@example.test";
const GREEDY: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 2);
/// After so long a silent client may be evicted.
const IDLE: Duration = Duration::from_secs(1);

/// A receiver with one connection, and its clock.
async fn one_connection(
    service: Service,
    tls: Option<Arc<Keeper>>,
    change: impl FnOnce(&mut SmtpSettings),
) -> (TestReceiver, Arc<SetClock>) {
    let change = |settings: &mut SmtpSettings| {
        settings.connections_max = 1;
        settings.connections_per_client_max = 1;
        settings.stress_timeout = IDLE * 10;
        change(settings);
    };
    TestReceiver::with_clock(service, tls, change).await
}

#[tokio::test]
async fn under_stress_the_timeouts_shrink() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |settings| {
        settings.connections_max = 4;
        settings.connections_per_client_max = 4;
        // In real time, a session checks its deadline so often.
        settings.stress_timeout = Duration::from_millis(50);
    })
    .await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    let mut others = Vec::new();
    for _ in 0..2 {
        others.push(SmtpPeer::greeted(receiver.address).await);
    }
    // With three of four connections taken there is no stress.
    clock.advance(IDLE);
    until_checked(&clock).await;
    assert_eq!(receiver.count("ended", "stressed"), 0);
    for peer in &mut others {
        peer.command("NOOP", "250").await;
    }
    let _last = SmtpPeer::greeted(receiver.address).await;
    silent.expect("421 4.3.2 Too slow").await;
    receiver.until_counted("ended", "stressed", 1).await;
}

#[tokio::test]
async fn the_idlest_client_is_evicted_and_no_client_whose_message_keeps_the_rate() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |settings| {
        settings.connections_max = 2;
        settings.connections_per_client_max = 3;
        settings.octets_per_second_min = 1;
    })
    .await;
    let mut sending = SmtpPeer::greeted(receiver.address).await;
    sending.begin_data(TO).await;
    let looks = clock.looks();
    sending.send("x".repeat(1000)).await;
    until("the octets are read", async || clock.looks() > looks).await;
    let mut idle = SmtpPeer::greeted(receiver.address).await;
    clock.advance(IDLE);
    let mut newcomer = SmtpPeer::connect(receiver.address).await;
    idle.expect("421 4.3.2 All connections").await;
    idle.expect_closed().await;
    newcomer.expect("220").await;
    newcomer.command("QUIT", "221").await;
    sending.send("\r\n").await;
    sending.command(".", "250 2.0.0").await;
    receiver.until_counted("ended", "evicted", 1).await;
}

#[tokio::test]
async fn a_client_that_only_talks_is_evicted() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |_| ()).await;
    let mut talking = from(GREEDY, receiver.address).await;
    talking.expect("220").await;
    for _ in 0..10 {
        clock.advance(IDLE);
        talking.command("NOOP", "250").await;
        from(OTHER, receiver.address).await.expect("421 4.3.2 Too many").await;
    }
    clock.advance(IDLE);
    talking.command("NOOP", "250").await;
    from(OTHER, receiver.address).await.expect("220").await;
    talking.expect("421 4.3.2 All connections").await;
    receiver.until_counted("ended", "evicted", 1).await;
}

#[tokio::test]
async fn a_client_that_is_silent_before_a_handshake_is_evicted() {
    let (tls, connector, _dir) = keeper();
    let (receiver, clock) = one_connection(Service::Smtps, Some(tls), |_| ()).await;
    let mut silent = SmtpPeer::connect(receiver.address).await;
    receiver.until_counted("connections", None, 1).await;
    clock.advance(IDLE);
    let mut newcomer = from(OTHER, receiver.address).await.secure(&connector).await.expect("a handshake");
    newcomer.expect("220").await;
    silent.expect_closed().await;
    assert_eq!((receiver.count("refused", "connections"), receiver.count("tlsHandshakesFailed", None)), (1, 0));
}

#[tokio::test]
async fn a_client_that_is_silent_after_starttls_is_evicted() {
    let (tls, _connector, _dir) = keeper();
    let (receiver, clock) = one_connection(Service::Smtp, Some(tls), |_| ()).await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    silent.command("EHLO client.test", "250").await;
    silent.command("STARTTLS", "220").await;
    clock.advance(IDLE);
    from(OTHER, receiver.address).await.expect("220").await;
    silent.expect_closed().await;
    receiver.until_counted("ended", "evicted", 1).await;
}

#[tokio::test]
async fn a_proxy_that_sends_no_header_is_evicted() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |settings| {
        settings.proxy_from = vec!["127.0.0.0/24".parse().expect("a network")];
    })
    .await;
    let mut silent = SmtpPeer::connect(receiver.address).await;
    receiver.until_counted("connections", None, 1).await;
    clock.advance(IDLE);
    from(OTHER, receiver.address).await.expect("220").await;
    silent.expect_closed().await;
    assert_eq!((receiver.count("refused", "connections"), receiver.count("proxyHeadersRefused", None)), (1, 0));
}

#[tokio::test]
async fn under_stress_a_handshake_has_less_time() {
    let (tls, _connector, _dir) = keeper();
    let (receiver, clock) = one_connection(Service::Smtp, Some(tls), |settings| {
        settings.stress_timeout = Duration::from_millis(50);
    })
    .await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    silent.command("EHLO client.test", "250").await;
    silent.command("STARTTLS", "220").await;
    clock.advance(IDLE);
    silent.expect_closed().await;
    receiver.until_counted("ended", "stressed", 1).await;
    assert_eq!((receiver.count("ended", "tlsFailed"), receiver.count("tlsHandshakesFailed", None)), (0, 1));
}

#[tokio::test]
async fn no_connection_is_evicted_for_a_client_that_the_administrator_refuses() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |settings| {
        settings.policy.refused_clients = vec!["127.0.1.2/32".parse().expect("a network")];
    })
    .await;
    let mut idle = from(GREEDY, receiver.address).await;
    idle.expect("220").await;
    clock.advance(IDLE);
    let mut refused = from(OTHER, receiver.address).await;
    refused.expect("554 5.7.1").await;
    refused.expect_closed().await;
    idle.command("NOOP", "250").await;
    assert_eq!((receiver.count("replies", "5yz"), receiver.count("connections", None)), (1, 1));
}

#[tokio::test]
async fn a_client_that_waits_for_a_slot_gets_421_when_the_service_stops() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |_| ()).await;
    let mut idle = from(GREEDY, receiver.address).await;
    idle.expect("220").await;
    idle.begin_data(TO).await;
    clock.advance(IDLE);
    let mut newcomer = from(OTHER, receiver.address).await;
    // The slot of the evicted connection is free after its client has closed the connection, or a second later.
    idle.expect("421 4.3.2 All connections").await;
    assert_eq!((receiver.count("connections", None), receiver.count("waiting", None)), (1, 1));
    receiver.shutdown.cancel();
    newcomer.expect("421 4.3.2 The service is stopping").await;
    newcomer.expect_closed().await;
}

#[tokio::test]
async fn no_connection_is_evicted_for_a_client_with_too_many_connections() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |_| ()).await;
    let mut idle = from(GREEDY, receiver.address).await;
    idle.expect("220").await;
    clock.advance(IDLE);
    from(GREEDY, receiver.address).await.expect("421 4.7.0").await;
    idle.command("NOOP", "250").await;
    clock.advance(IDLE);
    from(OTHER, receiver.address).await.expect("220").await;
    idle.expect("421 4.3.2 All connections").await;
}

#[tokio::test]
async fn behind_a_proxy_no_connection_is_evicted_before_the_client_is_known() {
    let (receiver, clock) = one_connection(Service::Smtp, None, |settings| {
        settings.proxy_from = vec!["127.0.0.0/8".parse().expect("a network")];
    })
    .await;
    let connect = |client| async move {
        let mut peer = SmtpPeer::connect(receiver.address).await;
        peer.send(format!("PROXY TCP4 {client} 198.51.100.1 5000 25\r\n")).await;
        peer
    };
    let mut idle = connect("192.0.2.1").await;
    idle.expect("220").await;
    connect("192.0.2.2").await.expect("421 4.3.2 Too many").await;
    clock.advance(IDLE);
    let _silent = SmtpPeer::connect(receiver.address).await;
    receiver.until_counted("waiting", None, 1).await;
    connect("192.0.2.1").await.expect("421 4.7.0").await;
    idle.command("NOOP", "250").await;
    clock.advance(IDLE);
    connect("192.0.2.2").await.expect("220").await;
    idle.expect("421 4.3.2 All connections").await;
}
