//! Signals.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use futures_util::future::join_all;
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::support::command::Running;
use crate::support::http;
use crate::support::program::{Program, local, serve_command};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::{blocking, until};

/// How many clients send at once.
const SENDERS: usize = 16;

/// Sends mail until the server stops. Returns the subjects of the accepted mail.
async fn send_until_stopped(server: SocketAddr, to: String, has_ended: CancellationToken) -> Vec<String> {
    let mut accepted = Vec::new();
    // A client that comes too late is refused. Another process may have the port by then, and may not greet.
    while !has_ended.is_cancelled()
        && let Some(mut peer) = SmtpPeer::try_connect(server).await
    {
        let mut steps = vec!["RCPT", "MAIL", "EHLO"];
        let mut reply = has_ended.run_until_cancelled(peer.reply()).await.unwrap_or_default();
        while let Some(step) = steps.pop().filter(|_| reply.starts_with('2')) {
            let command = match step {
                "EHLO" => "EHLO c.test\r\n".to_owned(),
                "MAIL" => "MAIL FROM:<a@sender.test>\r\n".to_owned(),
                _ => format!("RCPT TO:<{to}>\r\n"),
            };
            reply = peer.try_exchange(command).await;
        }
        if reply.starts_with("250") {
            reply = peer.try_exchange("DATA\r\n").await;
        }
        if reply.starts_with("354") {
            let subject = format!("{to} {:032x}", rand::random::<u128>());
            reply = peer.try_exchange(format!("Subject: {subject}\r\n\r\nbody\r\n.\r\n")).await;
            assert!(reply.starts_with("250") || reply.starts_with("421"), "after the end of data: {reply:?}");
            if reply.starts_with("250") {
                accepted.push(subject);
            }
        } else {
            assert!(reply.is_empty() || reply.starts_with("421"), "{reply:?}");
        }
    }
    accepted
}

/// The subjects of all mail of an address.
async fn subjects(server: SocketAddr, to: &str) -> Vec<String> {
    let mut all = Vec::new();
    for page in 1.. {
        let (_, page) = http::get(server, &format!("/api/mail/messages?to={to}&limit=100&page={page}")).await;
        let emails = page["emails"].as_array().expect("emails");
        if emails.is_empty() {
            break;
        }
        all.extend(emails.iter().map(|email| email["subject"].as_str().expect("subject").to_owned()));
    }
    all
}

async fn stop_under_load(signal: Signal) {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let to = |number: usize| format!("s{number}@example.test");
    let has_ended = CancellationToken::new();
    let senders: Vec<_> = (0..SENDERS)
        .map(|number| tokio::spawn(send_until_stopped(daemon.smtp, to(number), has_ended.clone())))
        .collect();
    // Every client is sending.
    for number in 0..SENDERS {
        until("each client has sent", async || http::total(daemon.http, &to(number)).await >= 3).await;
    }
    daemon.signal(signal);
    let code = tokio::task::spawn_blocking(|| daemon.ended()).await.expect("the end");
    has_ended.cancel();
    assert_eq!(code, Some(0));
    assert!(!dir.path().join("tempmail.sock").exists(), "the control socket is left behind");
    let daemon = Program::serve(dir.path(), &[]);
    for (number, sender) in senders.into_iter().enumerate() {
        let mut accepted = sender.await.expect("a sender");
        let mut stored = subjects(daemon.http, &to(number)).await;
        accepted.sort_unstable();
        stored.sort_unstable();
        assert_eq!(stored, accepted, "the store has the acknowledged mail of sender {number}");
    }
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_answers_every_transaction_and_keeps_what_was_accepted() {
    stop_under_load(Signal::TERM).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigint_answers_every_transaction_and_keeps_what_was_accepted() {
    stop_under_load(Signal::INT).await;
}

/// Begins a request whose body does not come. A stop waits for it as long as it may.
async fn hold_up(daemon: &Program) -> TcpStream {
    let mut request = TcpStream::connect(daemon.http).await.expect("connect");
    let head = "POST /api/domains HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\
                Expect: 100-continue\r\n\r\n";
    request.write_all(head.as_bytes()).await.expect("write");
    let mut interim = [0; 12];
    request.read_exact(&mut interim).await.expect("the body is waited for");
    assert_eq!(&interim, b"HTTP/1.1 100");
    request
}

/// Requests a large response, and reads only its first octets.
async fn begin_to_read<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, path: &str) -> S {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.expect("write");
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 200");
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_slow_client_delays_a_stop() {
    const DELETED: usize = 2_000;
    const CLIENTS: usize = 20;
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &["--max-message-size", "10MB", "--segment-size", "20MB"]);
    let large = format!("Subject: large\r\n\r\n{}.", "0123456789abcdef\r\n".repeat(500_000));
    let mut sender = SmtpPeer::greeted(daemon.smtp).await;
    sender.begin_data("large@example.test").await;
    sender.command(&large, "250").await;
    join_all((0..CLIENTS).map(async |_| {
        let mut sender = SmtpPeer::greeted(daemon.smtp).await;
        for _ in 0..DELETED / CLIENTS {
            sender.deliver("deleted@example.test", "Subject: small\r\n\r\n").await;
        }
    }))
    .await;
    let id = http::inbox(daemon.http, "large@example.test").await["emails"][0]["id"].as_str().expect("id").to_owned();
    // A message that stops half way, a request without its body, and a message and a backup that clients stop reading.
    let mut stalled = SmtpPeer::greeted(daemon.smtp).await;
    stalled.begin_data("stalled@example.test").await;
    stalled.send("Subject: half\r\n\r\nhalf\r\n").await;
    let _request = hold_up(&daemon).await;
    let connection = TcpStream::connect(daemon.http).await.expect("connect");
    let _message = begin_to_read(connection, &format!("/api/mail/messages/{id}/raw")).await;
    let control = tokio::net::UnixStream::connect(dir.path().join("tempmail.sock")).await.expect("connect");
    let _backup = begin_to_read(control, "/api/admin/backup").await;
    // There is much to delete from the disk, too.
    daemon.tempmail(&["delete", "deleted@example.test", "--yes"]).ok();
    daemon.signal(Signal::TERM);
    let ended = tokio::task::spawn_blocking(move || daemon.ended());
    stalled.expect("421 4.3.2").await;
    // Each of these clients may be silent for minutes.
    assert_eq!(ended.await.expect("the end"), Some(0));
    let daemon = Program::serve(dir.path(), &[]);
    let total = async |to: &str| http::total(daemon.http, &format!("{to}@example.test")).await;
    assert_eq!([total("large").await, total("deleted").await, total("stalled").await], [1, 0, 0]);
    daemon.stop();
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let daemon = Program::fresh(&[]);
    let _request = hold_up(&daemon).await;
    daemon.signal(Signal::TERM);
    daemon.logged("stopping");
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.ended(), Some(130), "a stop in order ends with 0");
}

/// A regression: the daemon left its listener open to the end. While it drained, commands connected without an answer. They
/// reported a reset connection after eight seconds.
#[tokio::test]
async fn a_daemon_that_stops_lets_no_command_wait_in_vain() {
    let daemon = Program::fresh(&[]);
    let _request = hold_up(&daemon).await;
    daemon.signal(Signal::TERM);
    daemon.logged("stopping");
    let socket = daemon.dir().join("tempmail.sock");
    until("the socket takes no more commands", async || UnixStream::connect(&socket).is_err()).await;
    daemon.kill();
}

/// A regression: a daemon that waited for its data directory ignored signals, so it could not be stopped.
#[test]
fn a_signal_ends_a_start_that_waits() {
    let holder = Program::fresh(&[]);
    let waiting = Running::start(&mut serve_command(holder.dir()));
    blocking::until("it takes signals", || catches_interrupts(waiting.process()));
    waiting.signal(Signal::INT);
    assert_eq!(waiting.end().code, Some(0), "a start that has waited in vain ends with 75");
}

/// Whether a process has a handler for SIGINT, from the kernel's table.
fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 0b10 != 0))
}

#[test]
fn a_socket_left_behind_is_replaced_and_only_its_owner_may_use_it() {
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("tempmail.sock");
    Program::serve(dir.path(), &[]).kill();
    assert!(socket.exists(), "a kill leaves it");
    // A command is not misled by the old socket.
    assert_eq!(local(dir.path(), &["inbox", "hello@example.test"]).code, Some(6));
    let daemon = Program::serve(dir.path(), &[]);
    let mode = std::fs::metadata(&socket).expect("socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    daemon.tempmail(&["status"]).ok();
    daemon.stop();
}
