//! The file with the keys of private inboxes: one for each service, readable by its user alone.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::{Token, Transport};
use crate::config::user_state_dir;
use crate::error::{Error, Exit};
use crate::unfinished::Unfinished;

/// The key of a service in the file.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    /// The name of the service, which is the place where it is asked.
    service: String,
}

impl KeyFile {
    /// The one of the service that a transport leads to. `None` where the environment names no place for the file.
    pub fn of(env: &BTreeMap<String, String>, transport: &Transport) -> Option<Self> {
        let path = user_state_dir(env)?.join("keys.json");
        Some(Self { path, service: transport.shown().to_owned() })
    }

    /// Where it is. It need not exist.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key, if there is one. A file that this user may not open is another's, and has none.
    pub fn key(&self) -> Result<Option<Token>, Error> {
        let keys = self.keys()?;
        keys.get(&self.service).map(|key| Token::new(key)).transpose()
    }

    fn keys(&self) -> Result<BTreeMap<String, String>, Error> {
        use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        let is_elsewhere = |error: &io::Error| matches!(error.kind(), NotFound | NotADirectory | PermissionDenied);
        let text = match std::fs::read(&self.path) {
            Err(error) if is_elsewhere(&error) => return Ok(BTreeMap::new()),
            text => text.map_err(|error| self.failed(&error))?,
        };
        // The words of the parser might show a key.
        serde_json::from_slice(&text).map_err(|_| {
            Error::new(Exit::Failure, format!("{}: it is no list of keys", self.path.display()))
                .hint("move the file away; keys that are lost open nothing any more")
        })
    }

    /// Waits until no other process changes the file, and keeps them from it until this is dropped.
    pub(super) async fn hold(&self) -> Result<Held<'_>, Error> {
        let path = self.path.with_extension("lock");
        // Another call of this process may hold it, so this thread must go on.
        let locked = spawn_blocking(move || {
            DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(&path))?;
            let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
            lock.lock().map(|()| lock)
        });
        let lock = locked.await.map_err(io::Error::other).flatten().map_err(|error| self.failed(&error))?;
        Ok(Held { file: self, _lock: lock })
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::new(Exit::Failure, format!("{}: {error}", self.path.display()))
    }
}

/// The file while nobody else changes it.
pub(super) struct Held<'f> {
    file: &'f KeyFile,
    _lock: File,
}

impl Held<'_> {
    /// Puts a key in the place of the one that was there, or takes that away. It is on the disk then.
    pub(super) fn put(&self, key: Option<&str>) -> Result<(), Error> {
        let (file, mut keys) = (self.file, self.file.keys()?);
        match key {
            Some(key) => keys.insert(file.service.clone(), key.to_owned()),
            None => keys.remove(&file.service),
        };
        let written = Unfinished::beside(&file.path).and_then(|mut begun| {
            begun.write(&serde_json::to_vec_pretty(&keys)?)?;
            begun.finish()
        });
        written.map_err(|error| file.failed(&error))
    }
}
