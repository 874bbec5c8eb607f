//! Stands in for what opens and makes the store, until that is there.

use std::sync::Arc;

use tokio::net::TcpStream;

use super::{CassandraOptions, CassandraStore};
use crate::store::{Initialized, OpenError, Storage, StoreOptions};

impl CassandraStore {
    /// Connects as [`CassandraStore::connect`] does, for callers of any store.
    pub async fn open(options: &CassandraOptions, _store: &StoreOptions) -> Result<Arc<dyn Storage>, OpenError> {
        reached(options).await?;
        Err(OpenError::NoKeyspace { keyspace: options.keyspace.clone() })
    }

    /// Makes keyspace and schema as far as they are not there.
    pub async fn init(options: &CassandraOptions, _replication: u32) -> Result<Initialized, OpenError> {
        reached(options).await?;
        Ok(Initialized { keyspace: options.keyspace.clone(), is_new: false, schema: 0 })
    }
}

async fn reached(options: &CassandraOptions) -> Result<(), OpenError> {
    let mut reason = String::new();
    for point in &options.contact_points {
        match TcpStream::connect(point).await {
            Ok(_) => return Ok(()),
            Err(error) => reason = format!("{point}: {error}"),
        }
    }
    Err(OpenError::Cluster { reason })
}
