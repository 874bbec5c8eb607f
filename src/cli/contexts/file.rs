//! The file of the contexts: `contexts.json` beside the user's configuration file, for its owner alone.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::unfinished::Unfinished;
use crate::config::user_config_file;
use crate::error::{Error, Exit};

/// The file may hold tokens.
const MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;
const FILE_OCTETS_MAX: u64 = 1 << 20;
/// The most contexts.
const CONTEXTS_MAX: usize = 100;

/// A server under a name. It has no `Debug`, since it may hold a token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct NamedServer {
    pub(in crate::cli) server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) token: Option<String>,
}

/// The contexts of a user.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::cli) struct Contexts {
    /// The one that is used where nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) current: Option<String>,
    #[serde(default)]
    pub(in crate::cli) contexts: BTreeMap<String, NamedServer>,
}

impl Contexts {
    /// Reads the file; without one there are no contexts. A file that others can read is refused.
    pub(in crate::cli) fn read(env: &BTreeMap<String, String>) -> Result<Self, Error> {
        let Some(path) = path(env) else { return Ok(Self::default()) };
        let failed = |error: io::Error| failure(&path, &error);
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(failed)?,
        };
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(Error::new(Exit::NotAllowed, format!("{} can be read by others", path.display()))
                .hint(format!("it may hold tokens: chmod 600 {}", path.display())));
        }
        let mut text = String::new();
        file.take(FILE_OCTETS_MAX).read_to_string(&mut text).map_err(failed)?;
        serde_json::from_str(&text).map_err(|error| Error::new(Exit::BadConfig, format!("{}: {error}", path.display())))
    }

    /// Replaces the file, as a whole or not at all.
    pub(super) fn write(&self, env: &BTreeMap<String, String>) -> Result<(), Error> {
        if self.contexts.len() > CONTEXTS_MAX {
            return Err(Error::new(Exit::Conflict, format!("there are at most {CONTEXTS_MAX} contexts"))
                .hint("`tempmail context rm NAME` makes room"));
        }
        let path = path(env).ok_or_else(|| Error::usage("neither XDG_CONFIG_HOME nor HOME names a directory"))?;
        let written = || -> io::Result<()> {
            let directory = path.parent().unwrap_or(Path::new("/"));
            DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)?;
            let mut unfinished = Unfinished::beside(&path, MODE)?;
            unfinished.write(&serde_json::to_vec_pretty(self)?)?;
            unfinished.finish()
        };
        written().map_err(|error| failure(&path, &error))
    }

    /// The context of this name.
    pub(in crate::cli) fn named(&self, name: &str) -> Result<&NamedServer, Error> {
        self.contexts.get(name).ok_or_else(|| {
            Error::new(Exit::NotFound, format!("there is no context {name}"))
                .hint("`tempmail context list` shows the contexts")
        })
    }
}

fn path(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    user_config_file(env).map(|file| file.with_file_name("contexts.json"))
}

fn failure(path: &Path, error: &io::Error) -> Error {
    Error::new(Exit::Failure, format!("{}: {error}", path.display()))
}
