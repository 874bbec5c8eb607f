//! The limits and timeouts of one client, over real sockets.
//! Promise: it outlives the code below it.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::{ENDED, REFUSED, REPLIES, TO, bounded, count, from, messages, secured, settled, until_counted};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const MINUTE: Duration = Duration::from_mins(1);
const GREEDY: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 2);

#[tokio::test]
async fn the_51st_connection_of_a_client_is_refused_and_another_client_is_served() {
    let server = bounded("").await;
    let mut peers = Vec::new();
    for _ in 0..50 {
        let mut peer = from(GREEDY, server.smtp()).await;
        peer.expect("220").await;
        peers.push(peer);
    }
    let mut peer = from(GREEDY, server.smtp()).await;
    peer.expect("421 4.7.0 Too many connections from your address").await;
    peer.expect_closed().await;
    until_counted(&server, REFUSED, "connectionsPerClient", 1).await;
    let mut other = from(OTHER, server.smtp()).await;
    other.expect("220").await;
    other.deliver(TO, "hi\r\n").await;
    peers.pop().expect("a peer").command("QUIT", "221").await;
    // The connection stops counting a moment after its last reply.
    let connects = async || from(GREEDY, server.smtp()).await.reply().await.starts_with("220");
    until("the client may connect again", connects).await;
}

#[tokio::test]
async fn a_minute_has_so_many_new_connections_of_a_client() {
    let server = bounded("smtp-connections-per-minute = 3").await;
    for _ in 0..3 {
        from(GREEDY, server.smtp()).await.expect("220").await;
    }
    from(GREEDY, server.smtp()).await.expect("421 4.7.0 Too many new connections").await;
    from(OTHER, server.smtp()).await.expect("220").await;
    until_counted(&server, REFUSED, "connectionsPerMinute", 1).await;
}

#[tokio::test]
async fn behind_a_proxy_the_limits_apply_to_the_named_client() {
    let server = bounded("proxy-from = ['127.0.0.0/8']\nmax-smtp-connections-per-client = 1").await;
    let mut peers = Vec::new();
    for (client, start) in [("192.0.2.1", "220"), ("192.0.2.1", "421 4.7.0"), ("192.0.2.2", "220")] {
        let mut peer = SmtpPeer::connect(server.smtp()).await;
        peer.send(format!("PROXY TCP4 {client} 198.51.100.1 5000 25\r\n")).await;
        peer.expect(start).await;
        peers.push(peer);
    }
}

#[tokio::test]
async fn before_a_handshake_no_reply_is_sent() {
    let (server, connector, _dir) = secured("limit-exempt = 'none'\nmax-smtp-connections-per-client = 1").await;
    let mut first = SmtpPeer::connect(server.smtps()).await.secure(&connector).await.expect("a handshake");
    first.expect("220").await;
    SmtpPeer::connect(server.smtps()).await.expect_closed().await;
}

#[tokio::test]
async fn a_command_that_arrives_octet_by_octet_has_one_deadline() {
    let server = bounded("").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for _ in 0..4 {
        peer.send("x").await;
        settled().await;
        server.pass(MINUTE).await;
    }
    settled().await;
    assert_eq!(count(&server, ENDED, "slowCommand").await, 0);
    server.pass(MINUTE).await;
    peer.expect("421 4.4.2 The command").await;
    until_counted(&server, ENDED, "slowCommand", 1).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_its_replies_is_ended() {
    let calm = ("smtp-timeout = '200ms'", "repliesUnread");
    let stressed = ("max-smtp-connections = 1\nsmtp-stress-timeout = '200ms'", "crowded");
    for (settings, end) in [calm, stressed] {
        let server = TestServer::ticking(settings).await;
        let mut stream = TcpStream::connect(server.smtp()).await.expect("connect");
        stream.read_exact(&mut [0; 3]).await.expect("the greeting");
        let flood = tokio::spawn(async move { while stream.write_all(&b"EHLO x\r\n".repeat(10_000)).await.is_ok() {} });
        until_counted(&server, ENDED, end, 1).await;
        flood.abort();
    }
}

/// What the server has written to a Unix socket is in the client's queue at once, so this test sees when a write is blocked.
#[tokio::test]
async fn the_time_for_reading_replies_is_not_taken_from_the_next_command() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("socket");
    let server = bounded(&format!("lmtp-listen = '{}'", path.display())).await;
    let mut client = UnixStream::connect(&path).await.expect("connect");
    let written = |client: &UnixStream| rustix::io::ioctl_fionread(client).expect("a socket");
    until("the greeting is there", async || written(&client) > 0).await;
    let (greeting, reply) = (written(&client), b"250 2.0.0 OK\r\n".len() as u64);
    let mut commands = 0;
    while written(&client) == greeting + commands * reply {
        // The server reads so many at once, and writes the replies in one piece.
        client.write_all(&b"NOOP\r\n".repeat(1000)).await.expect("write");
        commands += 1000;
        until_counted(&server, REPLIES, "2yz", 1 + commands).await;
    }
    server.pass(MINUTE * 4).await;
    let mut replies = vec![0; usize::try_from(greeting + commands * reply).expect("a few KB")];
    client.read_exact(&mut replies).await.expect("all replies");
    settled().await;
    server.pass(MINUTE * 4).await;
    settled().await;
    client.write_all(b"QUIT\r\n").await.expect("write");
    let mut last = String::new();
    client.read_to_string(&mut last).await.expect("the last reply");
    assert_eq!(last, "221 2.0.0 Bye\r\n");
}

#[tokio::test]
async fn a_silent_client_is_ended() {
    let server = bounded("").await;
    let mut silent = SmtpPeer::greeted(server.smtp()).await;
    let mut in_data = SmtpPeer::greeted(server.smtp()).await;
    in_data.begin_data(TO).await;
    in_data.send("half").await;
    settled().await;
    server.pass(MINUTE * 5).await;
    for peer in [&mut silent, &mut in_data] {
        peer.expect("421 4.4.2 Nothing arrived").await;
        peer.expect_closed().await;
    }
    until_counted(&server, ENDED, "idle", 2).await;
    assert_eq!(messages(&server).await, 0);
}

#[tokio::test]
async fn a_message_below_the_rate_is_ended_and_one_that_keeps_it_is_not() {
    let server = bounded("smtp-octets-per-second-min = 100").await;
    let mut slow = SmtpPeer::greeted(server.smtp()).await;
    slow.begin_data(TO).await;
    let mut quick = SmtpPeer::greeted(server.smtp()).await;
    quick.begin_data(TO).await;
    for _ in 0..10 {
        slow.send("x").await;
        // More than 100 octets a second.
        quick.send(format!("{}\r\n", "x".repeat(998)).repeat(8)).await;
        settled().await;
        assert_eq!(count(&server, ENDED, "slowMessage").await, 0);
        server.pass(MINUTE).await;
    }
    slow.expect("421 4.4.2 The message").await;
    until_counted(&server, ENDED, "slowMessage", 1).await;
    quick.command(".", "250 2.0.0").await;
    assert_eq!(messages(&server).await, 1);
}

#[tokio::test]
async fn no_transaction_begins_at_the_maximum_age_of_a_session() {
    // In one write, so that the server reads nothing between the two transactions.
    let begin_another = format!(".\r\nMAIL FROM:<>\r\nRCPT TO:<{TO}>\r\nDATA\r\n");
    for last in [begin_another.as_str(), ".\r\n"] {
        let server = bounded("smtp-session-timeout = '1m'").await;
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.begin_data(TO).await;
        server.pass(MINUTE).await;
        settled().await;
        peer.send(last).await;
        peer.expect_all(&["250 2.0.0", "421 4.4.2 The session"]).await;
        peer.expect_closed().await;
        until_counted(&server, ENDED, "lifeOver", 1).await;
    }
}

/// Octets behind the last reply are read for a moment. Else the connection would be reset, and the reply could be lost.
#[tokio::test]
async fn the_last_reply_is_not_lost_to_a_client_that_sends_on() {
    let server = TestServer::ticking("smtp-timeout = '1s'").await;
    for (says, hears) in [("BDAT x\r\n", "501 5.5.4"), ("NOOP\r\n", "250 2.0.0")] {
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
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
async fn in_a_crowd_the_deadlines_are_shorter_and_newcomers_get_an_eighth() {
    let server = TestServer::with("max-smtp-connections = 4").await;
    let mut silent = SmtpPeer::greeted(server.smtp()).await;
    let mut others = [SmtpPeer::greeted(server.smtp()).await, SmtpPeer::greeted(server.smtp()).await];
    // With three of four connections taken there is no crowd.
    server.pass(Duration::from_secs(11)).await;
    settled().await;
    assert_eq!(count(&server, ENDED, "crowded").await, 0);
    for peer in &mut others {
        peer.command("NOOP", "250").await;
    }
    let mut last = SmtpPeer::greeted(server.smtp()).await;
    server.pass(Duration::from_secs(5)).await;
    for peer in others.iter_mut().chain([&mut last]) {
        peer.command("NOOP", "250").await;
    }
    server.pass(Duration::from_secs(6)).await;
    silent.expect("421 4.3.2 Too slow").await;
    until_counted(&server, ENDED, "crowded", 1).await;
    for peer in &mut others {
        peer.command("NOOP", "250").await;
    }
}

#[tokio::test]
async fn a_message_that_crawls_is_ended_sooner_in_a_crowd() {
    let server = TestServer::with("max-smtp-connections = 1").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    // 4 KB a second keep a message going, whatever its size.
    for _ in 0..4 {
        peer.send("x".repeat(30_000)).await;
        settled().await;
        server.pass(Duration::from_secs(6)).await;
        settled().await;
    }
    assert_eq!(count(&server, ENDED, "crowded").await, 0);
    server.pass(Duration::from_secs(9)).await;
    peer.expect("421 4.3.2 Too slow").await;
}

/// The time of a message begins with the message: commands before it have their own.
#[tokio::test]
async fn a_message_after_slow_commands_has_its_time_in_a_crowd() {
    let server = TestServer::with("max-smtp-connections = 1").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.dialog(&[("EHLO client.test", "250"), ("MAIL FROM:<>", "250")]).await;
    for recipient in ["a", "b", "c"] {
        server.pass(Duration::from_secs(6)).await;
        peer.command(&format!("RCPT TO:<{recipient}@example.test>"), "250").await;
    }
    peer.dialog(&[("DATA", "354"), ("hi\r\n.", "250 2.0.0")]).await;
}

/// A part of the store is what mail takes up, not what was asked about.
#[tokio::test]
async fn a_client_takes_up_its_share_of_the_store_with_what_is_stored() {
    let server = bounded("max-emails = 80").await;
    let mut peer = from(GREEDY, server.smtp()).await;
    peer.expect("220").await;
    peer.command("EHLO client.test", "250").await;
    for _ in 0..20 {
        peer.dialog(&[("MAIL FROM:<>", "250"), (&format!("RCPT TO:<{TO}>"), "250"), ("RSET", "250")]).await;
    }
    for _ in 0..10 {
        peer.deliver(TO, "hi").await;
    }
    // An eighth is stored; the next one makes it more.
    peer.deliver(TO, "hi").await;
    peer.dialog(&[("MAIL FROM:<>", "250"), (&format!("RCPT TO:<{TO}>"), "450 4.7.1 Mail from your address")]).await;
    let mut other = from(OTHER, server.smtp()).await;
    other.expect("220").await;
    other.deliver(TO, "hi").await;
}

/// Nobody is thrown out for a newcomer, and all hosts of a network have four shares of a client.
#[tokio::test]
async fn a_network_has_four_shares_of_a_client() {
    let server = bounded("max-smtp-connections-per-client = 3").await;
    let mut peers = Vec::new();
    for host in 1..=4 {
        for _ in 0..3 {
            let mut peer = from(Ipv4Addr::new(127, 0, 1, host), server.smtp()).await;
            peer.expect("220").await;
            peers.push(peer);
        }
    }
    let mut refused = from(Ipv4Addr::new(127, 0, 1, 5), server.smtp()).await;
    refused.expect("421 4.7.0 Too many connections from your address or network").await;
    from(Ipv4Addr::new(127, 0, 2, 5), server.smtp()).await.expect("220").await;
    for peer in &mut peers {
        peer.command("NOOP", "250").await;
    }
}

/// With the guide's own limits, 500 messages to 100 recipients each once locked a domain for two hours.
#[tokio::test]
async fn a_client_has_so_many_recipients_and_locks_nobody_else_out() {
    let server = bounded("").await;
    let mut greedy = from(GREEDY, server.smtp()).await;
    greedy.expect("220").await;
    greedy.command("EHLO client.test", "250").await;
    let recipients = (0..100).map(|n| format!("RCPT TO:<bob{n}@example.test>\r\n")).collect::<Vec<_>>().concat();
    for _ in 0..60 {
        greedy.send(format!("MAIL FROM:<>\r\n{recipients}DATA\r\nhi\r\n.\r\n")).await;
        greedy.expect("250 2.1.0").await;
        greedy.expect_all(&["250 2.1.5"; 100]).await;
        greedy.expect_all(&["354", "250 2.0.0"]).await;
    }
    // The quota comes back evenly: a hundred in a second.
    let mut more = 0;
    let refusal = loop {
        assert!(more < 6_000, "there is no limit");
        if more % 100 == 0 {
            greedy.dialog(&[("RSET", "250"), ("MAIL FROM:<>", "250 2.1.0")]).await;
        }
        more += 1;
        greedy.send("RCPT TO:<bob@example.test>\r\n").await;
        let reply = greedy.reply().await;
        if !reply.starts_with("250 2.1.5") {
            break reply;
        }
    };
    assert!(refusal.starts_with("450 4.7.1 Too many recipients from your address or network in a minute"), "{refusal}");
    until_counted(&server, REFUSED, "recipientsPerMinute", 1).await;
    let mut other = from(OTHER, server.smtp()).await;
    other.expect("220").await;
    other.deliver(TO, "hi").await;
    server.pass(Duration::from_secs(1)).await;
    greedy.dialog(&[("RSET", "250"), ("MAIL FROM:<>", "250"), ("RCPT TO:<bob@example.test>", "250 2.1.5")]).await;
}

/// A server in front speaks for many clients.
#[tokio::test]
async fn a_front_server_has_the_share_of_no_client() {
    let server =
        bounded("lmtp-listen = '127.0.0.1:0'\nmax-smtp-connections-per-client = 1\nsmtp-connections-per-minute = 1")
            .await;
    let mut peers = Vec::new();
    for _ in 0..3 {
        peers.push(SmtpPeer::greeted(server.lmtp()).await);
    }
}

#[tokio::test]
async fn errors_have_their_limit_and_refusals_their_counters() {
    let server = bounded("smtp-errors-max = 4\nmax-message-size = '2KB'\nsegment-size = '1MB'").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let recipient = format!("RCPT TO:<{TO}>");
    let line = "x".repeat(3000);
    peer.dialog(&[("EHLO client.test", "250"), ("MAIL FROM:<> SIZE=3000", "552"), (&line, "500")]).await;
    peer.command("MAIL FROM:<>", "250").await;
    for _ in 0..100 {
        peer.command(&recipient, "250").await;
    }
    peer.dialog(&[(&recipient, "452"), ("FOO", "500"), ("FOO", "500")]).await;
    peer.expect("421 4.7.0").await;
    peer.expect_closed().await;
    for bound in ["messageSize", "lineLength", "recipients"] {
        until_counted(&server, REFUSED, bound, 1).await;
    }
    until_counted(&server, ENDED, "tooManyErrors", 1).await;
    for (class, replies) in [("2yz", 103), ("4yz", 2), ("5yz", 4)] {
        until_counted(&server, REPLIES, class, replies).await;
    }
}
