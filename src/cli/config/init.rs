//! `tempmail config init`

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::super::{Context, STANDARD};
use crate::config;
use crate::error::{Error, Exit};

/// Print a configuration file with every setting at its default, or write it
///
/// Every setting is commented out and has its meaning, its unit, its bounds and its default.
/// A file that exists is never overwritten: exit code 5.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail config init | less
  tempmail config init config.toml
  tempmail config init | grep '^#[a-z]'")]
pub(super) struct Init {
    /// File to write; - for standard output [default: -]
    file: Option<PathBuf>,
}

impl Init {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let Some(file) = self.file.filter(|file| file.as_os_str() != STANDARD) else {
            cx.print(config::template())?;
            return Ok(Exit::Ok);
        };
        write_new(&file, &config::template()).map_err(|error| {
            let cause = format!("{}: {error}", file.display());
            match error.kind() {
                io::ErrorKind::AlreadyExists => Error::new(Exit::Conflict, format!("{} exists", file.display()))
                    .hint("it was not changed; name another file, or `tempmail config check` it"),
                io::ErrorKind::NotFound => Error::new(Exit::Failure, cause).hint("make its directory first"),
                io::ErrorKind::PermissionDenied => Error::new(Exit::NotAllowed, cause),
                _ => Error::new(Exit::Failure, cause),
            }
        })?;
        cx.hint(&format!("edit it, then check it with `tempmail config check {}`", file.display()));
        Ok(Exit::Ok)
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
