//! Hostile clients of the real binary: a smaller form of the benchmark `abuse`.
//! Promise: it outlives the code below it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;

const TO: &str = "hello@example.test";
const MB: usize = 1 << 20;
/// Far longer than anything takes here that comes at all.
const LIMIT: Duration = Duration::from_mins(1);

async fn stream_from(client: Ipv4Addr, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((client, 0))).expect("bind");
    socket.connect(server).await.expect("connect")
}

#[tokio::test]
async fn a_crowd_that_does_nothing_leaves_honest_mail_its_way() {
    let daemon = Program::fresh(&["--limit-exempt", "none"]);
    let at_start_kb = daemon.memory_kb("VmRSS:");
    let mut crowd = Vec::new();
    for number in 0..400_u16 {
        let [network, host] = [number / 100, number % 100 + 1].map(|part| u8::try_from(part).expect("small"));
        let mut peer = SmtpPeer::over(stream_from(Ipv4Addr::new(127, 1, network, host), daemon.smtp).await);
        peer.expect("220").await;
        if number % 2 == 0 {
            peer.begin_data("crowd@example.test").await;
        }
        peer.send("x").await;
        crowd.push(peer);
    }
    let mut honest = SmtpPeer::greeted(daemon.smtp).await;
    for number in 0..100 {
        honest.deliver(TO, &format!("Subject: {number}\r\n\r\n")).await;
    }
    assert_eq!(http::total(daemon.http, TO).await, 100);
    let per_client_kb = (daemon.memory_kb("VmRSS:") - at_start_kb) / 400;
    assert!(per_client_kb < 64, "{per_client_kb} KB for each");
    drop(crowd);
    daemon.stop();
}

/// Each has sent a message of 200 KB and been sent 30 KB of replies at once.
#[tokio::test]
async fn an_idle_connection_that_was_busy_needs_no_more_memory_than_one_that_never_was() {
    let daemon = Program::fresh(&["--limit-exempt", "127.0.0.0/8"]);
    let busy = async || {
        let mut peer = SmtpPeer::greeted(daemon.smtp).await;
        peer.deliver(TO, &format!("{}\r\n", "x".repeat(998)).repeat(200)).await;
        peer.send("HELP\r\n".repeat(400)).await;
        for _ in 0..400 {
            peer.expect("214").await;
        }
        peer
    };
    // By then the memory that all connections share is in use.
    let mut crowd = vec![busy().await, busy().await];
    let before_kb = daemon.memory_kb("VmRSS:");
    for _ in 0..100 {
        crowd.push(busy().await);
    }
    let each_kb = daemon.memory_kb("VmRSS:").saturating_sub(before_kb) / 100;
    assert!(each_kb < 48, "{each_kb} KB for each");
    drop(crowd);
    daemon.stop();
}

#[tokio::test]
async fn the_51st_connection_is_turned_away_and_counted() {
    let daemon = Program::fresh(&["--limit-exempt", "none"]);
    let mut connections = Vec::new();
    for _ in 0..50 {
        connections.push(SmtpPeer::greeted(daemon.smtp).await);
    }
    SmtpPeer::connect(daemon.smtp).await.expect("421 4.7.0").await;
    let mut other = SmtpPeer::over(stream_from(Ipv4Addr::new(127, 0, 0, 2), daemon.smtp).await);
    other.expect("220").await;
    other.deliver(TO, "Subject: fine\r\n\r\n").await;
    let status: serde_json::Value = daemon.tempmail(&["status", "--json"]).json();
    assert_eq!(status["smtp"]["refused"]["connectionsPerClient"], 1, "{status}");
    assert_eq!(status["smtp"]["messages"], 1, "{status}");
    drop(connections);
    daemon.stop();
}

#[tokio::test]
async fn a_line_without_an_end_takes_no_memory() {
    let daemon = Program::fresh(&[]);
    for start in [None, Some("Subject: "), Some("Subject: a\r\n\r\n")] {
        let mut peers = Vec::new();
        for _ in 0..8 {
            let mut peer = SmtpPeer::greeted(daemon.smtp).await;
            if let Some(start) = start {
                peer.begin_data(TO).await;
                peer.send(start).await;
            }
            peers.push(peer);
        }
        let before_kb = daemon.memory_kb("VmRSS:");
        let piece = vec![b'x'; MB];
        for _ in 0..4 {
            for peer in &mut peers {
                peer.send(&piece).await;
            }
        }
        let each_kb = daemon.memory_kb("VmRSS:").saturating_sub(before_kb) / 8;
        // A busy daemon may still hold what could become a message of the largest size, 300 KB.
        assert!(each_kb < 512, "{each_kb} KB for each after {start:?}");
        for mut peer in peers {
            peer.send(if start.is_some() { "\r\n.\r\n" } else { "\r\n" }).await;
            peer.expect(if start.is_some() { "552 5.3.4" } else { "500 5.5.2" }).await;
            peer.command("QUIT", "221").await;
        }
    }
    daemon.stop();
}

/// Sends an octet twice a second until the server has closed the connection.
async fn send_slowly(mut stream: TcpStream, start: &[u8]) {
    stream.write_all(start).await.expect("write");
    let (mut reader, mut writer) = stream.split();
    let mut octets = interval(Duration::from_millis(500));
    let endless = async {
        loop {
            octets.tick().await;
            if writer.write_all(b"x").await.is_err() {
                return;
            }
        }
    };
    let mut answer = Vec::new();
    tokio::select! {
        () = endless => {}
        _ = reader.read_to_end(&mut answer) => {}
    }
}

#[tokio::test]
async fn slow_clients_of_http_are_gone_in_time_and_others_are_answered() {
    let daemon = Program::fresh(&["--limit-exempt", "none", "--max-http-connections", "4000"]);
    let mut slow = JoinSet::new();
    for number in 0..400_u16 {
        let [network, host] = [number / 100, number % 100 + 1].map(|part| u8::try_from(part).expect("small"));
        let stream = stream_from(Ipv4Addr::new(127, 1, network, host), daemon.http).await;
        let start: &[u8] = if number % 2 == 0 {
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
        } else {
            b"POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"
        };
        slow.spawn(send_slowly(stream, start));
    }
    for _ in 0..20 {
        assert_eq!(http::total(daemon.http, TO).await, 0);
    }
    assert!(slow.try_join_next().is_none(), "others are answered only when slow clients are gone");
    // Each of them would go on for ever.
    timeout(LIMIT, slow.join_all()).await.expect("slow clients are gone");
    daemon.stop();
}

#[tokio::test]
async fn half_open_connections_of_one_address_keep_nobody_waiting() {
    let dir = tempfile::tempdir().expect("directory");
    // So that no connection of the flood ends by itself.
    let timeouts = ["--http-head-timeout", "1h"];
    let limits = ["--limit-exempt", "none", "--max-http-connections", "200"];
    let daemon = Program::serve(dir.path(), &[&limits[..], &timeouts[..]].concat());
    let mut flood = Vec::new();
    for _ in 0..500 {
        let mut stream = stream_from(Ipv4Addr::new(127, 1, 0, 2), daemon.http).await;
        // One that was refused at once can no longer write.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").await;
        flood.push(stream);
    }
    let answers = async {
        for _ in 0..20 {
            assert_eq!(http::total(daemon.http, TO).await, 0);
        }
    };
    timeout(LIMIT, answers).await.expect("answers");
    drop(flood);
    daemon.stop();
}
