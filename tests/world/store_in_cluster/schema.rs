//! The keyspace is made once, and one of another version is refused.
//! Promise: it outlives the code below it.

use tempmail::store::OpenError;
use tempmail::store::cassandra::CassandraStore;

use crate::suites::options;
use crate::support::keyspaces::{connection, session};
use crate::support::ring::Ring;

#[tokio::test]
#[ignore = "needs Cassandra"]
async fn a_keyspace_is_made_once_and_another_version_of_it_is_refused() {
    let ring = tokio::task::spawn_blocking(Ring::shared).await.expect("the ring");
    let connection = connection(ring);
    let open = async || CassandraStore::connect(&connection, &options()).await.map(drop);
    let missing = OpenError::NoKeyspace { keyspace: connection.keyspace.clone() };
    assert_eq!(open().await, Err(missing));
    let refused = CassandraStore::init(&connection, 2).await.expect_err("one server").to_string();
    assert!(refused.contains("--replication"), "{refused}");
    assert_eq!(CassandraStore::init(&connection, 1).await, Ok(true));
    assert_eq!(CassandraStore::init(&connection, 1).await, Ok(false));
    assert_eq!(open().await, Ok(()));
    let session = session(&connection).await;
    for found in [0_u32, 2] {
        let version = "UPDATE meta SET value = ? WHERE name = 'schema'";
        session.query_unpaged(version, (&found.to_be_bytes()[..],)).await.expect("write");
        assert_eq!(open().await, Err(OpenError::Schema { found, known: 1 }));
        // An older program makes nothing of a newer keyspace.
        assert_eq!(CassandraStore::init(&connection, 1).await, Err(OpenError::Schema { found, known: 1 }));
    }
}
