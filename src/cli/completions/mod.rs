//! `tempmail completions`: what a shell needs to complete command lines.
//!
//! The scripts of bash, zsh and fish hand the command line up to the cursor to `tempmail __complete`, and show its answer. They
//! know no flag and no command themselves.
//!
//! ```text
//! answer   what `__complete` prints, in time      line        the words of a command line
//! values   values of the service                  candidate   a value with its description
//! ```

mod answer;
mod candidate;
mod line;
mod values;

use std::path::PathBuf;

use clap::ValueEnum;

use super::{Context, directory};
use crate::error::{Error, Exit};

pub(super) use answer::Complete;

/// Print completions for a shell, or write those for all shells
///
/// They also complete values: addresses, domains, ids of mail and of webhooks. They ask the service for them, and offer none
/// where it does not answer at once.
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
    #[arg(long, value_name = "DIR", value_parser = directory)]
    dir: Option<PathBuf>,
}

/// A shell that there is a script for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Fish,
    Zsh,
}

impl Completions {
    pub(super) fn run(self, cx: &Context) -> Result<(), Error> {
        if let Some(shell) = self.shell {
            cx.print(script(shell).1)?;
        }
        if let Some(dir) = self.dir {
            let failed = |error: std::io::Error| Error::new(Exit::Failure, format!("{}: {error}", dir.display()));
            std::fs::create_dir_all(&dir).map_err(failed)?;
            for &shell in Shell::value_variants() {
                let (name, text) = script(shell);
                std::fs::write(dir.join(name), text).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// The file that `shell` reads: its name and its text.
const fn script(shell: Shell) -> (&'static str, &'static str) {
    match shell {
        Shell::Bash => ("tempmail.bash", include_str!("../../../completions/tempmail.bash")),
        Shell::Fish => ("tempmail.fish", include_str!("../../../completions/tempmail.fish")),
        Shell::Zsh => ("_tempmail", include_str!("../../../completions/_tempmail")),
    }
}
