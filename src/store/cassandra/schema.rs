//! The schema of a keyspace and its version.

use scylla::client::session::Session;
use scylla::serialize::row::SerializeRow;
use scylla::statement::unprepared::Statement;
use scylla::statement::{Consistency, SerialConsistency};

use super::cluster::{reason, was_applied};
use crate::store::OpenError;
use crate::store::names::HashKey;

/// The version of the tables and of the records in them that this program reads and writes. `schema.cql` makes the tables.
pub(super) const VERSION: u32 = 1;
const STATEMENTS: &str = include_str!("schema.cql");

const NAME_OF_VERSION: &str = "schema";
const NAME_OF_SECRET: &str = "secret";
/// Names the backup that is being restored. It is there from the first write of a restore to the last.
const NAME_OF_RESTORE: &str = "restoring";

/// What a keyspace says of itself.
#[derive(Debug)]
pub(super) struct Found {
    /// The store's secret.
    pub(super) secret: HashKey,
    /// Which backup is being restored, or was when the restore was interrupted.
    pub(super) restoring: Option<Vec<u8>>,
}

/// Makes a keyspace and its tables, unless they are there. Returns whether this made them.
pub(super) async fn create(
    session: &Session,
    keyspace: &str,
    data_center: &str,
    replication: u32,
) -> Result<bool, OpenError> {
    let failed = |error: &dyn std::error::Error| OpenError::Cluster { reason: reason(error) };
    // The data centre is quoted for CQL. The name of the keyspace is checked by the settings.
    let data_center = data_center.replace('\'', "''");
    let keyspace_statement = format!(
        "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = \
         {{'class': 'NetworkTopologyStrategy', '{data_center}': {replication}}}"
    );
    session.query_unpaged(keyspace_statement, ()).await.map_err(|error| failed(&error))?;
    session.use_keyspace(keyspace, false).await.map_err(|error| failed(&error))?;
    if let Some(version) = read(session, NAME_OF_VERSION).await? {
        check_version(&version)?;
    }
    for statement in statements() {
        session.query_unpaged(statement, ()).await.map_err(|error| failed(&error))?;
    }
    insert_once(session, NAME_OF_SECRET, &rand::random::<HashKey>()).await?;
    // The version comes last: a keyspace with it is complete.
    insert_once(session, NAME_OF_VERSION, &VERSION.to_be_bytes()).await
}

/// Reads what a keyspace says of itself, if it has the schema of this version.
pub(super) async fn check(session: &Session, keyspace: &str) -> Result<Found, OpenError> {
    let no_keyspace = || OpenError::NoKeyspace { keyspace: keyspace.into() };
    let version = read(session, NAME_OF_VERSION).await?.ok_or_else(no_keyspace)?;
    check_version(&version)?;
    let secret = read(session, NAME_OF_SECRET).await?.ok_or_else(no_keyspace)?;
    let secret = HashKey::try_from(&secret[..]).map_err(|_| no_keyspace())?;
    Ok(Found { secret, restoring: read(session, NAME_OF_RESTORE).await? })
}

/// Marks a keyspace as one into which a backup is restored. Returns whether it was not marked before.
pub(super) async fn begin_restore(session: &Session, backup: &[u8]) -> Result<bool, OpenError> {
    insert_once(session, NAME_OF_RESTORE, backup).await
}

/// Removes the mark of a restore.
pub(super) async fn end_restore(session: &Session) -> Result<bool, OpenError> {
    change(session, "DELETE FROM meta WHERE name = ? IF EXISTS", (NAME_OF_RESTORE,)).await
}

/// Gives a keyspace that nobody uses another secret.
pub(super) async fn replace_secret(session: &Session, secret: &HashKey) -> Result<bool, OpenError> {
    // Conditional, since the first secret was written so, by the cluster's time and not by this machine's.
    change(session, "UPDATE meta SET value = ? WHERE name = ? IF EXISTS", (&secret[..], NAME_OF_SECRET)).await
}

/// Refuses the schema of another version.
fn check_version(version: &[u8]) -> Result<(), OpenError> {
    match <[u8; 4]>::try_from(version).map_or(0, u32::from_be_bytes) {
        VERSION => Ok(()),
        found => Err(OpenError::Schema { found, known: VERSION }),
    }
}

/// The statements of the schema, without its comments.
fn statements() -> impl Iterator<Item = String> {
    let lines = STATEMENTS.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split(';')
        .map(str::trim)
        .filter(|statement| !statement.is_empty())
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Inserts a value unless one is there. Returns whether this inserted it.
async fn insert_once(session: &Session, name: &str, value: &[u8]) -> Result<bool, OpenError> {
    change(session, "INSERT INTO meta (name, value) VALUES (?, ?) IF NOT EXISTS", (name, value)).await
}

/// Runs a conditional statement. Returns whether its condition held.
async fn change(session: &Session, statement: &str, values: impl SerializeRow) -> Result<bool, OpenError> {
    let mut statement = Statement::new(statement);
    statement.set_serial_consistency(Some(SerialConsistency::LocalSerial));
    let failed = |error: &dyn std::error::Error| OpenError::Cluster { reason: reason(error) };
    let result = session.query_unpaged(statement, values).await.map_err(|error| failed(&error))?;
    was_applied(result).map_err(|error| failed(&error))
}

async fn read(session: &Session, name: &str) -> Result<Option<Vec<u8>>, OpenError> {
    let mut statement = Statement::new("SELECT value FROM meta WHERE name = ?");
    statement.set_consistency(Consistency::LocalQuorum);
    let failed = |error: &dyn std::error::Error| OpenError::Cluster { reason: reason(error) };
    let result = match session.query_unpaged(statement, (name,)).await {
        Ok(result) => result,
        // The table is missing, so the keyspace is not ours or is not complete.
        Err(error) if is_invalid(&error) => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    let rows = result.into_rows_result().map_err(|error| failed(&error))?;
    let row = rows.maybe_first_row::<(Vec<u8>,)>().map_err(|error| failed(&error))?;
    Ok(row.map(|(value,)| value))
}

fn is_invalid(error: &scylla::errors::ExecutionError) -> bool {
    use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
    let attempt = match error {
        ExecutionError::LastAttemptError(attempt) => attempt,
        ExecutionError::PrepareError(PrepareError::AllAttemptsFailed { first_attempt }) => first_attempt,
        _ => return false,
    };
    matches!(attempt, RequestAttemptError::DbError(DbError::Invalid | DbError::ConfigError, _))
}
