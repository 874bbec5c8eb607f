//! `tempmail completions`: what a shell needs to complete command lines.

use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::Shell;

use super::Context;
use crate::error::{Error, Exit};

/// Print completions for a shell, or write those for all shells
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["shell", "dir"])), after_help = "\
Examples:
  tempmail completions bash \\
    > ~/.local/share/bash-completion/completions/tempmail
  tempmail completions zsh > ~/.zfunc/_tempmail
  tempmail completions fish > ~/.config/fish/completions/tempmail.fish
  tempmail completions --dir completions")]
pub(super) struct Completions {
    /// The shell
    shell: Option<Shell>,

    /// Write a file for every shell into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Completions {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        let mut command = super::command();
        if let Some(shell) = self.shell {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "tempmail", &mut script);
            cx.print(script)?;
        }
        if let Some(dir) = self.dir {
            let failed = |error: std::io::Error| Error::new(Exit::Failure, format!("{}: {error}", dir.display()));
            std::fs::create_dir_all(&dir).map_err(failed)?;
            for &shell in Shell::value_variants() {
                clap_complete::generate_to(shell, &mut command, "tempmail", &dir).map_err(failed)?;
            }
        }
        Ok(Exit::Ok)
    }
}
