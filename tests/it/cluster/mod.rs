//! Several nodes of the service over a ring of three nodes of Cassandra, while nodes of both fail.
//!
//! ```text
//! nodes      the daemons, each a process           keyspace   what they share
//! traffic    senders, and one who deletes          ledger     what was acknowledged, and what must hold of it
//! losses     one node at a time is lost            outage     two of three nodes of Cassandra are lost
//! clocks     the clocks of two nodes differ        waking     mail of one node wakes those who wait at another
//! leases     who does the work of a node that died
//! ```
//!
//! All runs share one ring, which takes a while to start, and so they are one test.

mod clocks;
mod keyspace;
mod leases;
mod ledger;
mod losses;
mod nodes;
mod outage;
mod traffic;
mod waking;

use std::sync::Arc;

use tokio::task::{block_in_place, spawn_blocking};

use crate::support::ring::Ring;
use keyspace::Keyspace;
use nodes::Nodes;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nodes_that_share_a_ring_keep_their_promises_while_some_fail() {
    let ring = spawn_blocking(|| Ring::of_three_without_handoff("a cluster of the service")).await.expect("the ring");
    let Some(ring) = ring else { return };
    let keyspace = block_in_place(|| tokio::runtime::Handle::current().block_on(Keyspace::new(&ring)));
    clocks::keep_order(&keyspace).await;
    let nodes = Arc::new(Nodes::start(&keyspace.store, 3));
    waking::wake_elsewhere(&nodes).await;
    leases::pass_on(&nodes).await;
    losses::lose_one_at_a_time(&ring, &keyspace, &nodes).await;
    outage::lose_the_quorum(&ring, &nodes).await;
    // The ring blocks this thread while it ends.
    block_in_place(|| drop((nodes, ring)));
}
