//! The store in a cluster, on a real node of Cassandra.

mod backup;
mod burst;
mod caps;
mod check;
mod commands;
mod outbox;
mod restore;
mod schema;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::{Storage, StoreOptions};

use crate::suites::conformance::conformance;
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

async fn in_cluster() -> Arc<dyn Storage> {
    store(&embedded_options()).await
}

fn with_outbox(options: StoreOptions) -> BoxFuture<'static, Arc<dyn Storage>> {
    Box::pin(async move { store(&options).await as Arc<dyn Storage> })
}

conformance!(in_cluster, #[ignore = "needs Cassandra"]);
outbox_conformance!(with_outbox, #[ignore = "needs Cassandra"]);
outbox_shares!(with_outbox, #[ignore = "needs Cassandra"]);
