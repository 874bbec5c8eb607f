//! One node at a time is lost, of Cassandra or of the service or one of each, while mail comes in at all nodes.

use std::cell::RefCell;
use std::fmt::from_fn;
use std::sync::Arc;
use std::time::Duration;

use tempmail::clock::{Clock, SystemClock};
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use super::events::Events;
use super::keyspace::Keyspace;
use super::ledger::expect_none;
use super::nodes::Nodes;
use super::traffic::Traffic;
use crate::support::ring::Ring;
use crate::support::until::until;

/// How long a paused node of Cassandra is paused. Its clients give it up in that time.
const PAUSED: Duration = Duration::from_secs(5);
/// A node of the service is killed when so much mail of a burst is acknowledged. All writes that wait for a paused node of
/// Cassandra are under way then.
const ACKNOWLEDGED: usize = 6;
/// The webhooks that a mail to them is for.
const EVENTS_OF_MAIL: usize = 4;

/// Sends and deletes mail through losses. Then nothing that was acknowledged is lost, doubled or back.
pub(super) async fn lose_one_at_a_time(ring: &Ring, keyspace: &Keyspace, nodes: &Arc<Nodes>) {
    let events = Events::begin(nodes, EVENTS_OF_MAIL).await;
    let traffic = Traffic::begin(Arc::clone(nodes), "losses");
    traffic.acknowledged(10).await;
    lose_cassandra(ring, keyspace, &traffic).await;
    let kills = lose_service(ring, nodes, &traffic).await;
    let ledger = traffic.end().await;
    events.end(kills).await;
    let begun = Instant::now();
    let faults = RefCell::new(Vec::new());
    let what = from_fn(|f| {
        writeln!(f, "mail of unknown outcome is with all of its recipients or with none: {:?}", faults.borrow())?;
        nodes.living().into_iter().try_for_each(|node| writeln!(f, "node {node} warned: {:?}", nodes.warnings(node)))
    });
    until(what, async || {
        faults.replace(ledger.faults_of_unknown(nodes).await);
        faults.borrow().is_empty()
    })
    .await;
    println!("losses: mail of unknown outcome is as it must be {:.1?} after the losses", begun.elapsed());
    expect_none(&ledger.faults(nodes).await, "after the losses");
    expect_none(&ledger.faults_of_octets(nodes).await, "after the losses");
    println!("losses: {}; all is as it must be", ledger.shown());
}

/// Runs a fault while mail goes on, and prints the longest time without a 250 at each node that ran all the time.
async fn during(what: &str, traffic: &Traffic, fault: impl AsyncFnOnce()) {
    let (before, refused, begun) = (traffic.nodes.living(), traffic.ledger.refused(), Instant::now());
    fault().await;
    let after = traffic.nodes.living();
    let ended = Instant::now();
    let ran = before.into_iter().filter(|node| after.contains(node));
    let gaps: Vec<String> =
        ran.map(|node| format!("{node}: {:.0?}", traffic.ledger.longest_gap(node, begun, ended))).collect();
    let refused = traffic.ledger.refused() - refused;
    println!(
        "losses: {what} ({:.1?}): longest time without a 250 at {}; {refused} mails refused",
        ended - begun,
        gaps.join(", ")
    );
}

async fn lose_cassandra(ring: &Ring, keyspace: &Keyspace, traffic: &Traffic) {
    during("all run", traffic, async || traffic.acknowledged(20).await).await;
    during("a node of Cassandra is killed", traffic, async || {
        block_in_place(|| ring.kill(1));
        traffic.acknowledged(20).await;
        traffic.deleted(30).await;
        keyspace.merged(ring, &[0, 2], SystemClock.now().plus(Duration::from_secs(1))).await;
    })
    .await;
    during("it comes back", traffic, async || {
        block_in_place(|| ring.start(1));
        block_in_place(|| ring.wait_until_complete());
        traffic.acknowledged(20).await;
    })
    .await;
    during("a node of Cassandra is paused", traffic, async || {
        block_in_place(|| ring.pause(2));
        sleep(PAUSED).await;
        traffic.acknowledged(20).await;
    })
    .await;
    during("it goes on", traffic, async || {
        block_in_place(|| ring.resume(2));
        block_in_place(|| ring.wait_until_complete());
        traffic.acknowledged(20).await;
    })
    .await;
}

/// Loses each node of the service, and at last one together with a node of Cassandra. Returns how many were killed.
pub(super) async fn lose_service(ring: &Ring, nodes: &Nodes, traffic: &Traffic) -> usize {
    for node in 0..nodes.count() {
        during("a node of the service is killed, a moment after one of Cassandra is paused", traffic, async || {
            let burst = traffic.connect("burst", node).await;
            block_in_place(|| ring.pause(node));
            let begun = Instant::now();
            let sent = burst.send();
            until("some mail of the burst is acknowledged", async || {
                traffic.ledger.acknowledged_since(node, begun) >= ACKNOWLEDGED
            })
            .await;
            nodes.kill(node);
            sent.join_all().await;
            traffic.acknowledged(10).await;
            block_in_place(|| ring.resume(node));
        })
        .await;
        block_in_place(|| ring.wait_until_complete());
        nodes.restart(node);
        traffic.acknowledged(10).await;
    }
    lose_both(ring, nodes, traffic).await;
    nodes.count() + 1
}

async fn lose_both(ring: &Ring, nodes: &Nodes, traffic: &Traffic) {
    during("a node of Cassandra and one of the service are killed at once", traffic, async || {
        block_in_place(|| ring.kill(0));
        nodes.kill(1);
        traffic.acknowledged(20).await;
    })
    .await;
    during("both come back", traffic, async || {
        nodes.restart(1);
        block_in_place(|| ring.start(0));
        block_in_place(|| ring.wait_until_complete());
        traffic.acknowledged(20).await;
    })
    .await;
}
