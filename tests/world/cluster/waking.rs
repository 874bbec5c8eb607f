//! Mail that one node takes wakes those who wait at another.

use std::time::Duration;

use tokio::time::Instant;

use super::nodes::{DOMAIN, Nodes};
use crate::support::smtp_peer::SmtpPeer;

/// Mailboxes with somebody who waits, at once.
const WAITERS: usize = 10;
const ROUNDS: usize = 10;

/// Prints how long after the 250 of one node the answer of another comes.
pub(super) async fn wake_elsewhere(nodes: &Nodes) {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let woken = (0..WAITERS).map(|waiter| wake(nodes, format!("waking-{round}-{waiter}@{DOMAIN}"), waiter));
        times.extend(futures_util::future::join_all(woken).await);
    }
    times.sort_unstable();
    let [median, p99] = [50, 99].map(|percent| times[times.len() * percent / 100]);
    println!("waking: {} times, median {median:.0?}, p99 {p99:.0?} after the 250 of another node", times.len());
}

async fn wake(nodes: &Nodes, to: String, waiter: usize) -> Duration {
    let (at, sender) = (waiter % nodes.count(), (waiter + 1) % nodes.count());
    let waiting = async {
        let (status, _) = nodes.get(at, &format!("/api/mail/wait?to={to}&timeout=15")).await.expect("an answer");
        assert_eq!(status, 200, "nobody woke who waits at node {at} for {to}");
        Instant::now()
    };
    let sending = async {
        let mut peer = SmtpPeer::greeted(nodes.running(sender).await.smtp).await;
        peer.deliver(&to, "Subject: wake\r\n\r\ntext").await;
        Instant::now()
    };
    let (woken, sent) = tokio::join!(waiting, sending);
    woken.saturating_duration_since(sent)
}
