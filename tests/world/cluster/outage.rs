//! Two of three nodes of Cassandra are lost, so no quorum is left.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::block_in_place;
use tokio::time::Instant;

use super::ledger::expect_none;
use super::nodes::{DOMAIN, Nodes};
use super::traffic::Traffic;
use crate::support::ring::Ring;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until;

/// How long each node is tried while the quorum is lost. It is longer than a node takes mail without an answer.
const OUTAGE: Duration = Duration::from_secs(6);
/// How often a node answers as it did before until it counts as well again.
const GOOD_ANSWERS: usize = 3;

/// Mail is neither taken nor shown without a quorum, and is there again with one.
pub(super) async fn lose_the_quorum(ring: &Ring, nodes: &Arc<Nodes>) {
    let traffic = Traffic::begin(Arc::clone(nodes), "outage");
    traffic.acknowledged(20).await;
    let ledger = traffic.end().await;
    block_in_place(|| ring.kill(0));
    block_in_place(|| ring.pause(1));
    let tries = nodes.living().into_iter().map(|node| refuses(nodes, node));
    let tries: usize = futures_util::future::join_all(tries).await.into_iter().sum();
    let begun = Instant::now();
    block_in_place(|| ring.resume(1));
    let again = nodes.living().into_iter().map(async |node| {
        let mut good = 0;
        until(format_args!("node {node} works again"), async || {
            good = if works(nodes, node).await { good + 1 } else { 0 };
            good == GOOD_ANSWERS
        })
        .await;
        format!("{node}: {:.1?}", begun.elapsed())
    });
    let again = futures_util::future::join_all(again).await.join(", ");
    println!("outage: {tries} times refused; with two nodes of Cassandra again, nodes work after {again}");
    expect_none(&ledger.faults(nodes).await, "with two nodes of Cassandra again");
    block_in_place(|| ring.start(0));
    block_in_place(|| ring.wait_until_complete());
    expect_none(&ledger.faults(nodes).await, "with all nodes of Cassandra again");
    println!("outage: {}", ledger.shown());
}

/// Nothing of a node may work. Returns how often it was tried.
async fn refuses(nodes: &Nodes, node: usize) -> usize {
    let (begun, mut tries, nobody) = (Instant::now(), 0, list_of("nobody"));
    while begun.elapsed() < OUTAGE {
        let (list, ready, reply) =
            tokio::join!(nodes.get(node, &nobody), nodes.get(node, "/readyz"), reply_to_mail(nodes, node));
        let (status, body) = list.expect("an answer");
        assert_eq!(status, 503, "node {node}: a list without a quorum: {}", String::from_utf8_lossy(&body));
        assert_eq!(ready.expect("an answer").0, 503, "node {node}: it is ready without a quorum");
        assert!(reply.starts_with("451"), "node {node}: mail without a quorum: {reply}");
        tries += 1;
    }
    tries
}

async fn works(nodes: &Nodes, node: usize) -> bool {
    let list = nodes.get(node, &list_of("nobody")).await.expect("an answer");
    let is_ready = nodes.get(node, "/readyz").await.expect("an answer").0 == 200;
    is_ready && list.0 == 200 && is_page(&list.1) && reply_to_mail(nodes, node).await.starts_with("250")
}

fn is_page(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|page| page["emails"].is_array())
}

fn list_of(user: &str) -> String {
    format!("/api/mail/messages?to={user}@{DOMAIN}")
}

/// The first reply to a mail that does not let it go on, or the last one.
async fn reply_to_mail(nodes: &Nodes, node: usize) -> String {
    let mut peer = SmtpPeer::greeted(nodes.running(node).await.smtp).await;
    peer.command("EHLO c.test", "250").await;
    let rcpt = format!("RCPT TO:<outage@{DOMAIN}>\r\n");
    for (command, expected) in [("MAIL FROM:<a@sender.test>\r\n", "250"), (&rcpt, "250"), ("DATA\r\n", "354")] {
        let reply = peer.try_exchange(command).await;
        if !reply.starts_with(expected) {
            return reply;
        }
    }
    peer.try_exchange("Subject: outage\r\n\r\n.\r\n").await
}
