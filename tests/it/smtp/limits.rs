//! The limits and timeouts of one client, over real sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::smtp::{Listener, Service, SmtpSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use super::{TestReceiver, from, until_checked};
use crate::support::clock::SetClock;
use crate::support::faulty_store::FaultyStore;
use crate::support::keeper::keeper;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const TO: &str = "bob@example.test";
const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_51st_connection_of_a_client_is_refused_and_another_client_is_served() {
    let receiver = TestReceiver::bounded(|_| ()).await;
    let greedy = Ipv4Addr::new(127, 0, 1, 1);
    let mut peers = Vec::new();
    for _ in 0..50 {
        let mut peer = from(greedy, receiver.address).await;
        peer.expect("220").await;
        peers.push(peer);
    }
    let mut peer = from(greedy, receiver.address).await;
    peer.expect("421 4.7.0 Too many connections from your address").await;
    peer.expect_closed().await;
    receiver.until_counted("refused", "connectionsPerClient", 1).await;
    let mut other = from(Ipv4Addr::new(127, 0, 1, 2), receiver.address).await;
    other.expect("220").await;
    other.deliver(TO, "hi\r\n").await;
    peers.pop().expect("a peer").command("QUIT", "221").await;
    // The connection stops counting a moment after its last reply.
    let connects = async || from(greedy, receiver.address).await.reply().await.starts_with("220");
    until("the client may connect again", connects).await;
}

#[tokio::test]
async fn a_minute_has_so_many_new_connections_of_a_client() {
    let receiver = TestReceiver::bounded(|settings| settings.connections_per_minute_max = 3).await;
    for _ in 0..3 {
        from(Ipv4Addr::new(127, 0, 1, 1), receiver.address).await.expect("220").await;
    }
    from(Ipv4Addr::new(127, 0, 1, 1), receiver.address).await.expect("421 4.7.0 Too many new connections").await;
    from(Ipv4Addr::new(127, 0, 1, 2), receiver.address).await.expect("220").await;
    receiver.until_counted("refused", "connectionsPerMinute", 1).await;
}

#[tokio::test]
async fn behind_a_proxy_the_limits_apply_to_the_named_client() {
    let receiver = TestReceiver::bounded(|settings| {
        settings.proxy_from = vec!["127.0.0.0/8".parse().expect("a network")];
        settings.connections_per_client_max = 1;
    })
    .await;
    let mut peers = Vec::new();
    for (client, start) in [("192.0.2.1", "220"), ("192.0.2.1", "421 4.7.0"), ("192.0.2.2", "220")] {
        let mut peer = SmtpPeer::connect(receiver.address).await;
        peer.send(format!("PROXY TCP4 {client} 198.51.100.1 5000 25\r\n")).await;
        peer.expect(start).await;
        peers.push(peer);
    }
}

#[tokio::test]
async fn before_a_handshake_no_reply_is_sent() {
    let (tls, connector, _dir) = keeper();
    let change = |settings: &mut SmtpSettings| {
        settings.exempt = Vec::new();
        settings.connections_per_client_max = 1;
    };
    let receiver = TestReceiver::of(Service::Smtps, Some(tls), FaultyStore::open(), change).await;
    let mut first = SmtpPeer::connect(receiver.address).await.secure(&connector).await.expect("a handshake");
    first.expect("220").await;
    SmtpPeer::connect(receiver.address).await.expect_closed().await;
}

#[tokio::test]
async fn a_command_that_arrives_octet_by_octet_has_one_deadline() {
    let (receiver, clock) = TestReceiver::with_clock(Service::Smtp, None, |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    for _ in 0..4 {
        peer.send("x").await;
        until_checked(&clock).await;
        clock.advance(MINUTE);
    }
    until_checked(&clock).await;
    assert_eq!(receiver.count("ended", "slowCommand"), 0);
    clock.advance(MINUTE);
    peer.expect("421 4.4.2 The command").await;
    receiver.until_counted("ended", "slowCommand", 1).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_its_replies_is_ended() {
    let short = Duration::from_millis(200);
    let calm = |settings: &mut SmtpSettings| settings.client_timeout = short;
    let stressed = |settings: &mut SmtpSettings| {
        settings.connections_max = 1;
        settings.stress_timeout = short;
    };
    for (receiver, end) in
        [(TestReceiver::bounded(calm).await, "repliesUnread"), (TestReceiver::bounded(stressed).await, "stressed")]
    {
        let mut stream = TcpStream::connect(receiver.address).await.expect("connect");
        stream.read_exact(&mut [0; 3]).await.expect("the greeting");
        let flood = tokio::spawn(async move { while stream.write_all(&b"EHLO x\r\n".repeat(10_000)).await.is_ok() {} });
        receiver.until_counted("ended", end, 1).await;
        flood.abort();
    }
}

/// What the server has written to a Unix socket is in the client's queue at once, so this test sees when a write is blocked.
#[tokio::test]
async fn the_time_for_reading_replies_is_not_taken_from_the_next_command() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("socket");
    let listener = Listener::Unix(UnixListener::bind(&path).expect("bind"));
    let clock = Arc::new(SetClock::at(Timestamp::from_millis(1_000_000)));
    let unused = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let change = |settings: &mut SmtpSettings| settings.stress_timeout = Duration::from_millis(20);
    let receiver =
        TestReceiver::over(listener, unused, clock.clone(), Service::Smtp, None, FaultyStore::open(), change);
    let mut client = UnixStream::connect(&path).await.expect("connect");
    let written = |client: &UnixStream| rustix::io::ioctl_fionread(client).expect("a socket");
    until("the greeting is there", async || written(&client) > 0).await;
    let (greeting, reply) = (written(&client), b"250 2.0.0 OK\r\n".len() as u64);
    let mut commands = 0;
    while written(&client) == greeting + commands * reply {
        // The server reads so many at once, and writes the replies in one piece.
        client.write_all(&b"NOOP\r\n".repeat(1000)).await.expect("write");
        commands += 1000;
        receiver.until_counted("replies", "2yz", 1 + commands).await;
    }
    clock.advance(MINUTE * 4);
    let mut replies = vec![0; usize::try_from(greeting + commands * reply).expect("a few KB")];
    client.read_exact(&mut replies).await.expect("all replies");
    until_checked(&clock).await;
    clock.advance(MINUTE * 4);
    until_checked(&clock).await;
    client.write_all(b"QUIT\r\n").await.expect("write");
    let mut last = String::new();
    client.read_to_string(&mut last).await.expect("the last reply");
    assert_eq!(last, "221 2.0.0 Bye\r\n");
}

#[tokio::test]
async fn a_silent_client_is_ended() {
    let (receiver, clock) = TestReceiver::with_clock(Service::Smtp, None, |_| ()).await;
    let mut silent = SmtpPeer::greeted(receiver.address).await;
    let mut in_data = SmtpPeer::greeted(receiver.address).await;
    in_data.begin_data(TO).await;
    in_data.send("half").await;
    until_checked(&clock).await;
    clock.advance(MINUTE * 5);
    for peer in [&mut silent, &mut in_data] {
        peer.expect("421 4.4.2 Nothing arrived").await;
        peer.expect_closed().await;
    }
    receiver.until_counted("ended", "idle", 2).await;
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn a_message_below_the_rate_is_ended_and_one_that_keeps_it_is_not() {
    let change = |settings: &mut SmtpSettings| settings.octets_per_second_min = 100;
    let (receiver, clock) = TestReceiver::with_clock(Service::Smtp, None, change).await;
    let mut slow = SmtpPeer::greeted(receiver.address).await;
    slow.begin_data(TO).await;
    let mut quick = SmtpPeer::greeted(receiver.address).await;
    quick.begin_data(TO).await;
    for _ in 0..10 {
        slow.send("x").await;
        // More than 100 octets a second.
        quick.send(format!("{}\r\n", "x".repeat(998)).repeat(8)).await;
        until_checked(&clock).await;
        assert_eq!(receiver.count("ended", "slowMessage"), 0);
        clock.advance(MINUTE);
    }
    slow.expect("421 4.4.2 The message").await;
    receiver.until_counted("ended", "slowMessage", 1).await;
    quick.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.stored().len(), 1);
}

#[tokio::test]
async fn no_transaction_begins_at_the_maximum_age_of_a_session() {
    let change = |settings: &mut SmtpSettings| settings.session_timeout = MINUTE;
    let (receiver, clock) = TestReceiver::with_clock(Service::Smtp, None, change).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data(TO).await;
    clock.advance(MINUTE);
    until_checked(&clock).await;
    // In one write, so that the server reads nothing between the two transactions.
    peer.send(format!(".\r\nMAIL FROM:<>\r\nRCPT TO:<{TO}>\r\nDATA\r\n")).await;
    peer.expect("250 2.0.0").await;
    peer.expect("421 4.4.2 The session").await;
    peer.expect_closed().await;
    receiver.until_counted("ended", "lifeOver", 1).await;
}

/// Octets behind the last reply are read for a moment. Else the connection would be reset, and the reply could be lost.
#[tokio::test]
async fn the_last_reply_is_not_lost_to_a_client_that_sends_on() {
    let receiver = TestReceiver::bounded(|settings| settings.client_timeout = Duration::from_millis(200)).await;
    for (says, hears) in [("BDAT x\r\n", "501 5.5.4"), ("NOOP\r\n", "250 2.0.0")] {
        let mut peer = SmtpPeer::greeted(receiver.address).await;
        peer.send(says).await;
        peer.expect(hears).await;
        let _ = peer.reply().await;
        for _ in 0..5 {
            peer.send("NOOP\r\n").await;
        }
        peer.expect_closed().await;
    }
}

#[tokio::test]
async fn a_session_at_its_maximum_age_ends_between_transactions_only() {
    let change = |settings: &mut SmtpSettings| settings.session_timeout = MINUTE;
    let (receiver, clock) = TestReceiver::with_clock(Service::Smtp, None, change).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data(TO).await;
    clock.advance(MINUTE);
    until_checked(&clock).await;
    peer.send(".\r\n").await;
    peer.expect("250 2.0.0").await;
    peer.expect("421 4.4.2 The session").await;
    peer.expect_closed().await;
    receiver.until_counted("ended", "lifeOver", 1).await;
}

#[tokio::test]
async fn errors_have_their_limit_and_refusals_their_counters() {
    let receiver = TestReceiver::bounded(|settings| {
        settings.errors_max = 4;
        settings.message_octets_max = 1024;
        settings.recipients_max = 1;
        settings.hops_max = 1;
    })
    .await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("MAIL FROM:<> SIZE=2000", "552").await;
    peer.command(&"x".repeat(3000), "500").await;
    peer.command("MAIL FROM:<>", "250").await;
    peer.command(&format!("RCPT TO:<{TO}>"), "250").await;
    peer.command(&format!("RCPT TO:<{TO}>"), "452").await;
    peer.command("DATA", "354").await;
    peer.send("Received: a\r\nReceived: b\r\n\r\n.\r\n").await;
    peer.expect("554 5.4.6").await;
    peer.command("FOO", "500").await;
    peer.expect("421 4.7.0").await;
    peer.expect_closed().await;
    for bound in ["messageSize", "lineLength", "recipients", "hops"] {
        receiver.until_counted("refused", bound, 1).await;
    }
    receiver.until_counted("ended", "tooManyErrors", 1).await;
    for (class, replies) in [("2yz", 4), ("3yz", 1), ("4yz", 2), ("5yz", 4)] {
        receiver.until_counted("replies", class, replies).await;
    }
}
