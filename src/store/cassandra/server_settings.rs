//! Looks whether the servers are set so that the promise of a 250 holds.
//!
//! What is found is logged and refuses nothing: a trial may do without.

use std::collections::HashMap;
use std::sync::Arc;

use scylla::client::session::Session;
use scylla::cluster::Node;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::Consistency;
use scylla::statement::unprepared::Statement;

use super::session::reason;

/// The copies of each row with which one server may be lost.
const COPIES_MIN: u32 = 3;

/// Warns of settings that break the promise, as far as the servers tell them.
pub(super) async fn check(session: &Session, keyspace: &str) {
    for node in session.get_cluster_state().get_nodes_info() {
        if commitlog_sync(session, node).await.as_deref() == Some("periodic") {
            tracing::warn!(
                server = %node.address,
                "this server of the cluster has commitlog_sync: periodic; if it is killed, it forgets mail that was \
                 acknowledged. Set it to batch or group"
            );
        }
    }
    let Some((replication, is_durable)) = replication(session, keyspace).await else { return };
    if !is_durable {
        tracing::warn!(keyspace, "the keyspace has durable_writes = false, so a server that restarts forgets mail");
    }
    let copies = replication.iter().filter(|(key, _)| *key != "class").filter_map(|(_, copies)| copies.parse().ok());
    if let Some(copies) = copies.min().filter(|copies: &u32| *copies < COPIES_MIN) {
        tracing::warn!(keyspace, copies, "the cluster keeps few copies of mail; with three, a server may be lost");
    }
}

/// The setting of one server; `None` if it does not tell.
async fn commitlog_sync(session: &Session, node: &Arc<Node>) -> Option<String> {
    let mut statement = Statement::new("SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'");
    statement.set_consistency(Consistency::One);
    statement.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(
        NodeIdentifier::Node(Arc::clone(node)),
        None,
    )));
    let result = match session.query_unpaged(statement, ()).await {
        Ok(result) => result,
        Err(error) => {
            tracing::debug!(server = %node.address, error = reason(&error), "a server does not tell its settings");
            return None;
        }
    };
    let rows = result.into_rows_result().ok()?;
    rows.maybe_first_row::<(String,)>().ok()?.map(|(value,)| value)
}

async fn replication(session: &Session, keyspace: &str) -> Option<(HashMap<String, String>, bool)> {
    let statement = "SELECT replication, durable_writes FROM system_schema.keyspaces WHERE keyspace_name = ?";
    let result = session.query_unpaged(statement, (keyspace,)).await.ok()?;
    result.into_rows_result().ok()?.maybe_first_row().ok()?
}
