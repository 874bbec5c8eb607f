//! The keyspace of the nodes: three copies of each row, and tables that lose their garbage as soon as they may.

use std::time::Duration;

use tempmail::model::Timestamp;
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tokio::task::block_in_place;

use crate::suites;
use crate::support::ring::Ring;
use crate::support::until::until;

/// The tables whose rows a deletion removes.
const TABLES: [&str; 4] = ["message", "email", "recipient", "log"];
/// What is written goes to files every second, and these are merged as soon as there are two. So a deletion that may be
/// forgotten is forgotten within seconds, and not after days.
const AT_ONCE: &str = "memtable_flush_period_in_ms = 1000 AND compaction = {'class': 'SizeTieredCompactionStrategy', \
     'min_threshold': 2, 'tombstone_threshold': 0.01, 'unchecked_tombstone_compaction': true, \
     'tombstone_compaction_interval': 1}";

/// The keyspace of a run.
pub(super) struct Keyspace {
    pub(super) name: String,
    /// What `--store` is given.
    pub(super) store: String,
}

impl Keyspace {
    /// Makes one.
    pub(super) async fn new(ring: &Ring) -> Self {
        let contact_points: Vec<String> = ring.contact_points().iter().map(ToString::to_string).collect();
        let name = ring.fresh_keyspace();
        let store = format!("cassandra://{}/{name}", contact_points.join(","));
        let options = CassandraOptions {
            contact_points,
            keyspace: name.clone(),
            data_center: None,
            credentials: None,
            tls: None,
            timeout: Duration::from_secs(10),
            grace: Duration::from_hours(1),
            replication: 3,
        };
        assert_eq!(CassandraStore::create(&options, &suites::options()).await, Ok(true), "a new keyspace");
        for table in TABLES {
            ring.query(0, &format!("ALTER TABLE {name}.{table} WITH {AT_ONCE}")).expect("the table is changed");
        }
        Self { name, store }
    }

    /// Waits until these nodes have merged the files of all tables of mail after `time`.
    pub(super) async fn merged(&self, ring: &Ring, nodes: &[usize], time: Timestamp) {
        for &node in nodes {
            for table in TABLES {
                let query = format!(
                    "SELECT compacted_at FROM system.compaction_history WHERE keyspace_name = '{}' \
                     AND columnfamily_name = '{table}' AND compacted_at > {} LIMIT 1 ALLOW FILTERING",
                    self.name,
                    time.millis()
                );
                let is_merged = || block_in_place(|| ring.query(node, &query)).expect("its history").is_some();
                until(format_args!("node {node} merges the files of {table}"), async || is_merged()).await;
            }
        }
    }
}
