//! `tempmail completions`: what a shell needs to complete command lines.
//!
//! The scripts of bash, zsh and fish hand the command line up to the cursor to `tempmail __complete`, and show its answer. They
//! know no flag and no command themselves. The other shells get scripts that clap makes from the command tree.
//!
//! ```text
//! answer   what `__complete` prints, in time      line   the words of a command line
//! cursor   what may stand at the cursor           kind   which argument takes which values
//! values   values of the service                  candidate   a value with its description
//! ```

mod answer;
mod candidate;
mod cursor;
mod kind;
mod line;
mod values;

use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::Shell;

use super::Context;
use crate::error::{Error, Exit};

pub(super) use answer::{answer, question};

/// Print completions for a shell, or write those for all shells
///
/// In bash, zsh and fish they also complete values: addresses, domains, ids of mail, names. They ask the service for them, and
/// offer none where it does not answer at once.
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
        if let Some(shell) = self.shell {
            cx.print(script(shell))?;
        }
        if let Some(dir) = self.dir {
            let failed = |error: std::io::Error| Error::new(Exit::Failure, format!("{}: {error}", dir.display()));
            std::fs::create_dir_all(&dir).map_err(failed)?;
            for &shell in Shell::value_variants() {
                let name = clap_complete::Generator::file_name(&shell, "tempmail");
                std::fs::write(dir.join(name), script(shell)).map_err(failed)?;
            }
        }
        Ok(Exit::Ok)
    }
}

/// What `shell` reads.
fn script(shell: Shell) -> Vec<u8> {
    match shell {
        Shell::Bash => include_bytes!("../../../completions/tempmail.bash").to_vec(),
        Shell::Zsh => include_bytes!("../../../completions/_tempmail").to_vec(),
        Shell::Fish => include_bytes!("../../../completions/tempmail.fish").to_vec(),
        _ => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut super::command(), "tempmail", &mut script);
            script
        }
    }
}
