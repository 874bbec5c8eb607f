//! The service on this machine without its daemon: the router in this process, over the store that this process opens.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use axum::Router;
use futures_util::future::BoxFuture;

use crate::error::{Error, Exit};

/// What a local command knows about where the data is: the input of the configuration, without the settings of `serve`.
#[derive(Clone, Debug, Default)]
pub struct LocalSources {
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--config`.
    pub config_file: Option<PathBuf>,
    /// The environment.
    pub env: BTreeMap<String, String>,
}

impl LocalSources {
    /// The data directory that the user named in a flag or in the environment.
    pub fn named_data_dir(&self) -> Option<PathBuf> {
        let named = self.variable("TEMPMAIL_DATA_DIR").map(PathBuf::from);
        self.data_dir.clone().or(named)
    }

    /// The data directory in effect: the named one, else `$STATE_DIRECTORY`, else `$XDG_DATA_HOME/tempmail`, else
    /// `~/.local/share/tempmail`.
    pub fn data_dir(&self) -> Result<PathBuf, Error> {
        let of_system = || self.variable("STATE_DIRECTORY").and_then(|list| list.split(':').next().map(PathBuf::from));
        // A relative path in an XDG variable is to be ignored, says its specification.
        let absolute = |name| self.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let of_user = || absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
        let found = self.named_data_dir().or_else(of_system).or_else(|| Some(of_user()?.join("tempmail")));
        found.ok_or_else(|| {
            Error::usage("there is no home directory to look for the data in").hint("give --data-dir DIR")
        })
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// The router of a service that this process has opened.
pub struct LocalRouter {
    /// Answers as the daemon would, with the administrator as the caller of every request.
    pub router: Router,
    /// The data directory, for a person.
    pub shown: String,
    /// Closes the store. Without it the next process replays the journal, and nothing is lost.
    pub close: Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl fmt::Debug for LocalRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRouter").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Why the store could not be opened in this process.
#[derive(Debug)]
pub enum OpenError {
    /// Another process holds the lock on the data directory: a daemon that starts or stops, or another command.
    Locked,
    /// Anything else.
    Failed(Error),
}

/// What makes the router of a data directory: the one place where the client knows that there is a daemon to assemble.
#[async_trait]
pub trait OpenRouter: Send + Sync {
    /// Opens the store in `data_dir`, which exists and is the caller's, and assembles the service over it.
    ///
    /// Every request that goes through the router is the administrator's. Waits for no lock.
    async fn open(&self, data_dir: &Path, sources: &LocalSources) -> Result<LocalRouter, OpenError>;
}

/// The assembly that the binary uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assembly;

#[async_trait]
impl OpenRouter for Assembly {
    // SEAM: the daemon's assembly goes here. It loads the configuration from `sources`, opens the store (a taken lock is
    // `OpenError::Locked`), and returns its router with `Principal::Administrator` as an extension of every request.
    async fn open(&self, data_dir: &Path, _sources: &LocalSources) -> Result<LocalRouter, OpenError> {
        let cause = format!("no daemon runs on {}, and this build cannot open it by itself", data_dir.display());
        Err(OpenError::Failed(Error::new(Exit::Unavailable, cause).hint("start `tempmail serve`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(data_dir: Option<&str>, env: &[(&str, &str)]) -> LocalSources {
        LocalSources {
            data_dir: data_dir.map(PathBuf::from),
            config_file: None,
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn the_data_directory_is_the_first_that_is_named() {
        let all = [
            ("TEMPMAIL_DATA_DIR", "/env"),
            ("STATE_DIRECTORY", "/state:/other"),
            ("XDG_DATA_HOME", "/xdg"),
            ("HOME", "/home/ann"),
        ];
        let of = |flag, env: &[(&str, &str)]| sources(flag, env).data_dir().expect("directory");
        assert_eq!(of(Some("flag"), &all), Path::new("flag"));
        assert_eq!(of(None, &all), Path::new("/env"));
        assert_eq!(of(None, &all[1..]), Path::new("/state"));
        assert_eq!(of(None, &all[2..]), Path::new("/xdg/tempmail"));
        assert_eq!(of(None, &all[3..]), Path::new("/home/ann/.local/share/tempmail"));
        assert_eq!(of(None, &[("XDG_DATA_HOME", "relative"), ("HOME", "/h")]), Path::new("/h/.local/share/tempmail"));
        assert_eq!(sources(None, &[]).data_dir().expect_err("no home").exit(), Exit::Usage);
    }
}
