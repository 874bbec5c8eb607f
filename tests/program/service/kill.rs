//! The process is killed while it takes mail over 50 connections.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rand::RngExt;
use serde_json::Value;

use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

const SENDERS: usize = 50;
/// The most acknowledged messages of all senders before a kill, and the longest time from then to the kill.
const ACKNOWLEDGED: usize = 300;
const LATER: Duration = Duration::from_millis(10);
const SETTINGS: [&str; 2] = ["--max-message-size", "64KB"];

/// Sends mail to a mailbox until the server is gone. Returns the acknowledged mail.
async fn send_until_gone(server: SocketAddr, to: String, acknowledged: Arc<AtomicUsize>) -> Vec<String> {
    let mut stored = Vec::new();
    let Some(mut peer) = SmtpPeer::try_connect(server).await else { return stored };
    let mut is_served =
        peer.reply().await.starts_with("220") && peer.try_exchange("EHLO c.test\r\n").await.starts_with("250");
    while is_served {
        let lines = rand::rng().random_range(1..300);
        let body: Vec<String> = (0..lines).map(|_| format!("{:032x}\r\n", rand::random::<u128>())).collect();
        let body = body.concat();
        let mail = format!("Subject: {}\r\n\r\n{body}", rand::random::<u64>());
        let envelope = format!("MAIL FROM:<a@sender.test>\r\nRCPT TO:<{to}>\r\nDATA\r\n");
        peer.try_exchange(envelope).await;
        peer.reply().await;
        is_served =
            peer.reply().await.starts_with("354") && peer.try_exchange(format!("{mail}.\r\n")).await.starts_with("250");
        if is_served {
            acknowledged.fetch_add(1, Ordering::Relaxed);
            stored.push(mail);
        }
    }
    stored
}

/// Checks that all acknowledged mail is there and unchanged.
async fn check(daemon: &Program, expected: &[(String, Vec<String>)]) {
    let client = http::client();
    let get = async |path: String| {
        let answer = client.get(format!("http://{}/api/mail/messages{path}", daemon.http)).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status).expect("an answer");
        answer.bytes().await.expect("a body")
    };
    for (to, mails) in expected {
        let page: Value = serde_json::from_slice(&get(format!("?to={to}&limit=100")).await).expect("JSON");
        let mut found = Vec::new();
        for email in page["emails"].as_array().expect("emails") {
            found.push(get(format!("/{}/raw", email["id"].as_str().expect("id"))).await);
        }
        // There may be one more, which was stored before the kill but not yet acknowledged.
        assert!(found.len() - mails.len() <= 1, "{} of {} for {to}", found.len(), mails.len());
        for mail in mails {
            assert!(found.iter().any(|raw| raw.ends_with(mail.as_bytes())), "lost or changed for {to}: {mail}");
        }
    }
}

async fn kill_under_load(kills: usize) {
    let dir = tempfile::tempdir().expect("directory");
    let mut expected: Vec<(String, Vec<String>)> = Vec::new();
    let mut daemon = Program::serve(dir.path(), &SETTINGS);
    for kill in 0..kills {
        let acknowledged = Arc::<AtomicUsize>::default();
        let wanted = rand::rng().random_range(1..ACKNOWLEDGED);
        let later = LATER.mul_f64(rand::random());
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let to = format!("k{kill}s{sender}@example.test");
                (to.clone(), tokio::spawn(send_until_gone(daemon.smtp, to, Arc::clone(&acknowledged))))
            })
            .collect();
        until("enough acknowledged messages", async || {
            assert!(!senders.iter().all(|(_, sender)| sender.is_finished()), "all senders have ended");
            acknowledged.load(Ordering::Relaxed) >= wanted
        })
        .await;
        // The kill comes at any moment of the other process, not only after one of its replies.
        tokio::time::sleep(later).await;
        daemon.kill();
        let before = expected.len();
        for (to, sender) in senders {
            expected.push((to, sender.await.expect("a sender")));
        }
        daemon = Program::serve(dir.path(), &SETTINGS);
        check(&daemon, &expected[before..]).await;
    }
    check(&daemon, &expected).await;
    let mails: usize = expected.iter().map(|(_, mails)| mails.len()).sum();
    println!("{kills} kills, {SENDERS} connections: {mails} acknowledged, all there");
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    kill_under_load(5).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: ten times the kills"]
async fn nothing_acknowledged_is_lost_in_fifty_kills() {
    kill_under_load(50).await;
}
