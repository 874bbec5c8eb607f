//! The memory that many senders of large messages need.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Barrier;

use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const MB: usize = 1 << 20;
/// How long a refused sender waits before it tries again.
const PAUSE: Duration = Duration::from_millis(20);
/// The most memory beyond that of the start which the daemon may still have afterwards: caches, and free memory.
const LEFT_MB: u64 = 100;

#[derive(Clone, Copy)]
struct Load {
    senders: usize,
    octets: usize,
    budget_octets: usize,
}

/// The results of a load.
#[derive(Debug)]
struct Cost {
    /// Senders that were refused at first, and had to try again.
    refused_at_first: usize,
    at_start_mb: u64,
    peak_mb: u64,
}

fn address(sender: usize) -> String {
    format!("s{sender}@example.test")
}

/// A message of so many octets in lines. Each line names the sender.
fn message(sender: usize, octets: usize) -> String {
    let mut text = format!("Subject: {sender:04}\r\n\r\n");
    let line = format!("{}\r\n", format!("{sender:04}").repeat(19));
    while text.len() + line.len() <= octets {
        text.push_str(&line);
    }
    text
}

/// Sends one message, and tries again while it is refused. Returns whether the first try was refused.
async fn send(server: SocketAddr, sender: usize, octets: usize, all_senders: &Barrier) -> bool {
    let mut peer = SmtpPeer::greeted(server).await;
    peer.command("EHLO client.test", "250").await;
    let mut tries = 0;
    loop {
        peer.command(&format!("MAIL FROM:<a@sender.test> SIZE={octets}"), "250").await;
        peer.command(&format!("RCPT TO:<{}>", address(sender)), "250").await;
        peer.command("DATA", "354").await;
        peer.send(message(sender, octets)).await;
        if tries == 0 {
            // No sender ends its message before each has sent its octets, so that all of them want their memory at once.
            all_senders.wait().await;
        }
        let reply = peer.try_exchange(".\r\n").await;
        if reply.starts_with("250 2.0.0") {
            peer.command("QUIT", "221").await;
            return tries > 0;
        }
        assert!(reply.starts_with("452 4.3.1"), "{reply}");
        tries += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

async fn measure(load: Load) -> Cost {
    let Load { senders, octets, budget_octets } = load;
    let dir = tempfile::tempdir().expect("directory");
    let (size, segment) = (format!("{octets}B"), format!("{}B", 2 * octets));
    let budget = format!("{budget_octets}B");
    let daemon = Program::serve(
        dir.path(),
        &["--max-message-size", &size, "--segment-size", &segment, "--smtp-body-budget", &budget],
    );
    let at_start_mb = daemon.memory_kb("VmRSS:") >> 10;
    let all_senders = Arc::new(Barrier::new(senders));
    let refused = join_all((0..senders).map(|sender| {
        let (server, all_senders) = (daemon.smtp, Arc::clone(&all_senders));
        tokio::spawn(async move { send(server, sender, octets, &all_senders).await })
    }))
    .await;
    let refused_at_first = refused.into_iter().filter(|refused| *refused.as_ref().expect("a sender")).count();
    let peak_mb = daemon.memory_kb("VmHWM:") >> 10;
    let what =
        std::fmt::from_fn(|f| write!(f, "memory is given back; peak {peak_mb} MB, at the start {at_start_mb} MB"));
    until(what, async || daemon.memory_kb("VmRSS:") >> 10 <= at_start_mb + LEFT_MB).await;
    for sender in 0..senders {
        let page = http::inbox(daemon.http, &address(sender)).await;
        assert_eq!(page["total"], 1, "of sender {sender}");
        let raw = http::raw(daemon.http, page["emails"][0]["id"].as_str().expect("id")).await.expect("its octets");
        assert!(raw.ends_with(message(sender, octets).as_bytes()), "the message of {sender} is another");
    }
    daemon.stop();
    Cost { refused_at_first, at_start_mb, peak_mb }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn senders_beyond_the_budget_try_again_and_all_are_served() {
    let cost = measure(Load { senders: 50, octets: MB, budget_octets: 20 * MB }).await;
    assert!((1..50).contains(&cost.refused_at_first), "{cost:?}");
    // Twenty messages, their copies in a group of 4 MB, the write buffers, and what the program itself takes.
    assert!(cost.peak_mb < cost.at_start_mb + 60, "{cost:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes 5 GB; run with --ignored"]
async fn five_hundred_senders_of_10_mb_stay_under_1_gb() {
    let cost = measure(Load { senders: 500, octets: 10 * MB, budget_octets: 256 * MB }).await;
    assert!((1..500).contains(&cost.refused_at_first), "{cost:?}");
    assert!(cost.peak_mb < 1024, "{cost:?}");
}
