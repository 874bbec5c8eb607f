//! Work on the store in a cluster itself: making, restoring and checking it.

use std::fs::File;
use std::path::PathBuf;

use super::offline::{ProgressCallback, blocking};
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Sources, StoreLocation};
use crate::error::{Error, Exit};
use crate::store::backup::{BackupCounts, RestoreError};
use crate::store::check::CheckReport;
use crate::store::{self, OpenError};

pub use crate::store::Initialized;

/// Makes keyspace and schema in the cluster that the settings name, as far as they are not there.
///
/// `replication` is the number of copies of each row in a keyspace that is made. An embedded store is a usage error, since
/// it needs nothing.
pub async fn init_cluster(sources: &Sources, replication: u32) -> Result<Initialized, Error> {
    let config = config::load(sources)?.config;
    if config.store.location == StoreLocation::Embedded {
        let cause = format!("mail is kept in {}, where `tempmail serve` makes the store", config.data_dir.display());
        return Err(Error::usage(cause)
            .hint("for a cluster set TEMPMAIL_STORE=cassandra://HOST/KEYSPACE, or store in the configuration file"));
    }
    Ok(store::init_cluster(&config, replication).await?)
}

/// Fills the empty keyspace that the settings name from a backup. Nodes of the service must not run on it.
pub async fn restore_into_cluster(
    sources: &Sources,
    file: PathBuf,
    with_events: bool,
    checking: ProgressCallback,
    restoring: ProgressCallback,
) -> Result<BackupCounts, Error> {
    let config = config::load(sources)?.config;
    blocking(move || {
        let all = std::fs::metadata(&file).map_or(0, |found| found.len());
        let how = (with_events, SystemClock.now());
        let (checking, restoring) = (&mut |done| checking(done, all), &mut |done| restoring(done, all));
        store::restore_into_cluster(&config, &|| File::open(&file), how, checking, restoring).map_err(|error| {
            match error {
                RestoreError::Backup(error) => {
                    Error::new(Exit::Failure, format!("{}: {error}", file.display())).hint("nothing was changed")
                }
                error => unrestored(error),
            }
        })
    })
    .await
}

fn unrestored(error: RestoreError) -> Error {
    match error {
        RestoreError::Open(error) => error.into(),
        RestoreError::Store(error) => error.into(),
        RestoreError::Backup(_) => Error::new(Exit::Failure, error),
        RestoreError::NotEmpty { .. } => Error::new(Exit::Conflict, error)
            .hint("nothing was changed; name another keyspace in TEMPMAIL_STORE and make it with `tempmail db init`"),
        RestoreError::InUse { .. } => {
            Error::new(Exit::Conflict, error).hint("stop them first; a node that was killed counts for six seconds")
        }
        RestoreError::AnotherUnfinished { .. } => Error::new(Exit::Conflict, error)
            .hint("finish that one, or name another keyspace in TEMPMAIL_STORE and make it with `tempmail db init`"),
        RestoreError::Unfinished(error) => unrestored(*error).hint(
            "the keyspace is not complete, and nobody can open it; run `tempmail db restore` with the same file again",
        ),
    }
}

/// Checks the store in the cluster that the settings name, without writing to it. Nodes may run meanwhile.
pub async fn check_cluster(sources: &Sources, progress: ProgressCallback) -> Result<CheckReport, Error> {
    let config = config::load(sources)?.config;
    let checked = store::check_cluster(&config, SystemClock.now(), &mut |done, all| progress(done, all)).await;
    checked.map_err(|error| match error {
        // What the cluster refuses is one thing, that it cannot be reached another.
        error @ OpenError::Cluster { .. } => {
            Error::new(Exit::Unavailable, error).hint("see that the nodes in store run and can be reached from here")
        }
        error => error.into(),
    })
}
