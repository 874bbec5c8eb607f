//! Clients that follow one mailbox by `since=` meet every mail once, at whichever node they ask, while nodes fail.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::nodes::{DOMAIN, Nodes};
use super::traffic::Traffic;
use crate::support::ring::Ring;

const READERS: usize = 10;
/// Connections to each node, all for the same mailbox.
const SENDERS: usize = 1;
const PAUSED: Duration = Duration::from_secs(3);

/// What a reader met, in its order.
type Met = Vec<String>;

/// Follows the mailbox through kills and pauses.
pub(super) async fn meet_every_mail_once(ring: &Ring, nodes: &Arc<Nodes>) {
    let to = format!("followed@{DOMAIN}");
    let traffic = Traffic::to(Arc::clone(nodes), SENDERS, |_, _| {
        let to = to.clone();
        Box::new(move |_| vec![to.clone()])
    });
    let ended = CancellationToken::new();
    let mut readers: JoinSet<Met> =
        (0..READERS).map(|reader| follow(Arc::clone(nodes), reader, to.clone(), ended.clone())).collect();
    traffic.acknowledged(4).await;
    block_in_place(|| ring.pause(0));
    sleep(PAUSED).await;
    block_in_place(|| ring.resume(0));
    block_in_place(|| ring.wait_until_complete());
    for node in 0..nodes.count() {
        nodes.signal(node, rustix::process::Signal::STOP);
        sleep(PAUSED).await;
        nodes.signal(node, rustix::process::Signal::CONT);
        traffic.acknowledged(2).await;
        nodes.kill(node);
        traffic.acknowledged(2).await;
        nodes.restart(node);
    }
    block_in_place(|| ring.kill(2));
    traffic.acknowledged(4).await;
    block_in_place(|| ring.start(2));
    block_in_place(|| ring.wait_until_complete());
    let acknowledged: HashSet<String> =
        traffic.end().await.acknowledged().into_iter().map(|(token, _)| token).collect();
    // Readers wait for 1 s at most, and go on once more after the end.
    sleep(Duration::from_secs(8)).await;
    ended.cancel();
    let begun = Instant::now();
    while let Some(met) = readers.join_next().await {
        let met = met.expect("no panic");
        let mut times: HashMap<&str, usize> = HashMap::new();
        for token in &met {
            *times.entry(token).or_default() += 1;
        }
        let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "met more than once: {twice:?}");
        let missed: Vec<_> = acknowledged.iter().filter(|token| !times.contains_key(token.as_str())).collect();
        assert!(
            missed.is_empty(),
            "{} of {} acknowledged mails were passed over: {missed:?}",
            missed.len(),
            acknowledged.len()
        );
    }
    println!(
        "following: {READERS} readers met each of {} acknowledged mails once ({:.1?})",
        acknowledged.len(),
        begun.elapsed()
    );
}

/// Goes from mail to mail, each time at another node, until there is none after the end.
async fn follow(nodes: Arc<Nodes>, reader: usize, to: String, ended: CancellationToken) -> Met {
    let (mut met, mut since, mut turn) = (Vec::new(), String::new(), reader);
    loop {
        turn += 1;
        let is_last = ended.is_cancelled();
        let path = format!("/api/mail/wait?to={to}&timeout=1{since}");
        match nodes.get(turn % nodes.count(), &path).await {
            Ok((200, body)) => {
                let email: Value = serde_json::from_slice(&body).expect("JSON");
                let text = |name: &str| email[name].as_str().expect(name).to_owned();
                met.push(text("subject"));
                since = format!("&since={}", text("id"));
            }
            Ok((204, _)) if is_last => return met,
            _ => sleep(Duration::from_millis(20)).await,
        }
    }
}
