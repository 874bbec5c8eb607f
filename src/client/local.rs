//! The service on this machine without its daemon: the router in this process, over the store that this process opens.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use axum::{Extension, Router};
use futures_util::future::BoxFuture;

use crate::clock::SystemClock;
use crate::config::{self, Config, Sources, StoreLocation};
use crate::error::{Error, Exit};
use crate::http::{self, Caller};
use crate::service::Service;
use crate::store::disk::Directory;
use crate::store::{self, EmbeddedStore, OpenError, Storage, StoreOptions};

/// The data directory that the user named in a flag or in the environment.
pub(super) fn named_data_dir(sources: &Sources) -> Option<PathBuf> {
    let of_env = || sources.env.get("TEMPMAIL_DATA_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    sources.data_dir.clone().or_else(of_env)
}

/// The data directory in effect, absolute. The configuration is read only when nobody named the directory.
pub fn data_dir(sources: &Sources) -> Result<PathBuf, Error> {
    let dir = match named_data_dir(sources) {
        Some(named) => named,
        None => config::load(sources)?.config.data_dir,
    };
    // The socket of a long path is named after it, so daemon and command must spell it alike.
    std::path::absolute(&dir).map_err(|error| Error::usage(format!("{}: {error}", dir.display())))
}

/// The router of a service that this process has opened.
pub struct LocalRouter {
    /// Answers as the daemon would, with the administrator as the caller of every request.
    pub router: Router,
    /// The data directory or the cluster, for a person.
    pub shown: String,
    /// Closes the store. If it is not called, the next process replays the journal, and nothing is lost.
    pub close: Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl fmt::Debug for LocalRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRouter").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Why the store could not be opened in this process.
#[derive(Debug)]
pub enum OpenRouterError {
    /// Another process holds the lock on the data directory: a daemon that starts or stops, or another command.
    Locked,
    /// Anything else.
    Failed(Error),
}

/// Makes the router of a data directory. Only this part of the client knows that there is a store.
#[async_trait]
pub trait OpenRouter: Send + Sync {
    /// Opens the store in `data_dir`, which exists and is the caller's, or the one in a cluster, and puts the service together over it.
    ///
    /// Every request that goes through the router is the administrator's. Waits for no lock.
    async fn open(&self, data_dir: &Path, sources: &Sources) -> Result<LocalRouter, OpenRouterError>;
}

/// How the binary does it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assembly;

#[async_trait]
impl OpenRouter for Assembly {
    async fn open(&self, data_dir: &Path, sources: &Sources) -> Result<LocalRouter, OpenRouterError> {
        let failed = |error: Error| OpenRouterError::Failed(error);
        let mut config = config::load(sources).map_err(|error| failed(error.into()))?.config;
        config.data_dir = data_dir.into();
        let (directory, store) = open(&config).await?;
        let shown = match config.store.location {
            StoreLocation::Embedded => data_dir.display().to_string(),
            StoreLocation::Cassandra { .. } => config.store.location.to_string(),
        };
        let service = Service::open(config, Arc::clone(&store), Arc::new(SystemClock), None, None);
        let service = service.await.map_err(|error| failed(error.into()))?;
        Ok(LocalRouter {
            router: http::router(service).layer(Extension(Caller::administrator())),
            shown,
            close: Box::new(move || {
                Box::pin(async move {
                    if let Err(error) = store.close().await {
                        tracing::warn!(%error, "the store was not closed; nothing is lost");
                    }
                    drop(directory);
                })
            }),
        })
    }
}

/// Opens the store that the settings name, and takes the data directory. Makes neither.
///
/// Beside a cluster there may be no data directory.
async fn open(config: &Config) -> Result<(Option<Arc<Directory>>, Arc<dyn Storage>), OpenRouterError> {
    let is_embedded = config.store.location == StoreLocation::Embedded;
    if is_embedded && !EmbeddedStore::is_in(&config.data_dir) {
        let cause = format!("no daemon runs, and {} holds no mail", config.data_dir.display());
        let error = Error::new(Exit::Unavailable, cause);
        return Err(OpenRouterError::Failed(error.hint("start `tempmail serve`, or name another --data-dir")));
    }
    let (path, options) = (config.data_dir.clone(), StoreOptions::for_a_moment(config));
    let opened = tokio::task::spawn_blocking(move || {
        let directory = match Directory::lock(&path) {
            Err(OpenError::Missing { .. }) if !is_embedded => return Ok((None, None)),
            locked => Arc::new(locked?),
        };
        if !is_embedded {
            return Ok((Some(directory), None));
        }
        let store = EmbeddedStore::open_on(directory.clone(), &options).map_err(|error| error.within(&path))?;
        Ok((Some(directory), Some(Arc::new(store) as Arc<dyn Storage>)))
    });
    let opened = opened.await.map_err(|ended| OpenRouterError::Failed(Error::new(Exit::Failure, ended)))?;
    Ok(match opened.map_err(unopened)? {
        (directory, Some(store)) => (directory, store),
        (directory, None) => (directory, store::open_cluster(config, &options, false).await.map_err(unopened)?),
    })
}

fn unopened(error: OpenError) -> OpenRouterError {
    match error {
        OpenError::Locked { .. } => OpenRouterError::Locked,
        error => OpenRouterError::Failed(error.into()),
    }
}

/// Whether the store can be opened although `data_dir` does not exist: it is in a cluster.
pub(super) fn needs_no_directory(sources: &Sources, data_dir: &Path) -> Result<bool, Error> {
    let is_missing = std::fs::symlink_metadata(data_dir).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok(is_missing && config::load(sources)?.config.store.location != StoreLocation::Embedded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(data_dir: Option<&str>, env: &[(&str, &str)]) -> Sources {
        Sources {
            data_dir: data_dir.map(PathBuf::from),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Sources::default()
        }
    }

    #[test]
    fn the_data_directory_is_the_one_named_or_the_configurations() {
        let dir = tempfile::tempdir().expect("directory");
        let file = dir.path().join("config.toml");
        std::fs::write(&file, "data-dir = '/file'").expect("write");
        let env = [("TEMPMAIL_DATA_DIR", "/env"), ("HOME", "/home/ann")];
        let of = |flag, env: &[(&str, &str)], config_file: Option<&PathBuf>| {
            data_dir(&Sources { config_file: config_file.cloned(), ..sources(flag, env) }).expect("directory")
        };
        assert_eq!(of(Some("/flag"), &env, Some(&file)), Path::new("/flag"));
        assert_eq!(of(None, &env, Some(&file)), Path::new("/env"));
        assert_eq!(of(None, &env[1..], Some(&file)), Path::new("/file"));
        assert!(of(Some("relative"), &env, None).is_absolute());
    }

    #[test]
    fn a_bad_configuration_is_said_as_one() {
        let missing = Sources { config_file: Some("/does/not/exist.toml".into()), ..sources(None, &[("HOME", "/h")]) };
        assert_eq!(data_dir(&missing).expect_err("no file").exit(), Exit::BadConfig);
    }
}
