//! Answers with large mail for clients that read nothing.
//! Promise: it outlives the code below it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rustix::net::RecvFlags;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const READERS: usize = 40;
/// There are two bodies in an answer. Long lines without markup are cheap to show in a build without optimisation.
const OCTETS: usize = 7_000_000;
/// What all answers together may cost beyond what the program takes at the start: the room of all, and free memory that
/// is not given back. Without a bound they cost 290 MB.
const COST_MB: u64 = 230;

/// A connection from the given address of loopback.
async fn connect_from(number: usize, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("socket");
    let number = u8::try_from(number).expect("a small number");
    socket.bind((IpAddr::V4(Ipv4Addr::new(127, 0, 1, number)), 0).into()).expect("an address of loopback");
    socket.connect(server).await.expect("connection")
}

/// Whether the beginning of a good answer is there. It is not read.
fn begins_with_200(stream: &TcpStream) -> bool {
    const GOOD: &[u8] = b"HTTP/1.1 200";
    let mut start = [0; GOOD.len()];
    rustix::net::recv(stream, &mut start, RecvFlags::PEEK | RecvFlags::DONTWAIT).is_ok_and(|_| start == GOOD)
}

async fn receive_large(daemon: &Program) {
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("MAIL FROM:<a@sender.test>", "250").await;
    peer.command("RCPT TO:<large@example.test>", "250").await;
    peer.command("DATA", "354").await;
    let line = format!("{}\r\n", "x".repeat(998));
    peer.send(format!("Subject: large\r\n\r\n{}", line.repeat(OCTETS / line.len()))).await;
    peer.command(".", "250 2.0.0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_read_nothing_cost_a_bounded_amount_and_others_are_served() {
    let daemon = Program::fresh(&["--revision", "1", "--segment-size", "20MB"]);
    let at_start_mb = daemon.memory_kb("VmRSS:") >> 10;
    receive_large(&daemon).await;
    let page = http::inbox(daemon.http, "large@example.test").await;
    let id = page["emails"][0]["id"].as_str().expect("id").to_owned();
    let request = format!("GET /api/mail/messages/{id} HTTP/1.1\r\nHost: localhost\r\n\r\n");

    let mut silent = Vec::new();
    for number in 1..=READERS {
        let mut stream = connect_from(number, daemon.http).await;
        stream.write_all(request.as_bytes()).await.expect("a request");
        silent.push(stream);
    }
    until("an answer begins", async || silent.iter().any(begins_with_200)).await;
    let nobody = http::inbox(daemon.http, "nobody@example.test").await;
    assert_eq!(nobody["total"], 0);

    let close = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    until("a client that reads is served", async || {
        let mut reader = connect_from(READERS + 1, daemon.http).await;
        reader.write_all(close.as_bytes()).await.expect("a request");
        let mut answer = Vec::new();
        let _ = reader.read_to_end(&mut answer).await;
        answer.starts_with(b"HTTP/1.1 200") && answer.len() > 2 * OCTETS
    })
    .await;
    let peak_mb = daemon.memory_kb("VmHWM:") >> 10;
    assert!(peak_mb < at_start_mb + COST_MB, "{peak_mb} MB at most, {at_start_mb} MB at the start");
    drop(silent);
    daemon.stop();
}
