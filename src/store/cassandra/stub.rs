//! Stands in for the whole store, until it also keeps webhooks.

use std::sync::Arc;

use super::{CassandraOptions, CassandraStore};
use crate::store::{OpenError, Storage, StoreOptions};

impl CassandraStore {
    /// Connects as [`CassandraStore::connect`] does, for callers of any store.
    pub async fn open(options: &CassandraOptions, store: &StoreOptions) -> Result<Arc<dyn Storage>, OpenError> {
        Self::connect(options, store).await?;
        Err(OpenError::Cluster { reason: "this version keeps no webhooks there".into() })
    }
}
