//! The store in a cluster, on a real node of Cassandra.

mod backup;
mod burst;
mod caps;
mod check;
mod commands;
mod first;
mod following;
mod leaders;
mod leases;
mod lists;
mod on_its_way;
mod outbox;
mod restore;
mod rows;
mod schema;
mod ties;
mod webhooks;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tempmail::clock::Clock;
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::{Storage, StoreOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::suites::conformance::conformance;
use crate::suites::leases::leases_conformance;
use crate::suites::options as embedded_options;
use crate::suites::outbox_conformance::{outbox_conformance, outbox_shares};
use crate::support::keyspaces;

/// The connection to an empty keyspace of its own.
pub async fn keyspace() -> CassandraOptions {
    keyspaces::empty().await
}

/// A store in an empty keyspace of its own.
pub async fn store(options: &StoreOptions) -> Arc<CassandraStore> {
    node(&keyspace().await, options).await
}

/// One more node of the service in a keyspace.
pub async fn node(connection: &CassandraOptions, options: &StoreOptions) -> Arc<CassandraStore> {
    Arc::new(Box::pin(CassandraStore::connect(connection, options)).await.expect("connect"))
}

/// Runs a node as a daemon does, until it is told to stop.
pub fn run(node: &Arc<CassandraStore>, clock: Arc<dyn Clock>, stop: &CancellationToken) -> JoinHandle<()> {
    let (node, stop) = (Arc::clone(node), stop.clone());
    tokio::spawn(async move { node.run(clock, stop).await })
}

async fn in_cluster() -> Arc<dyn Storage> {
    store(&embedded_options()).await
}

fn with_outbox(options: StoreOptions) -> BoxFuture<'static, Arc<dyn Storage>> {
    Box::pin(async move { store(&options).await as Arc<dyn Storage> })
}

conformance!(in_cluster, #[ignore = "needs Cassandra"]);
leases_conformance!(in_cluster, #[ignore = "needs Cassandra"]);
outbox_conformance!(with_outbox, #[ignore = "needs Cassandra"]);
outbox_shares!(with_outbox, #[ignore = "needs Cassandra"]);
