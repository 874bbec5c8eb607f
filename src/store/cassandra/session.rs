//! The connections to the cluster, and how a statement is run.
//!
//! Every statement but a conditional one is idempotent, so the driver asks a second node when the first one is slow.

use std::error::Error;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::pager::QueryPager;
use scylla::client::session::Session as DriverSession;
use scylla::client::session_builder::SessionBuilder;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::{ExecutionError, PagerExecutionError, PrepareError};
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use scylla::response::query_result::QueryResult;
use scylla::serialize::row::SerializeRow;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency};
use scylla::value::Row;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::CassandraOptions;
use crate::store::{OpenError, StoreError};

/// How long a node may be silent before the driver asks another one as well.
const SPECULATION_AFTER: Duration = Duration::from_millis(300);
const SPECULATIONS_MAX: usize = 2;
/// A connection is asked for a sign of life this often, and given up after the second time.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(1);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECTIONS_PER_HOST: NonZeroUsize = NonZeroUsize::new(2).expect("two");
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The most statements of a node under way, beside conditional ones. The others wait for their turn. A cluster that has
/// more than it can answer within [`SPECULATION_AFTER`] would be asked everything three times, and answer nothing.
const STATEMENTS_MAX: usize = 128;
/// How long a statement waits for its turn.
const TURN_WITHIN: Duration = Duration::from_secs(5);
/// Rows of one page of a result.
const PAGE_ROWS: i32 = 1000;

/// The values of a statement. The driver's code is built once for all of them, and not for each type.
type Values<'v> = &'v (dyn SerializeRow + Sync);

/// What a [`Session`] asks of the driver. To see in each future of the store that the driver's may change their thread was a
/// fifth of what this crate cost to compile. Behind this trait it is seen once.
trait Driver: Debug + Send + Sync {
    fn prepare(&self, text: String) -> BoxFuture<'_, Result<PreparedStatement, PrepareError>>;

    fn execute<'a>(
        &'a self,
        statement: &'a PreparedStatement,
        values: Values<'a>,
    ) -> BoxFuture<'a, Result<QueryResult, ExecutionError>>;

    fn pages<'a>(
        &'a self,
        statement: PreparedStatement,
        values: Values<'a>,
    ) -> BoxFuture<'a, Result<QueryPager, PagerExecutionError>>;

    fn session(&self) -> &DriverSession;
}

impl Driver for DriverSession {
    fn prepare(&self, text: String) -> BoxFuture<'_, Result<PreparedStatement, PrepareError>> {
        self.prepare(text).boxed()
    }

    fn execute<'a>(
        &'a self,
        statement: &'a PreparedStatement,
        values: Values<'a>,
    ) -> BoxFuture<'a, Result<QueryResult, ExecutionError>> {
        self.execute_unpaged(statement, values).boxed()
    }

    fn pages<'a>(
        &'a self,
        statement: PreparedStatement,
        values: Values<'a>,
    ) -> BoxFuture<'a, Result<QueryPager, PagerExecutionError>> {
        self.execute_iter(statement, values).boxed()
    }

    fn session(&self) -> &DriverSession {
        self
    }
}

/// An open session in a keyspace.
#[derive(Debug)]
pub(super) struct Session {
    driver: Arc<dyn Driver>,
    keyspace: String,
    turns: Semaphore,
}

/// Connects without choosing a keyspace.
pub(super) async fn connect(options: &CassandraOptions) -> Result<DriverSession, OpenError> {
    let mut policy = DefaultPolicy::builder();
    if let Some(data_center) = &options.data_center {
        policy = policy.prefer_datacenter(data_center.clone());
    }
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::LocalQuorum)
        .serial_consistency(Some(SerialConsistency::LocalSerial))
        .request_timeout(Some(options.timeout))
        .load_balancing_policy(policy.build())
        .speculative_execution_policy(Some(Arc::new(SimpleSpeculativeExecutionPolicy {
            max_retry_count: SPECULATIONS_MAX,
            retry_interval: SPECULATION_AFTER,
        })))
        .build();
    let mut builder = SessionBuilder::new()
        .known_nodes(&options.contact_points)
        .default_execution_profile_handle(profile.into_handle())
        .pool_size(PoolSize::PerHost(CONNECTIONS_PER_HOST))
        .connection_timeout(CONNECT_TIMEOUT)
        .keepalive_interval(KEEPALIVE_EVERY)
        .keepalive_timeout(KEEPALIVE_TIMEOUT)
        .fetch_full_schema_metadata(false)
        .tls_context(options.tls.clone());
    if let Some((user, password)) = &options.credentials {
        builder = builder.user(user, password.expose());
    }
    builder.build().await.map_err(|error| OpenError::Cluster { reason: reason(&error) })
}

/// Connects, and chooses the keyspace.
pub(super) async fn connect_to_keyspace(options: &CassandraOptions) -> Result<DriverSession, OpenError> {
    let session = connect(options).await?;
    match session.use_keyspace(&options.keyspace, false).await {
        Ok(()) => Ok(session),
        Err(_) => Err(OpenError::NoKeyspace { keyspace: options.keyspace.clone() }),
    }
}

impl Session {
    pub(super) fn new(session: DriverSession, keyspace: String) -> Self {
        Self { driver: Arc::new(session), keyspace, turns: Semaphore::new(STATEMENTS_MAX) }
    }

    /// The same session, for statements that do not wait for those of `self`.
    pub(super) fn apart(&self) -> Self {
        Self {
            driver: Arc::clone(&self.driver),
            keyspace: self.keyspace.clone(),
            turns: Semaphore::new(STATEMENTS_MAX),
        }
    }

    /// Waits until one more statement may be under way.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        match timeout(TURN_WITHIN, self.turns.acquire()).await {
            Ok(turn) => turn.map_err(|error| failed(&error)),
            Err(_) => Err(StoreError::Failed(format!(
                "this node asks more than the cluster answers; a statement waited for {TURN_WITHIN:?}"
            ))),
        }
    }

    /// For statements that are run once in the life of a keyspace.
    pub(super) fn driver(&self) -> &DriverSession {
        self.driver.session()
    }

    /// Prepares a statement that may be run twice without harm.
    pub(super) async fn prepare(&self, text: &str) -> Result<PreparedStatement, OpenError> {
        let prepared = self.driver.prepare(qualified(text, &self.keyspace)).await;
        let mut prepared = prepared.map_err(|error| OpenError::Cluster { reason: reason(&error) })?;
        prepared.set_is_idempotent(true);
        prepared.set_page_size(PAGE_ROWS);
        Ok(prepared)
    }

    /// Runs a statement that has no result.
    pub(super) async fn run(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<(), StoreError> {
        self.execute_in_turn(statement, &values).await.map(drop)
    }

    async fn execute_in_turn(
        &self,
        statement: &PreparedStatement,
        values: Values<'_>,
    ) -> Result<QueryResult, StoreError> {
        let _turn = self.turn().await?;
        self.driver.execute(statement, values).await.map_err(|error| failed(&error))
    }

    async fn pages_in_turn(&self, statement: &PreparedStatement, values: Values<'_>) -> Result<QueryPager, StoreError> {
        let _turn = self.turn().await?;
        self.driver.pages(statement.clone(), values).await.map_err(|error| failed(&error))
    }

    /// Runs a conditional statement. Returns whether its condition held.
    ///
    /// After [`StoreError::OutcomeUnknown`] it may have been run.
    pub(super) async fn run_if(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<bool, StoreError> {
        was_applied(self.driver.execute(statement, &values).await.map_err(|error| unknown(&error))?)
    }

    /// The first row of a result.
    pub(super) async fn first<R>(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<Option<R>, StoreError>
    where
        R: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata>,
    {
        let result = self.execute_in_turn(statement, &values).await?;
        let rows = result.into_rows_result().map_err(|error| failed(&error))?;
        rows.maybe_first_row().map_err(|error| failed(&error))
    }

    /// The rows of a result, page by page, no faster than they are taken.
    pub(super) async fn rows<R>(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<BoxStream<'static, Result<R, StoreError>>, StoreError>
    where
        R: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata> + Send + 'static,
    {
        let pages = self.pages_in_turn(statement, &values).await?;
        let rows = pages.rows_stream::<R>().map_err(|error| failed(&error))?;
        Ok(rows.map_err(|error| failed(&error)).boxed())
    }

    /// All rows of a result.
    pub(super) async fn all<R>(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<Vec<R>, StoreError>
    where
        R: for<'frame, 'metadata> DeserializeRow<'frame, 'metadata> + Send + 'static,
    {
        self.rows(statement, values).await?.try_collect().await
    }
}

/// A statement with its keyspace before the name of its table. The cluster advises that for prepared statements.
fn qualified(text: &str, keyspace: &str) -> String {
    let after = |keyword: &str| text.find(keyword).map(|start| start + keyword.len());
    let table = [" FROM ", "INSERT INTO ", "UPDATE "].into_iter().filter_map(after).min();
    match table {
        Some(start) => format!("{}{keyspace}.{}", &text[..start], &text[start..]),
        None => text.to_owned(),
    }
}

/// Whether the condition of a conditional statement held.
pub(super) fn was_applied(result: QueryResult) -> Result<bool, StoreError> {
    let rows = result.into_rows_result().map_err(|error| failed(&error))?;
    // The first column says it. Whether others follow depends on it.
    let row = rows.maybe_first_row::<Row>().map_err(|error| failed(&error))?;
    let applied = row.and_then(|row| row.columns.into_iter().next().flatten());
    Ok(applied.and_then(|value| value.as_boolean()).unwrap_or(false))
}

/// An error of the driver with its causes, for the log.
pub(super) fn reason(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Some errors of the driver repeat their cause.
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

pub(super) fn failed(error: &dyn Error) -> StoreError {
    StoreError::Failed(reason(error))
}

/// The error of a write that may have been made.
fn unknown(error: &ExecutionError) -> StoreError {
    tracing::warn!(error = reason(error), "the cluster did not say whether a change was made");
    StoreError::OutcomeUnknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_names_its_keyspace() {
        for (text, expected) in [
            ("SELECT a FROM t WHERE b = ?", "SELECT a FROM mail.t WHERE b = ?"),
            ("INSERT INTO t (a) VALUES (?)", "INSERT INTO mail.t (a) VALUES (?)"),
            ("UPDATE t USING TTL ? SET a = ?", "UPDATE mail.t USING TTL ? SET a = ?"),
            ("DELETE FROM t USING TIMESTAMP ? WHERE a = ?", "DELETE FROM mail.t USING TIMESTAMP ? WHERE a = ?"),
        ] {
            assert_eq!(qualified(text, "mail"), expected);
        }
    }
}
