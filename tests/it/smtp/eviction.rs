//! Who goes when all places are taken, over real sockets.

use std::net::Ipv4Addr;
use std::time::Duration;

use tempmail::smtp::{Service, SmtpSettings};

use super::{TestReceiver, from};
use crate::support::certificates::kept;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;

const TO: &str = "bob@example.test";
const GREEDY: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 2);

/// One place, which whoever has been silent for a second may have to leave; nobody leaves it by itself so soon.
fn one_place(settings: &mut SmtpSettings) {
    settings.connections_max = 1;
    settings.bounds.stress_timeout = Duration::from_secs(10);
    settings.proxy_timeout = Duration::from_secs(10);
    settings.bounds.exempt = Vec::new();
    settings.bounds.connections_per_address_max = 1;
}

/// The client is silent until it may have to leave.
async fn for_a_second(silent: &mut SmtpPeer) {
    for _ in 0..8 {
        silent.expect_silence().await;
    }
}

#[tokio::test]
async fn under_stress_the_timeouts_shrink() {
    let receiver = TestReceiver::bounded(|settings| {
        settings.connections_max = 4;
        settings.bounds.stress_timeout = Duration::from_millis(200);
    })
    .await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    let mut others = Vec::new();
    for _ in 0..2 {
        others.push(SmtpPeer::greeted(receiver.address).await);
    }
    // With three of four places nobody is in a hurry.
    silent.expect_silence().await;
    silent.expect_silence().await;
    let _last = SmtpPeer::greeted(receiver.address).await;
    silent.expect("421 4.3.2 Too slow").await;
    receiver.until_counted("ended", "stressed", 1).await;
}

#[tokio::test]
async fn the_idlest_makes_room_for_who_knocks_and_a_message_under_way_does_not() {
    let receiver = TestReceiver::bounded(|settings| {
        settings.connections_max = 2;
        // A tenth of it is what nobody well-behaved is silent for.
        settings.bounds.stress_timeout = Duration::from_secs(4);
        settings.bounds.rate_min = 1;
    })
    .await;
    let mut sending = SmtpPeer::greeted(receiver.address).await;
    sending.begin_data(TO).await;
    sending.send("x".repeat(1000)).await;
    let mut idle = SmtpPeer::greeted(receiver.address).await;
    for _ in 0..3 {
        idle.expect_silence().await;
    }
    let mut newcomer = SmtpPeer::connect(receiver.address).await;
    idle.expect("421 4.3.2 All places").await;
    idle.expect_closed().await;
    newcomer.expect("220").await;
    newcomer.command("QUIT", "221").await;
    sending.send("\r\n").await;
    sending.command(".", "250 2.0.0").await;
    receiver.until_counted("ended", "madeRoom", 1).await;
}

#[tokio::test]
async fn who_talks_without_end_and_sends_nothing_makes_room() {
    let receiver = TestReceiver::bounded(|settings| {
        one_place(settings);
        settings.bounds.stress_timeout = Duration::from_secs(2);
    })
    .await;
    let mut talking = from(GREEDY, receiver.address).await;
    talking.expect("220").await;
    let talk = async {
        loop {
            // Well within what anybody may be silent for.
            tokio::time::sleep(Duration::from_millis(10)).await;
            drop(from(OTHER, receiver.address).await);
            let reply = talking.try_exchange("NOOP\r\n").await;
            if !reply.starts_with("250") {
                return reply;
            }
        }
    };
    let word = tokio::time::timeout(Duration::from_secs(20), talk).await.expect("an end");
    assert!(word.starts_with("421 4.3.2 All places"), "{word}");
    receiver.until_counted("ended", "madeRoom", 1).await;
}

#[tokio::test]
async fn who_is_silent_before_a_handshake_makes_room() {
    let (tls, connector, _dir) = kept();
    let receiver = TestReceiver::of(Service::Smtps, Some(tls), FaultyStore::open(), one_place).await;
    let mut silent = SmtpPeer::connect(receiver.address).await;
    for_a_second(&mut silent).await;
    let mut newcomer = from(OTHER, receiver.address).await.secure(&connector).await.expect("a handshake");
    newcomer.expect("220").await;
    silent.expect_closed().await;
    assert_eq!((receiver.count("refused", "connections"), receiver.count("tlsHandshakesFailed", None)), (1, 0));
}

#[tokio::test]
async fn who_is_silent_after_starttls_makes_room() {
    let (tls, _connector, _dir) = kept();
    let receiver = TestReceiver::of(Service::Smtp, Some(tls), FaultyStore::open(), one_place).await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    silent.command("EHLO client.test", "250").await;
    silent.command("STARTTLS", "220").await;
    for_a_second(&mut silent).await;
    from(OTHER, receiver.address).await.expect("220").await;
    silent.expect_closed().await;
    receiver.until_counted("ended", "madeRoom", 1).await;
}

#[tokio::test]
async fn a_proxy_that_tells_nothing_makes_room() {
    let receiver = TestReceiver::bounded(|settings| {
        one_place(settings);
        settings.proxy_from = vec!["127.0.0.0/24".parse().expect("a network")];
    })
    .await;
    let mut silent = SmtpPeer::connect(receiver.address).await;
    for_a_second(&mut silent).await;
    from(OTHER, receiver.address).await.expect("220").await;
    silent.expect_closed().await;
    assert_eq!((receiver.count("refused", "connections"), receiver.count("proxyHeadersRefused", None)), (1, 0));
}

/// The same handshake, for which nobody waits longer than for a command.
#[tokio::test]
async fn under_stress_a_handshake_has_less_time() {
    let (tls, _connector, _dir) = kept();
    let receiver = TestReceiver::of(Service::Smtp, Some(tls), FaultyStore::open(), |settings| {
        one_place(settings);
        settings.bounds.stress_timeout = Duration::from_millis(200);
    })
    .await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    silent.command("EHLO client.test", "250").await;
    silent.command("STARTTLS", "220").await;
    silent.expect_closed().await;
    receiver.until_counted("ended", "stressed", 1).await;
    assert_eq!((receiver.count("ended", "tlsFailed"), receiver.count("tlsHandshakesFailed", None)), (0, 1));
}

#[tokio::test]
async fn nobody_makes_room_for_a_client_that_is_refused() {
    let receiver = TestReceiver::bounded(|settings| {
        one_place(settings);
        settings.policy.refused_clients = vec!["127.0.1.2/32".parse().expect("a network")];
    })
    .await;
    let mut idle = from(GREEDY, receiver.address).await;
    idle.expect("220").await;
    for_a_second(&mut idle).await;
    let mut refused = from(OTHER, receiver.address).await;
    refused.expect("554 5.7.1").await;
    refused.expect_closed().await;
    idle.command("NOOP", "250").await;
    assert_eq!((receiver.count("replies", "5yz"), receiver.count("connections", None)), (1, 1));
}

#[tokio::test]
async fn who_waits_for_a_place_is_told_when_the_service_stops() {
    let receiver = TestReceiver::bounded(one_place).await;
    let mut idle = from(GREEDY, receiver.address).await;
    idle.expect("220").await;
    idle.begin_data(TO).await;
    for_a_second(&mut idle).await;
    let mut newcomer = from(OTHER, receiver.address).await;
    // It has been told to go, and its place is free once it has closed its side, or a second later.
    idle.expect("421 4.3.2 All places").await;
    assert_eq!((receiver.count("connections", None), receiver.count("waiting", None)), (1, 1));
    receiver.shutdown.cancel();
    newcomer.expect("421 4.3.2 The service is stopping").await;
    newcomer.expect_closed().await;
}

#[tokio::test]
async fn nobody_makes_room_for_who_has_too_many_connections() {
    let receiver = TestReceiver::bounded(one_place).await;
    let mut idle = from(GREEDY, receiver.address).await;
    idle.expect("220").await;
    for_a_second(&mut idle).await;
    from(GREEDY, receiver.address).await.expect("421 4.7.0").await;
    idle.command("NOOP", "250").await;
    for_a_second(&mut idle).await;
    from(OTHER, receiver.address).await.expect("220").await;
    idle.expect("421 4.3.2 All places").await;
}

#[tokio::test]
async fn behind_a_proxy_nobody_makes_room_before_the_client_is_known() {
    let receiver = TestReceiver::bounded(|settings| {
        one_place(settings);
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
    for_a_second(&mut idle).await;
    let mut silent = SmtpPeer::connect(receiver.address).await;
    silent.expect_silence().await;
    assert_eq!((receiver.count("connections", None), receiver.count("waiting", None)), (1, 1));
    connect("192.0.2.1").await.expect("421 4.7.0").await;
    idle.command("NOOP", "250").await;
    for_a_second(&mut idle).await;
    connect("192.0.2.2").await.expect("220").await;
    idle.expect("421 4.3.2 All places").await;
}
