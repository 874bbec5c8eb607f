//! Making the keyspace of a store.

use std::collections::BTreeMap;

use scylla::client::session::Session;

use super::{CassandraOptions, CassandraStore, cluster, schema};
use crate::store::OpenError;

impl CassandraStore {
    /// Makes the keyspace with its tables, unless they are there. Returns whether this made them.
    ///
    /// Each row is kept by `replication` nodes of the data centre; a cluster with fewer nodes is refused.
    pub async fn init(options: &CassandraOptions, replication: u32) -> Result<bool, OpenError> {
        let session = cluster::connect(options).await?;
        let data_centers = data_centers(&session);
        let chosen = match (&options.data_center, data_centers.len()) {
            (Some(named), _) => named.clone(),
            (None, 1) => data_centers.keys().next().cloned().unwrap_or_default(),
            (None, _) => {
                let names = data_centers.into_keys().collect::<Vec<_>>().join(", ");
                return Err(OpenError::Cluster {
                    reason: format!("it has several data centres ({names}); name yours at the end of store: ?dc=NAME"),
                });
            }
        };
        match data_centers.get(&chosen) {
            None => Err(OpenError::Cluster { reason: format!("it has no data centre '{chosen}'") }),
            Some(nodes) if *nodes < replication => Err(OpenError::Cluster {
                reason: format!(
                    "{replication} nodes are to keep each row, but the data centre '{chosen}' has {nodes}; \
                     for a trial name fewer by --replication"
                ),
            }),
            Some(_) => schema::create(&session, &options.keyspace, &chosen, replication).await,
        }
    }
}

/// The data centres of a cluster, each with the number of its servers.
fn data_centers(session: &Session) -> BTreeMap<String, u32> {
    let mut servers = BTreeMap::new();
    for data_center in session.get_cluster_state().get_nodes_info().iter().filter_map(|node| node.datacenter.clone()) {
        *servers.entry(data_center).or_default() += 1;
    }
    servers
}
