//! Work that one node does at a time passes on when its node dies, is suspended or stops.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::nodes::Nodes;
use crate::support::until::{until, until_some};

/// How many leases there are for events of webhooks.
const SHARDS: usize = 8;
const TOOK: &str = "this node took a lease";
const LOST: &str = "this node lost a lease";
/// Some lease that one node holds for all.
const ALONE: &str = "verification";
/// How long a holder is suspended: longer than its lease.
const SUSPENDED: Duration = Duration::from_secs(8);
/// The leases of a dead node have other holders in this time: 6 s, and as much again where many tests run at once.
const REPLACED_WITHIN: Duration = Duration::from_secs(12);
/// The leases of a node that stops have other holders in this time: 1.5 s, and more where many tests run at once. It is less
/// than the life of a lease.
const GIVEN_BACK_WITHIN: Duration = Duration::from_millis(3500);

/// Kills a holder, suspends one and stops one.
pub(super) async fn pass_on(nodes: &Nodes) {
    let begun = Instant::now();
    let dead = any_holder(nodes).await;
    println!("leases: all have holders after {:.1?}", begun.elapsed());
    let held = Held::by(nodes, dead);
    nodes.kill(dead);
    let longest = held.pass_on(nodes, "killed").await;
    assert!(longest < REPLACED_WITHIN, "a dead node is replaced late");
    nodes.restart(dead);

    let suspended = any_holder(nodes).await;
    let held = Held::by(nodes, suspended);
    nodes.signal(suspended, Signal::STOP);
    sleep(SUSPENDED).await;
    assert!(held.names().all(|lease| held.is_passed_on(nodes, lease)), "the leases of a suspended node are not taken");
    nodes.signal(suspended, Signal::CONT);
    until("the node finds that it has lost its lease", async || {
        events(nodes, suspended, ALONE).last().is_some_and(|event| !event.is_taken)
    })
    .await;
    assert!(held.names().all(|lease| holder(nodes, lease) != Some(suspended)), "a lease is taken from its new holder");
    println!("leases: a node that was suspended for {SUSPENDED:?} has lost {}", held.leases.len());

    let stopping = any_holder(nodes).await;
    let held = Held::by(nodes, stopping);
    nodes.signal(stopping, Signal::TERM);
    let longest = held.pass_on(nodes, "stopped").await;
    assert!(longest < GIVEN_BACK_WITHIN, "a node that stops is replaced late");
    nodes.wait_for_end(stopping);
    nodes.restart(stopping);
}

/// The node with a lease that one holds for all, as soon as every lease has a holder.
async fn any_holder(nodes: &Nodes) -> usize {
    until_some("each lease has a holder", async || {
        let leases = (0..SHARDS).map(|shard| format!("dispatch-{shard}"));
        leases.map(|lease| holder(nodes, &lease)).all(|holder| holder.is_some()).then(|| holder(nodes, ALONE))?
    })
    .await
}

/// The leases that a node held at a moment, each with the number of times that the others had taken it before.
struct Held {
    node: usize,
    leases: BTreeMap<String, usize>,
    at: Instant,
}

impl Held {
    fn by(nodes: &Nodes, node: usize) -> Self {
        let leases = nodes.log(node).into_iter().filter_map(|line| line["lease"].as_str().map(str::to_owned));
        let leases = leases.filter(|lease| holder(nodes, lease) == Some(node));
        let leases = leases.map(|lease| (lease.clone(), taken_by_others(nodes, node, &lease))).collect();
        Self { node, leases, at: Instant::now() }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.leases.keys().map(String::as_str)
    }

    fn is_passed_on(&self, nodes: &Nodes, lease: &str) -> bool {
        taken_by_others(nodes, self.node, lease) > self.leases[lease]
    }

    /// Waits until others hold all of them. Prints and returns the longest time that one had no holder.
    async fn pass_on(&self, nodes: &Nodes, how: &str) -> Duration {
        let mut waiting: Vec<&str> = self.names().collect();
        let mut times = Vec::new();
        until("others take the leases", async || {
            waiting.retain(|lease| {
                let is_passed_on = self.is_passed_on(nodes, lease);
                if is_passed_on {
                    times.push((self.at.elapsed(), (*lease).to_owned()));
                }
                !is_passed_on
            });
            waiting.is_empty()
        })
        .await;
        let shown: Vec<String> = times.iter().map(|(time, lease)| format!("{lease} {time:.1?}")).collect();
        println!("leases: a node that was {how} has others in its place after: {}", shown.join(", "));
        times.last().expect("a lease").0
    }
}

/// How often the other nodes that run have taken a lease.
fn taken_by_others(nodes: &Nodes, node: usize, lease: &str) -> usize {
    let others = nodes.living().into_iter().filter(|other| *other != node);
    others.flat_map(|other| events(nodes, other, lease)).filter(|event| event.is_taken).count()
}

/// The node that took a lease last. One that gave it back is still named until another one takes it.
fn holder(nodes: &Nodes, lease: &str) -> Option<usize> {
    let taken = nodes.living().into_iter().filter_map(|node| {
        let last = events(nodes, node, lease).into_iter().rfind(|event| event.is_taken)?;
        Some((last.at, node))
    });
    taken.max().map(|(_, node)| node)
}

/// A node took a lease, or lost one.
struct LeaseEvent {
    /// As the log writes it, so that later times sort behind earlier ones.
    at: String,
    is_taken: bool,
}

fn events(nodes: &Nodes, node: usize, lease: &str) -> Vec<LeaseEvent> {
    let lines = nodes.log(node).into_iter().filter(|line| line["lease"] == lease);
    let lines = lines.filter(|line| [TOOK, LOST].iter().any(|message| line["message"] == *message));
    let at = |line: &Value| line["timestamp"].as_str().expect("a time").to_owned();
    lines.map(|line| LeaseEvent { at: at(&line), is_taken: line["message"] == TOOK }).collect()
}
