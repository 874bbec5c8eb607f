//! Work on a store while no daemon runs on its data directory: check, salvage, restore and backup.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;

use super::destination::{SYSTEM_DATA_DIR, check_meant, check_ours, data_dir, find_daemon, is_usual_data_dir};
use crate::clock::{Clock, SystemClock};
use crate::config::{self, Sources, StoreLocation};
use crate::daemon::LOCK_TIMEOUT;
use crate::error::{Error, Exit};
use crate::store::backup;
use crate::store::disk::{Directory, Disk, OldFiles};
use crate::store::{self, EmbeddedStore, OpenError, Storage, StoreOptions};

pub use crate::store::Salvaged;
pub use crate::store::backup::BackupCounts;
pub use crate::store::check::{CheckReport, Finding};

const PAUSE: Duration = Duration::from_millis(50);

/// Called with the octets that are done and with all octets.
pub type ProgressCallback = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// A data directory that this process holds, with the settings of its store.
#[derive(Debug)]
pub struct OfflineStore {
    directory: Arc<Directory>,
    options: StoreOptions,
    is_named: bool,
}

impl OfflineStore {
    /// Takes the data directory, and makes a missing one if `is_made`, unless that of a service is probably meant. A daemon
    /// that runs on it is a conflict.
    pub async fn take(sources: &Sources, is_made: bool) -> Result<Self, Error> {
        let (path, is_named) = (data_dir(sources)?, !is_usual_data_dir(sources)?);
        refuse_daemon(sources, &path)?;
        if is_made {
            if !is_named {
                check_meant(&path, Path::new(SYSTEM_DATA_DIR))?;
            }
            Directory::create(&path)?;
        }
        check_ours(&path, None)?;
        let options = StoreOptions::from_config(&config::load(sources)?.config);
        let deadline = tokio::time::Instant::now() + LOCK_TIMEOUT;
        loop {
            match Directory::lock(&path) {
                Ok(directory) => return Ok(Self { directory: Arc::new(directory), options, is_named }),
                Err(OpenError::Locked { .. }) if tokio::time::Instant::now() < deadline => {
                    refuse_daemon(sources, &path)?;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error @ OpenError::Locked { .. }) => {
                    return Err(Error::new(Exit::Conflict, error).hint("wait for that process to end, or stop it"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The data directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Whether somebody named it: in a flag, the environment or the configuration.
    pub const fn is_named(&self) -> bool {
        self.is_named
    }

    /// Whether there is a store in it.
    pub fn holds_store(&self) -> bool {
        self.directory.holds_store()
    }

    fn disk(&self) -> Arc<dyn Disk> {
        self.directory.clone()
    }

    /// Checks the store without writing to it.
    pub async fn check(&self, progress: ProgressCallback) -> Result<CheckReport, Error> {
        let (disk, options) = (self.disk(), self.options);
        blocking(move || {
            Ok(store::check::check(&disk, &options, SystemClock.now(), &mut |done, all| progress(done, all))?)
        })
        .await
    }

    /// Replaces a damaged store by its readable part. The damaged files are kept in a directory beside it.
    pub async fn salvage(&self, progress: ProgressCallback) -> Result<Salvaged, Error> {
        let (directory, options) = (Arc::clone(&self.directory), self.options);
        blocking(move || {
            Ok(store::salvage(directory, &options, SystemClock.now(), &mut |done, all| progress(done, all))?)
        })
        .await
    }

    /// Replaces the store by that of a backup. Until the backup is restored, nothing here is touched.
    ///
    /// Tokens stay; with the counts comes `false` if they could not be read and are lost.
    pub async fn restore(
        &self,
        file: PathBuf,
        with_events: bool,
        checking: ProgressCallback,
        restoring: ProgressCallback,
    ) -> Result<(BackupCounts, bool), Error> {
        let (disk, directory, options) = (self.disk(), Arc::clone(&self.directory), self.options);
        blocking(move || {
            let named = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
            let failed = |error: std::io::Error| Error::new(Exit::Failure, named(&error));
            let mut input = File::open(&file).map_err(failed)?;
            let all = input.metadata().map_err(failed)?.len();
            let checked = backup::verify(&mut input, &mut |done| checking(done, all));
            let (_, largest) =
                checked.map_err(|error| Error::new(Exit::Failure, named(&error)).hint("nothing was changed"))?;
            let staged: Arc<dyn Disk> = Arc::new(directory.stage()?);
            // Opened again and not rewound, so that a pipe fails before anything is replaced.
            let mut input = File::open(&file).map_err(failed)?;
            let options = options.taking(largest);
            let restored =
                backup::restore(&mut input, &staged, &options, with_events, &mut |done| restoring(done, all))
                    .and_then(|counts| Ok((counts, store::carry_tokens(&disk, &staged)?)));
            drop(staged);
            let restored = restored.map_err(|error| {
                directory.discard();
                Error::new(Exit::Failure, error).hint("nothing was changed")
            })?;
            directory.replace(OldFiles::Go).map_err(failed)?;
            Ok(restored)
        })
        .await
    }
}

/// Backs up a store that no daemon runs on. `take` is given the octets of the file as they come.
pub(crate) async fn back_up(
    sources: &Sources,
    mut take: impl FnMut(&Bytes) -> Result<(), Error>,
) -> Result<BackupCounts, Error> {
    let config = config::load(sources)?.config;
    let options = StoreOptions::for_a_moment(&config);
    let store: Arc<dyn Storage> = if config.store.location == StoreLocation::Embedded {
        let OfflineStore { directory, .. } = OfflineStore::take(sources, false).await?;
        if !directory.holds_store() {
            let cause = format!("no daemon runs, and {} holds no mail", directory.path().display());
            return Err(Error::new(Exit::Unavailable, cause).hint("name another --data-dir"));
        }
        let path = directory.path().to_owned();
        blocking(move || {
            Ok(Arc::new(EmbeddedStore::open_on(directory, &options).map_err(|error| error.within(&path))?))
        })
        .await?
    } else {
        store::open_cluster(&config, &options, false).await?
    };
    let mut counts = BackupCounts::default();
    take(&backup::header())?;
    let mut batches = store.backup(SystemClock.now());
    while let Some(batch) = batches.try_next().await? {
        for item in &batch {
            counts.count(item);
        }
        take(&backup::encode(&batch)?)?;
    }
    drop(batches);
    store.close().await?;
    Ok(counts)
}

fn refuse_daemon(sources: &Sources, path: &Path) -> Result<(), Error> {
    match find_daemon(sources, path) {
        None => Ok(()),
        Some(socket) => Err(Error::new(Exit::Conflict, format!("a daemon runs: it answers at {}", socket.display()))
            .hint("stop it first; `tempmail db backup` works while it runs")),
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(ended) => Err(Error::new(Exit::Failure, ended)),
    }
}
