//! The store in a cluster, on a real node of Cassandra.

mod backup;
mod check;
mod restore;

use std::sync::Arc;
use std::time::Duration;

use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::{Store, StoreOptions};

use super::conformance::conformance;
use super::embedded::options as embedded_options;
use crate::support::ring::Ring;

/// The connection to a new keyspace with one copy of each row.
pub async fn keyspace(ring: &Ring) -> CassandraOptions {
    let options = CassandraOptions {
        contact_points: ring.contact_points().iter().map(ToString::to_string).collect(),
        keyspace: ring.fresh_keyspace(),
        data_center: None,
        credentials: None,
        tls: None,
        timeout: Duration::from_secs(10),
        grace: Duration::from_hours(1),
    };
    assert_eq!(CassandraStore::init(&options, 1).await, Ok(true), "a new keyspace");
    options
}

/// The connection to a keyspace of its own; `None` if the test is skipped.
pub async fn connection() -> Option<CassandraOptions> {
    let ring = tokio::task::spawn_blocking(|| Ring::shared("a store in a cluster")).await.expect("the ring")?;
    Some(keyspace(ring).await)
}

/// A store in a keyspace of its own; `None` if the test is skipped.
pub async fn store(options: &StoreOptions) -> Option<Arc<CassandraStore>> {
    let connection = connection().await?;
    Some(Arc::new(CassandraStore::connect(&connection, options).await.expect("connect")))
}

async fn in_cluster() -> Option<Arc<dyn Store>> {
    store(&embedded_options()).await.map(|store| store as Arc<dyn Store>)
}

conformance!(in_cluster);
