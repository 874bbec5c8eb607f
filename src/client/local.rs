//! The service on this machine without its daemon: the router in this process, over the store that this process opens.

use std::fmt;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use async_trait::async_trait;
use axum::{Extension, Router};
use futures_util::future::BoxFuture;

use crate::clock::SystemClock;
use crate::config::{self, Sources};
use crate::daemon;
use crate::error::{Error, Exit};
use crate::http::Principal;
use crate::store::{self, EmbeddedStore, Store, StoreOptions};

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
    /// The data directory, for a person.
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

/// Makes the router of a data directory. Only this part of the client knows that there is a daemon to assemble.
#[async_trait]
pub trait OpenRouter: Send + Sync {
    /// Opens the store in `data_dir`, which exists and is the caller's, and assembles the service over it.
    ///
    /// Every request that goes through the router is the administrator's. Waits for no lock.
    async fn open(&self, data_dir: &Path, sources: &Sources) -> Result<LocalRouter, OpenRouterError>;
}

/// The assembly that the binary uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assembly;

#[async_trait]
impl OpenRouter for Assembly {
    async fn open(&self, data_dir: &Path, sources: &Sources) -> Result<LocalRouter, OpenRouterError> {
        let failed = |error: Error| OpenRouterError::Failed(error);
        let mut config = config::load(sources).map_err(|error| failed(error.into()))?.config;
        config.data_dir = data_dir.into();
        if !EmbeddedStore::is_in(data_dir) {
            let cause = format!("no daemon runs, and {} holds no mail", data_dir.display());
            return Err(failed(
                Error::new(Exit::Unavailable, cause).hint("start `tempmail serve`, or name another --data-dir"),
            ));
        }
        let path = data_dir.to_owned();
        let options = StoreOptions::for_a_moment(&config);
        let store = tokio::task::spawn_blocking(move || EmbeddedStore::open(&path, &options))
            .await
            .map_err(|error| failed(Error::new(Exit::Failure, error)))?
            .map_err(|error| match error {
                store::OpenError::Locked { .. } => OpenRouterError::Locked,
                error => failed(error.into()),
            })?;
        let store = Arc::new(store);
        let assembled = daemon::assemble(config, Arc::clone(&store), Arc::new(SystemClock), None)
            .await
            .map_err(|error| failed(error.into()))?;
        Ok(LocalRouter {
            router: assembled.router.layer(Extension(Principal::Administrator)),
            shown: data_dir.display().to_string(),
            close: Box::new(move || {
                Box::pin(async move {
                    if let Err(error) = store.close().await {
                        tracing::warn!(%error, "the store was not closed; the next start replays its journal");
                    }
                })
            }),
        })
    }
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
