//! `tempmail man`: the manual pages.

use std::path::PathBuf;

use super::Context;
use crate::error::{Error, Exit};

/// Print the manual page, or write the pages of every command into a directory
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail man | man -l -
  tempmail man ~/.local/share/man/man1")]
pub(super) struct Man {
    /// Write a page for every command into this directory
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let command = super::command();
        if let Some(dir) = self.dir {
            let failed = |error: std::io::Error| Error::new(Exit::Failure, format!("{}: {error}", dir.display()));
            std::fs::create_dir_all(&dir).map_err(failed)?;
            clap_mangen::generate_to(command, &dir).map_err(failed)?;
        } else {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(command).render(&mut page);
            rendered.map_err(|error| Error::new(Exit::Failure, error))?;
            cx.print(page)?;
        }
        Ok(Exit::Ok)
    }
}
