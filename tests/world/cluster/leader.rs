//! The work that one node does for all passes on when that node dies, is suspended or stops.

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use super::nodes::Nodes;
use crate::support::until::{until, until_some};

const LEADS: &str = "this node leads";
const NO_LONGER: &str = "this node leads no longer";
/// How long a leader is suspended: longer than the lead lasts.
const SUSPENDED: Duration = Duration::from_secs(12);
/// A dead node has another one in its place in this time: 10 s, and as much again where many tests run at once.
const REPLACED_WITHIN: Duration = Duration::from_secs(20);
/// A node that stops gives the lead back: 1.5 s, and more where many tests run at once. It is less than the lead lasts.
const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(5);

/// Kills a leader, suspends one and stops one.
pub(super) async fn passes_on(nodes: &Nodes) {
    let dead = leader(nodes, None).await;
    let begun = Instant::now();
    nodes.kill(dead);
    let replaced = leader(nodes, Some(dead)).await;
    let took = begun.elapsed();
    println!("leader: a node that was killed has another one in its place after {took:.1?}");
    assert!(took < REPLACED_WITHIN, "a dead node is replaced late");
    nodes.restart(dead);

    nodes.signal(replaced, Signal::STOP);
    sleep(SUSPENDED).await;
    let next = leader(nodes, Some(replaced)).await;
    nodes.signal(replaced, Signal::CONT);
    until("the node finds that it leads no longer", async || leads(nodes, replaced) == Some(false)).await;
    println!("leader: a node that was suspended for {SUSPENDED:?} leads no longer");

    let begun = Instant::now();
    nodes.signal(next, Signal::TERM);
    nodes.wait_for_end(next);
    leader(nodes, Some(next)).await;
    let took = begun.elapsed();
    println!("leader: a node that was stopped has another one in its place after {took:.1?}");
    assert!(took < GIVEN_BACK_WITHIN, "a node that stops is replaced late");
    nodes.restart(next);
}

/// The node that leads, as soon as one does that is not `gone`.
async fn leader(nodes: &Nodes, gone: Option<usize>) -> usize {
    until_some("a node leads", async || {
        let mut others = nodes.living().into_iter().filter(|node| Some(*node) != gone);
        others.find(|node| leads(nodes, *node) == Some(true))
    })
    .await
}

/// What a node said last of whether it leads.
fn leads(nodes: &Nodes, node: usize) -> Option<bool> {
    let said = nodes.log(node).into_iter().rev().find(|line| line["message"] == LEADS || line["message"] == NO_LONGER);
    said.map(|line| line["message"] == LEADS)
}
