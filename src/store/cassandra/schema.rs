//! The schema of a keyspace and its version.

use scylla::client::session::Session;
use scylla::statement::unprepared::Statement;
use scylla::statement::{Consistency, SerialConsistency};

use super::cluster::{reason, was_applied};
use crate::store::OpenError;
use crate::store::names::HashKey;

/// The version that this program reads and writes. `schema.cql` makes it.
pub(super) const VERSION: u32 = 1;
const STATEMENTS: &str = include_str!("schema.cql");

const NAME_OF_VERSION: &str = "schema";
const NAME_OF_SECRET: &str = "secret";

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
    for statement in statements() {
        session.query_unpaged(statement, ()).await.map_err(|error| failed(&error))?;
    }
    insert_once(session, NAME_OF_SECRET, &rand::random::<HashKey>()).await?;
    // The version comes last: a keyspace with it is complete.
    insert_once(session, NAME_OF_VERSION, &VERSION.to_be_bytes()).await
}

/// The store's secret, if the keyspace has the schema of this version.
pub(super) async fn check(session: &Session, keyspace: &str) -> Result<HashKey, OpenError> {
    let no_keyspace = || OpenError::NoKeyspace { keyspace: keyspace.into() };
    let version = read(session, NAME_OF_VERSION).await?.ok_or_else(no_keyspace)?;
    let found = <[u8; 4]>::try_from(&version[..]).map_or(0, u32::from_be_bytes);
    if found != VERSION {
        return Err(OpenError::Schema { found, known: VERSION });
    }
    let secret = read(session, NAME_OF_SECRET).await?.ok_or_else(no_keyspace)?;
    HashKey::try_from(&secret[..]).map_err(|_| no_keyspace())
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
    let mut statement = Statement::new("INSERT INTO meta (name, value) VALUES (?, ?) IF NOT EXISTS");
    statement.set_serial_consistency(Some(SerialConsistency::LocalSerial));
    let failed = |error: &dyn std::error::Error| OpenError::Cluster { reason: reason(error) };
    let result = session.query_unpaged(statement, (name, value)).await.map_err(|error| failed(&error))?;
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
