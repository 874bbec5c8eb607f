//! A few keyspaces that the tests take in turn, since each table costs a node memory and time.

use std::cell::RefCell;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use tempmail::store::cassandra::{CassandraOptions, CassandraStore};
use tempmail::store::{OutboxLimits, StoreOptions};

use super::ring::Ring;

/// The most keyspaces, and so the most tests at once.
const KEYSPACES_MAX: usize = 3;

/// The keyspaces that no test has now, and how many there are in all.
static FREE: Mutex<(Vec<CassandraOptions>, usize)> = Mutex::new((Vec::new(), 0));
static FREED: Condvar = Condvar::new();

thread_local! {
    /// The keyspace of the test that runs on this thread.
    static TAKEN: RefCell<Option<Taken>> = const { RefCell::new(None) };
}

/// A keyspace, until the thread of its test ends.
struct Taken(CassandraOptions);

impl Drop for Taken {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).0.push(self.0.clone());
        FREED.notify_one();
    }
}

/// The connection to an empty keyspace with one copy of each row. A second call of a test
/// empties its keyspace again. The keyspace is for the thread of the test.
pub async fn empty() -> CassandraOptions {
    let ring = tokio::task::spawn_blocking(Ring::shared).await.expect("the ring");
    let known = TAKEN.with_borrow(|taken| taken.as_ref().map(|Taken(options)| options.clone()));
    let (options, is_new) = match known {
        Some(options) => (options, false),
        None => tokio::task::spawn_blocking(|| take(ring)).await.expect("a keyspace"),
    };
    TAKEN.with_borrow_mut(|taken| {
        taken.get_or_insert_with(|| Taken(options.clone()));
    });
    if is_new {
        assert_eq!(CassandraStore::create(&options, &store_options()).await, Ok(true), "a new keyspace");
    } else {
        clear(&options).await;
    }
    options
}

/// Waits for a free keyspace. Returns whether it must be made.
fn take(ring: &Ring) -> (CassandraOptions, bool) {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(options) = free.0.pop() {
            return (options, false);
        }
        if free.1 < KEYSPACES_MAX {
            free.1 += 1;
            return (connection(ring), true);
        }
        free = FREED.wait(free).unwrap_or_else(PoisonError::into_inner);
    }
}

fn store_options() -> StoreOptions {
    StoreOptions {
        retention: Some(Duration::from_hours(2)),
        message_octets_max: 1 << 20,
        segment_octets: 4 << 20,
        outbox: OutboxLimits::default(),
        emails_max: 1_000_000,
        emails_per_mailbox_max: 0,
    }
}

/// The connection to a keyspace that is not made yet.
pub fn connection(ring: &Ring) -> CassandraOptions {
    CassandraOptions {
        contact_points: ring.contact_points().iter().map(ToString::to_string).collect(),
        keyspace: ring.fresh_keyspace(),
        data_center: None,
        credentials: None,
        tls: None,
        timeout: Duration::from_secs(10),
        grace: Duration::from_hours(1),
        replication: 1,
    }
}

/// The keyspace as the setting `store` names it.
pub fn location(options: &CassandraOptions) -> String {
    format!("cassandra://{}/{}?replication=1", options.contact_points.join(","), options.keyspace)
}

/// The lines of a configuration file that name the keyspace.
pub fn settings(options: &CassandraOptions) -> String {
    format!("store = '{}'\ncassandra-timeout = '{}s'\n", location(options), options.timeout.as_secs())
}

/// A session in the keyspace, for what the store does not offer.
pub async fn session(options: &CassandraOptions) -> Session {
    let session = SessionBuilder::new().known_nodes(&options.contact_points).build().await.expect("connect");
    session.use_keyspace(&options.keyspace, false).await.expect("the keyspace");
    session
}

async fn clear(options: &CassandraOptions) {
    let session = session(options).await;
    let tables = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?";
    let tables = session.query_unpaged(tables, (&options.keyspace,)).await.expect("the tables");
    let tables = tables.into_rows_result().expect("rows");
    let names: Vec<String> = tables.rows::<(String,)>().expect("names").map(|row| row.expect("a name").0).collect();
    assert!(!names.is_empty());
    let of_registry = "SELECT kind, key FROM registry";
    let rows = session.query_unpaged(of_registry, ()).await.expect("rows").into_rows_result().expect("rows");
    for row in rows.rows::<(String, String)>().expect("rows").map(|row| row.expect("a row")) {
        if row.0 != "meta" || row.1 == "restoring" {
            // They were written by conditional statements.
            let delete = "DELETE FROM registry WHERE kind = ? AND key = ? IF EXISTS";
            session.query_unpaged(delete, row).await.expect("delete");
        }
    }
    for name in names.iter().filter(|name| *name != "registry") {
        // The server does not look for a row where too much was deleted.
        let first = session.query_unpaged(format!("SELECT * FROM {name} LIMIT 1"), ()).await.ok();
        if first.is_none_or(|first| first.into_rows_result().expect("rows").rows_num() > 0) {
            session.query_unpaged(format!("TRUNCATE {name}"), ()).await.expect("truncate");
        }
    }
}
