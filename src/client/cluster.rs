//! Making the store in a cluster.

use crate::config::{self, Sources, StoreLocation};
use crate::error::Error;
use crate::store;

pub use crate::store::Initialized;

/// Makes keyspace and schema in the cluster that the settings name, as far as they are not there.
///
/// `replication` is the number of copies of each row in a keyspace that is made. An embedded store is a usage error, since
/// it needs nothing.
pub async fn init_cluster(sources: &Sources, replication: u32) -> Result<Initialized, Error> {
    let config = config::load(sources)?.config;
    if config.store.location == StoreLocation::Embedded {
        let cause = format!("mail is kept in {}, where `tempmail serve` makes the store", config.data_dir.display());
        return Err(Error::usage(cause)
            .hint("for a cluster set TEMPMAIL_STORE=cassandra://HOST/KEYSPACE, or store in the configuration file"));
    }
    Ok(store::init_cluster(&config, replication).await?)
}
