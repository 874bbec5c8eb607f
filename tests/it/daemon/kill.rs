//! The process is killed right after it has said 250.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::RngExt;

use crate::support::binary::Binary;
use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;

const SENDERS: usize = 6;
const ROUNDS: usize = 3;
/// So many are acknowledged before each kill, over all senders.
const ACKNOWLEDGED: usize = 40;

/// Sends mail to a mailbox until the server is gone; what was acknowledged.
async fn send_until_gone(server: SocketAddr, to: String, acknowledged: Arc<AtomicUsize>) -> Vec<String> {
    let mut kept = Vec::new();
    let Some(mut peer) = SmtpPeer::try_connect(server).await else { return kept };
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
            kept.push(mail);
        }
    }
    kept
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let dir = tempfile::tempdir().expect("directory");
    let mut expected: Vec<(String, Vec<String>)> = Vec::new();
    let mut daemon = Binary::serve(dir.path(), &["--max-message-size", "64KB", "--segment-size", "1MB"]);
    for round in 0..ROUNDS {
        let acknowledged = Arc::<AtomicUsize>::default();
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let to = format!("r{round}s{sender}@example.test");
                (to.clone(), tokio::spawn(send_until_gone(daemon.smtp, to, Arc::clone(&acknowledged))))
            })
            .collect();
        while acknowledged.load(Ordering::Relaxed) < ACKNOWLEDGED {
            assert!(!senders.iter().all(|(_, sender)| sender.is_finished()), "nobody sends any more");
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        daemon.kill();
        for (to, sender) in senders {
            expected.push((to, sender.await.expect("a sender")));
        }
        daemon = Binary::serve(dir.path(), &["--max-message-size", "64KB", "--segment-size", "1MB"]);
    }
    for (to, mails) in expected {
        let page = http::inbox(daemon.http, &to).await;
        let mut found = Vec::new();
        for email in page["emails"].as_array().expect("emails") {
            found.push(http::raw(daemon.http, email["id"].as_str().expect("id")).await.expect("its octets"));
        }
        // One more may be there: stored, and killed before its 250.
        assert!(found.len() - mails.len() <= 1, "{} of {}", found.len(), mails.len());
        for mail in mails {
            assert!(found.iter().any(|raw| raw.ends_with(mail.as_bytes())), "lost or changed for {to}: {mail}");
        }
    }
    daemon.stop();
}
