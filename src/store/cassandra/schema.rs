//! The keyspace of a store: its tables, its version and its secret.

use std::collections::BTreeMap;
use std::time::Duration;

use scylla::client::session::Session as DriverSession;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::response::query_result::QueryResult;
use scylla::serialize::row::SerializeRow;
use scylla::statement::unprepared::Statement;
use scylla::statement::{Consistency, SerialConsistency};
use siphasher::sip128::{Hasher128, SipHasher13};
use tokio::time::sleep;
use uuid::Uuid;

use super::CassandraOptions;
use super::session::{self, reason, was_applied};
use crate::store::names::HashKey;
use crate::store::{OpenError, StoreOptions};

/// The version of the tables and of the records in them that this program reads and writes. `schema.cql` makes the tables.
pub(super) const VERSION: u32 = 3;
const STATEMENTS: &str = include_str!("schema.cql");

/// The least time, in seconds, for which a server remembers that mail was deleted.
const GRACE_MIN: u64 = 3 * 3600;
/// By how much it is longer than mail lives.
const GRACE_MORE: u64 = 3600;

/// How often a node tries to insert a value that only one node may insert. Nodes that start at one moment cut each other's
/// turns off.
const TURNS_MAX: u32 = 6;
/// The longest pause between two turns.
const TURN_PAUSE_MAX: Duration = Duration::from_secs(2);

const OF_VERSION: &str = "schema";
const INSERT: &str = "INSERT INTO registry (kind, key, value) VALUES ('meta', ?, ?) IF NOT EXISTS";
const OF_SECRET: &str = "secret";
/// There from the first write of a restore to the last.
const OF_RESTORE: &str = "restoring";

/// What a keyspace says of itself.
#[derive(Debug)]
pub(super) struct Found {
    /// The store's secret.
    pub(super) secret: HashKey,
    /// Whether a backup is being restored, or was when the restore was interrupted.
    pub(super) is_restoring: bool,
}

/// Makes the keyspace and its tables, as far as they are not there. Returns whether this made them.
///
/// Several nodes may do that at one moment: the id of a table follows from its name, so none makes another table.
pub(super) async fn create(options: &CassandraOptions, store: &StoreOptions) -> Result<bool, OpenError> {
    let driver = session::connect(options).await?;
    let keyspace = &options.keyspace;
    if driver.use_keyspace(keyspace, false).await.is_err() {
        make_keyspace(&driver, options).await?;
    }
    let grace = store.retention.map_or(GRACE_MIN, |life| life.as_secs().saturating_add(GRACE_MORE).max(GRACE_MIN));
    if has_version(&driver, keyspace).await? {
        remember_longer(&driver, keyspace, grace).await?;
        return Ok(false);
    }
    for statement in statements(keyspace, grace) {
        run(&driver, statement).await?;
    }
    agree(&driver).await?;
    insert_once(&driver, OF_SECRET, &rand::random::<HashKey>()).await?;
    // The version comes last: a keyspace with it is complete.
    insert_once(&driver, OF_VERSION, &VERSION.to_be_bytes()).await
}

/// Reads what a keyspace says of itself, if it has the schema of this version.
pub(super) async fn check(driver: &DriverSession, keyspace: &str) -> Result<Found, OpenError> {
    let no_keyspace = || OpenError::NoKeyspace { keyspace: keyspace.into() };
    if !has_version(driver, keyspace).await? {
        return Err(no_keyspace());
    }
    let secret = read(driver, OF_SECRET).await?.ok_or_else(no_keyspace)?;
    let secret = HashKey::try_from(&secret[..]).map_err(|_| no_keyspace())?;
    Ok(Found { secret, is_restoring: read(driver, OF_RESTORE).await?.is_some() })
}

/// Marks a keyspace as one into which a backup is restored. Returns whether it was not marked before.
pub(super) async fn begin_restore(driver: &DriverSession) -> Result<bool, OpenError> {
    change(driver, INSERT, (OF_RESTORE, &b"1"[..])).await
}

/// Removes the mark of a restore.
pub(super) async fn end_restore(driver: &DriverSession) -> Result<bool, OpenError> {
    change(driver, "DELETE FROM registry WHERE kind = 'meta' AND key = ? IF EXISTS", (OF_RESTORE,)).await
}

/// Gives a keyspace that nobody uses another secret.
pub(super) async fn replace_secret(driver: &DriverSession, secret: &HashKey) -> Result<bool, OpenError> {
    let statement = "UPDATE registry SET value = ? WHERE kind = 'meta' AND key = ? IF EXISTS";
    change(driver, statement, (&secret[..], OF_SECRET)).await
}

async fn make_keyspace(driver: &DriverSession, options: &CassandraOptions) -> Result<(), OpenError> {
    let CassandraOptions { keyspace, replication, .. } = options;
    let data_center = data_center(driver, options)?.replace('\'', "''");
    run(
        driver,
        format!(
            "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = \
             {{'class': 'NetworkTopologyStrategy', '{data_center}': {replication}}}"
        ),
    )
    .await?;
    agree(driver).await?;
    driver.use_keyspace(keyspace, false).await.map_err(|error| failed(&error))
}

/// The data centre for a new keyspace, if it has enough servers.
fn data_center(driver: &DriverSession, options: &CassandraOptions) -> Result<String, OpenError> {
    let mut servers: BTreeMap<String, u32> = BTreeMap::new();
    for data_center in driver.get_cluster_state().get_nodes_info().iter().filter_map(|node| node.datacenter.clone()) {
        *servers.entry(data_center).or_default() += 1;
    }
    let refused = |reason: String| OpenError::Cluster { reason };
    let chosen = match (&options.data_center, servers.len()) {
        (Some(named), _) => named.clone(),
        (None, 1) => servers.keys().next().cloned().unwrap_or_default(),
        (None, _) => {
            let names = servers.into_keys().collect::<Vec<_>>().join(", ");
            return Err(refused(format!(
                "it has several data centres ({names}); name yours at the end of store: ?dc=NAME"
            )));
        }
    };
    match servers.get(&chosen) {
        None => Err(refused(format!("it has no data centre '{chosen}'"))),
        Some(there) if *there < options.replication => Err(refused(format!(
            "{} servers are to keep each row, but the data centre '{chosen}' has {there}; \
             for a trial name fewer at the end of store: ?replication=1",
            options.replication
        ))),
        Some(_) => Ok(chosen),
    }
}

/// Has the servers remember deletions of mail for at least so many seconds.
async fn remember_longer(driver: &DriverSession, keyspace: &str, grace: u64) -> Result<(), OpenError> {
    let statement =
        "SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'email'";
    let found = first::<(i32,)>(driver, Statement::new(statement), (keyspace,)).await?;
    if found.is_some_and(|(seconds,)| u64::from(seconds.unsigned_abs()) < grace) {
        run(driver, format!("ALTER TABLE {keyspace}.email WITH gc_grace_seconds = {grace}")).await?;
    }
    Ok(())
}

/// Whether a keyspace has the schema of this version; `false` if it has none. That of another version is refused.
async fn has_version(driver: &DriverSession, keyspace: &str) -> Result<bool, OpenError> {
    let refused = |found| Err(OpenError::Schema { found, known: VERSION });
    let has_table = async |table: &str| {
        let statement = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
        Ok::<_, OpenError>(first::<(String,)>(driver, Statement::new(statement), (keyspace, table)).await?.is_some())
    };
    if !has_table("registry").await? {
        // Version 1 had another table for it.
        return if has_table("meta").await? { refused(1) } else { Ok(false) };
    }
    let version = match read(driver, OF_VERSION).await {
        // Not every server may know the tables yet that another node makes at this moment.
        Err(_) => {
            agree(driver).await?;
            read(driver, OF_VERSION).await?
        }
        Ok(version) => version,
    };
    match version.map(|version| <[u8; 4]>::try_from(version).map_or(0, u32::from_be_bytes)) {
        None => Ok(false),
        Some(VERSION) => Ok(true),
        Some(found) => refused(found),
    }
}

/// The statements of the schema, without its comments.
fn statements(keyspace: &str, grace: u64) -> Vec<String> {
    let lines = STATEMENTS.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.replace("{keyspace}", keyspace).replace("{grace}", &grace.to_string());
    let statements = text.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    statements.map(|statement| with_id(statement, keyspace)).collect()
}

/// A statement with the id of its table in the place of `{id.TABLE}`.
fn with_id(statement: &str, keyspace: &str) -> String {
    let Some((before, rest)) = statement.split_once("{id.") else { return statement.to_owned() };
    let (table, after) = rest.split_once('}').unwrap_or((rest, ""));
    let mut hasher = SipHasher13::new();
    std::hash::Hasher::write(&mut hasher, format!("{keyspace}.{table}").as_bytes());
    let id: Uuid = uuid::Builder::from_custom_bytes(hasher.finish128().as_bytes()).into_uuid();
    format!("{before}{id}{after}")
}

/// Waits until all servers that can be reached know the same tables.
async fn agree(driver: &DriverSession) -> Result<(), OpenError> {
    driver.await_schema_agreement().await.map(drop).map_err(|error| failed(&error))
}

async fn run(driver: &DriverSession, statement: String) -> Result<(), OpenError> {
    driver.query_unpaged(statement, ()).await.map(drop).map_err(|error| failed(&error))
}

/// Inserts a value unless one is there. Returns whether this inserted it, as far as that is known: a turn that was cut off
/// may have.
async fn insert_once(driver: &DriverSession, key: &str, value: &[u8]) -> Result<bool, OpenError> {
    for _ in 1..TURNS_MAX {
        match conditional(driver, INSERT, (key, value)).await {
            Err(error) if is_cut_off(&error) => sleep(TURN_PAUSE_MAX.mul_f64(rand::random())).await,
            answer => return applied(answer),
        }
    }
    change(driver, INSERT, (key, value)).await
}

/// Runs a conditional statement. Returns whether its condition held.
async fn change(driver: &DriverSession, statement: &str, values: impl SerializeRow) -> Result<bool, OpenError> {
    applied(conditional(driver, statement, values).await)
}

async fn conditional(
    driver: &DriverSession,
    statement: &str,
    values: impl SerializeRow,
) -> Result<QueryResult, ExecutionError> {
    let mut statement = Statement::new(statement);
    statement.set_serial_consistency(Some(SerialConsistency::LocalSerial));
    driver.query_unpaged(statement, values).await
}

fn applied(answer: Result<QueryResult, ExecutionError>) -> Result<bool, OpenError> {
    was_applied(answer.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
}

async fn read(driver: &DriverSession, key: &str) -> Result<Option<Vec<u8>>, OpenError> {
    let mut statement = Statement::new("SELECT value FROM registry WHERE kind = 'meta' AND key = ?");
    statement.set_consistency(Consistency::LocalQuorum);
    Ok(first::<(Vec<u8>,)>(driver, statement, (key,)).await?.map(|(value,)| value))
}

/// The first row of a result.
async fn first<R>(
    driver: &DriverSession,
    statement: Statement,
    values: impl SerializeRow,
) -> Result<Option<R>, OpenError>
where
    R: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
{
    let result = driver.query_unpaged(statement, values).await.map_err(|error| failed(&error))?;
    let rows = result.into_rows_result().map_err(|error| failed(&error))?;
    rows.maybe_first_row().map_err(|error| failed(&error))
}

fn failed(error: &dyn std::error::Error) -> OpenError {
    OpenError::Cluster { reason: reason(error) }
}

/// Whether a turn of Paxos may or may not have taken place.
fn is_cut_off(error: &ExecutionError) -> bool {
    let ExecutionError::LastAttemptError(RequestAttemptError::DbError(said, _)) = error else { return false };
    matches!(said, DbError::WriteTimeout { .. } | DbError::ReadTimeout { .. })
}
