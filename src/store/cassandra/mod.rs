//! The store in a cluster of Apache Cassandra, for several nodes of the service that share their mail.
//!
//! ```text
//! options   where the cluster is, and how it is asked
//! stub      stands in for what opens and makes the store
//! ```

mod options;
mod stub;

use super::{OpenError, StoreOptions};
pub use options::CassandraOptions;

/// A store in a cluster.
#[derive(Debug)]
pub struct CassandraStore {}

impl CassandraStore {
    /// Connects to the cluster. The keyspace must have the schema of this version; `tempmail db init` makes it.
    pub async fn connect(_options: &CassandraOptions, _store: &StoreOptions) -> Result<Self, OpenError> {
        Err(OpenError::Empty)
    }
}
