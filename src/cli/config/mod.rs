//! `tempmail config`: the settings in effect, and configuration files.

mod check;
mod init;
mod show;

use clap::Subcommand;

use super::Context;
use crate::error::{Error, Exit};

/// Show the settings, check a configuration file or write one
///
/// `tempmail help configuration` lists all settings.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail config show --origin
  tempmail config check /etc/tempmail/config.toml
  tempmail config init config.toml")]
pub(super) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Show(show::Show),
    Check(check::Check),
    Init(init::Init),
}

impl Config {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::Show(show) => show.run(cx).await,
            Verb::Check(check) => check.run(cx),
            Verb::Init(init) => init.run(cx),
        }
    }
}
