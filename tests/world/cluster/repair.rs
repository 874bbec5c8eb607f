//! Servers are repaired, and merge all their files, while mail comes in and is deleted.

use std::sync::Arc;

use tokio::task::block_in_place;
use tokio::time::Instant;

use super::keyspace::Keyspace;
use super::ledger::expect_none;
use super::nodes::Nodes;
use super::traffic::Traffic;
use crate::support::ring::Ring;

/// What an operator runs at one server after the other.
const COMMANDS: [&[&str]; 3] = [&["flush"], &["repair", "-full"], &["compact"]];

/// One server misses mail and deletions, and gets them by repair alone. Then nothing that was acknowledged is lost, doubled or
/// back.
pub(super) async fn repair_and_compact(ring: &Ring, keyspace: &Keyspace, nodes: &Arc<Nodes>) {
    let traffic = Traffic::begin(Arc::clone(nodes), "repair");
    traffic.acknowledged(10).await;
    traffic.deleted(20).await;
    block_in_place(|| ring.kill(1));
    traffic.acknowledged(10).await;
    traffic.deleted(40).await;
    block_in_place(|| ring.start(1));
    block_in_place(|| ring.wait_until_complete());
    for server in 0..3 {
        for command in COMMANDS {
            let begun = Instant::now();
            block_in_place(|| ring.nodetool(server, &[command, &[&*keyspace.name]].concat()));
            println!("repair: {command:?} at server {server}: {:.1?}", begun.elapsed());
        }
        traffic.acknowledged(3).await;
        traffic.deleted(10).await;
    }
    let ledger = traffic.end().await;
    expect_none(&ledger.faults(nodes).await, "after repair and compaction");
    expect_none(&ledger.faults_of_octets(nodes).await, "after repair and compaction");
    println!("repair: {}; all is as it must be", ledger.shown());
}
