//! Work on the store in a cluster itself: restoring and checking it.

use std::fs::File;
use std::path::PathBuf;

use super::offline::{ProgressCallback, blocking};
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Sources};
use crate::error::{Error, Exit};
use crate::store::backup::{BackupCounts, RestoreError};
use crate::store::check::CheckReport;
use crate::store::{self, OpenError};

/// Fills the keyspace that the settings name from a backup. It is made or must be empty, and no node of the service may run
/// on it.
pub(crate) async fn restore_into_cluster(
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
        RestoreError::InUse { .. } => {
            Error::new(Exit::Conflict, error).hint("stop them first; a node that was killed counts for five seconds")
        }
        RestoreError::NotEmpty { .. } | RestoreError::AnotherUnfinished { .. } => Error::new(Exit::Conflict, error)
            .hint("nothing was changed; name another keyspace in TEMPMAIL_STORE, which is made"),
        RestoreError::Unfinished(error) => unrestored(*error)
            .hint("the keyspace is not complete, and nobody can open it; restore into another one, and drop this one"),
    }
}

/// Checks the store in the cluster that the settings name, without writing to it. Nodes may run meanwhile.
pub(crate) async fn check_cluster(sources: &Sources, progress: ProgressCallback) -> Result<CheckReport, Error> {
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
