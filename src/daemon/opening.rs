//! The data directory and the store of a start.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Config, StoreLocation};
use crate::store::disk::Directory;
use crate::store::{self, EmbeddedStore, OpenError, Storage, StoreOptions};

/// How long a start or a command waits for a data directory that another process holds: a command of a moment, or a daemon
/// that is stopping.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_RETRY_EVERY: Duration = Duration::from_millis(50);

/// Takes the data directory, which is made if it is missing. Waits [`LOCK_TIMEOUT`] for its lock.
///
/// The lock is held until the last reference is dropped. Wherever mail is kept, a daemon needs it for its control socket.
pub async fn hold_data_dir(config: &Config) -> Result<Arc<Directory>, OpenError> {
    let deadline = tokio::time::Instant::now() + LOCK_TIMEOUT;
    Directory::create(&config.data_dir)?;
    loop {
        let path = config.data_dir.clone();
        match blocking(config, move || Directory::lock(&path)).await {
            Err(OpenError::Locked { .. }) if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(LOCK_RETRY_EVERY).await;
            }
            locked => return locked.map(Arc::new),
        }
    }
}

/// Opens the store that the settings name. The embedded one is in `directory`, and is made if it is missing.
pub async fn open_store(config: &Config, directory: &Arc<Directory>) -> Result<Arc<dyn Storage>, OpenError> {
    let options = StoreOptions::from_config(config);
    if let StoreLocation::Cassandra(_) = config.store.location {
        return store::open_cluster(config, &options, true).await;
    }
    let disk = Arc::clone(directory);
    let opened = blocking(config, move || EmbeddedStore::open_on(disk, &options)).await;
    Ok(Arc::new(opened.map_err(|error| error.within(directory.path()))?))
}

async fn blocking<T: Send + 'static>(
    config: &Config,
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.unwrap_or_else(|ended| Err(OpenError::Io { path: config.data_dir.clone(), reason: ended.to_string() }))
}
