//! Several nodes of the service over a ring of three nodes of Cassandra, while nodes of both fail.
//!
//! ```text
//! nodes      the daemons, each a process           keyspace   what they share
//! traffic    senders, and one who deletes          ledger     what was acknowledged, and what must hold of it
//! losses     one node at a time is lost            outage     two of three nodes of Cassandra are lost
//! clocks     the clocks of two nodes differ        waking     mail of one node wakes those who wait at another
//! leader     who does the work of a node that died    events     webhooks get an event for each mail
//! following  clients follow a mailbox by since=         starting   nodes that start at one moment, and their tokens
//! repair     servers are repaired and compacted        leases     private inboxes
//! ```
//!
//! All runs share one ring, which takes a while to start, and so they are one test.
//! Promise: it outlives the code below it.

mod clocks;
mod events;
mod following;
mod hints;
mod keyspace;
mod leader;
mod leases;
mod ledger;
mod losses;
mod nodes;
mod outage;
mod repair;
mod starting;
mod traffic;
mod waking;

use std::sync::Arc;

use tokio::task::{block_in_place, spawn_blocking};

use crate::support::ring::Ring;
use events::Events;
use keyspace::Keyspace;
use nodes::Nodes;

/// How many events the long run has.
const EVENTS: usize = 20_000;
/// The events of one of its mails.
const EVENTS_OF_MAIL: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs Cassandra"]
async fn nodes_that_share_a_ring_keep_their_promises_while_some_fail() {
    let (ring, keyspace) = start().await;
    clocks::keep_order(&keyspace).await;
    Box::pin(starting::share_what_was_typed_in(&ring)).await;
    let nodes = Arc::new(Nodes::start(&keyspace.store, 3));
    waking::wake_elsewhere(&nodes).await;
    leader::passes_on(&nodes).await;
    leases::are_shared(&nodes).await;
    following::meet_every_mail_once(&ring, &nodes).await;
    losses::lose_one_at_a_time(&ring, &keyspace, &nodes).await;
    outage::lose_the_quorum(&ring, &nodes).await;
    // The ring blocks this thread while it ends.
    block_in_place(|| drop((nodes, ring)));
}

/// `cargo test --locked --features cassandra --test world on_demand_twenty_thousand -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs Cassandra and a quarter of an hour"]
async fn on_demand_twenty_thousand_events_arrive_while_nodes_fail() {
    let (ring, keyspace) = start().await;
    let nodes = Arc::new(Nodes::start(&keyspace.store, 3));
    let events = Events::begin(&nodes, EVENTS_OF_MAIL).await;
    let mut kills = 0;
    while Events::acknowledged(&events.traffic.ledger).len() < EVENTS {
        kills += losses::lose_service(&ring, &nodes, &events.traffic).await;
    }
    events.end(kills).await;
    block_in_place(|| drop((nodes, ring)));
}

/// `cargo test --locked --features cassandra --test world on_demand_repair -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs Cassandra and ten minutes"]
async fn on_demand_repair_and_compaction_bring_nothing_back_and_lose_nothing() {
    let (ring, keyspace) = start().await;
    let nodes = Arc::new(Nodes::start(&keyspace.store, 3));
    repair::repair_and_compact(&ring, &keyspace, &nodes).await;
    block_in_place(|| drop((nodes, ring)));
}

/// `cargo test --locked --features cassandra --test world on_demand_leases -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs Cassandra"]
async fn on_demand_leases_are_the_same_at_all_nodes() {
    let (ring, keyspace) = start().await;
    let nodes = Arc::new(Nodes::start(&keyspace.store, 3));
    leases::are_shared(&nodes).await;
    block_in_place(|| drop((nodes, ring)));
}

/// A ring and its keyspace.
async fn start() -> (Ring, Keyspace) {
    let ring = spawn_blocking(Ring::of_three_without_handoff).await.expect("the ring");
    let keyspace = block_in_place(|| tokio::runtime::Handle::current().block_on(Keyspace::new(&ring)));
    (ring, keyspace)
}
