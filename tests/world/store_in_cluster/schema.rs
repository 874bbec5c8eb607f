//! The keyspace is made once, and one of another version is refused.
//! Promise: it outlives the code below it.

use std::collections::BTreeMap;
use std::time::Duration;

use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::{OpenError, StoreOptions};

use super::keyspace;
use crate::suites::options;
use crate::support::keyspaces::{connection, session};
use crate::support::ring::Ring;

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_keyspace_is_made_once_and_another_version_of_it_is_refused() {
    let ring = tokio::task::spawn_blocking(Ring::shared).await.expect("the ring");
    let connection = connection(ring);
    let open = async || Box::pin(CassandraStore::connect(&connection, &options())).await.map(drop);
    let missing = OpenError::NoKeyspace { keyspace: connection.keyspace.clone() };
    assert_eq!(open().await, Err(missing));
    let two = CassandraOptions { replication: 2, ..connection.clone() };
    let refused = CassandraStore::create(&two, &options()).await.expect_err("one server").to_string();
    assert!(refused.contains("?replication=1"), "{refused}");
    assert_eq!(CassandraStore::create(&connection, &options()).await, Ok(true));
    assert_eq!(CassandraStore::create(&connection, &options()).await, Ok(false));
    assert_eq!(open().await, Ok(()));
    let session = session(&connection).await;
    // Conditional, since the version was written so.
    let version = "UPDATE registry SET value = ? WHERE kind = 'meta' AND key = 'schema' IF EXISTS";
    for found in [0_u32, 2, 4] {
        session.query_unpaged(version, (&found.to_be_bytes()[..],)).await.expect("write");
        assert_eq!(open().await, Err(OpenError::Schema { found, known: 3 }));
        // An older program makes nothing of a newer keyspace.
        assert_eq!(CassandraStore::create(&connection, &options()).await, Err(OpenError::Schema { found, known: 3 }));
    }
}

/// Deletions of mail are remembered for longer than mail lives.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_longer_retention_makes_the_servers_remember_deletions_for_longer() {
    let ring = tokio::task::spawn_blocking(Ring::shared).await.expect("the ring");
    let connection = connection(ring);
    let remembered = async || {
        let session = session(&connection).await;
        let grace =
            "SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'email'";
        let rows = session.query_unpaged(grace, (&connection.keyspace,)).await.expect("read");
        rows.into_rows_result().expect("rows").first_row::<(i32,)>().expect("a table").0
    };
    for (hours, expected) in [(2, 3), (48, 49), (24, 49)] {
        let retention = Some(Duration::from_hours(hours));
        CassandraStore::create(&connection, &StoreOptions { retention, ..options() }).await.expect("make");
        assert_eq!(remembered().await, expected * 3600, "a retention of {hours} h");
    }
}

/// Servers remember deletions for as long as another server may be without them.
#[tokio::test]
#[ignore = "needs Cassandra"]
async fn servers_remember_deletions_for_three_hours_at_least() {
    let connection = keyspace().await;
    let tables = "SELECT table_name, gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = ?";
    let rows = session(&connection).await.query_unpaged(tables, (&connection.keyspace,)).await.expect("read");
    let rows = rows.into_rows_result().expect("rows");
    let graces: BTreeMap<String, i32> = rows.rows().expect("rows").map(|row| row.expect("a row")).collect();
    assert!(graces.len() > 9, "{graces:?}");
    for (table, grace) in graces {
        // Nothing deletes a row of the log.
        assert!(grace >= 3 * 3600 || table == "log", "{table}: {grace} s");
    }
}
