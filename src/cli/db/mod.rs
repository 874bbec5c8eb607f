//! `tempmail db`: the store as a whole: check, backup and restore.

mod backup;
mod check;
mod restore;

use std::sync::Arc;

use clap::Subcommand;

use super::Context;
use super::output::Bar;
use crate::client::{self, Destination};
use crate::config::{self, Sources, StoreLocation};
use crate::error::{Error, Exit};

/// Check, back up and restore the mail store
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db backup /var/backups/tempmail.backup
  tempmail db restore /var/backups/tempmail.backup --yes
  tempmail db check")]
pub(super) struct Db {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Check(check::Check),
    Backup(backup::Backup),
    Restore(restore::Restore),
}

impl Db {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::Check(check) => check.run(cx).await,
            Verb::Backup(backup) => backup.run(cx).await,
            Verb::Restore(restore) => restore.run(cx).await,
        }
    }
}

/// Whether mail is kept in a cluster.
fn is_in_cluster(sources: &Sources) -> Result<bool, Error> {
    Ok(config::load(sources)?.config.store.location != StoreLocation::Embedded)
}

/// What the settings are read from, for a command that works on the store itself.
fn sources(cx: &Context) -> Result<Sources, Error> {
    match cx.globals.target(&cx.env)? {
        Destination::Local(sources) => Ok(sources),
        Destination::Server(..) => Err(Error::usage("this works on the store itself, not through --server")
            .hint("run it on the machine of the service, as the user that runs it")),
    }
}

/// Shows on a terminal how far the work is.
fn bar(cx: &Context, what: &'static str) -> client::ProgressCallback {
    let bar = Bar::new(what, cx.shows_progress());
    Arc::new(move |done, all| bar.set(done, all))
}

/// The same for work that is not measured in octets.
fn bar_of_parts(cx: &Context, what: &'static str) -> client::ProgressCallback {
    let bar = Bar::of_mails(what, cx.shows_progress());
    Arc::new(move |done, all| bar.set(done, all))
}

/// Fails unless it is agreed to, with `--yes` or an answer on the terminal; `false` is a no.
async fn agreed(cx: &Context, question: &str, what: &str) -> Result<bool, Error> {
    if cx.globals.yes {
        return Ok(true);
    }
    if !cx.can_ask() {
        return Err(Error::usage(format!("{what} without a terminal to ask on needs --yes")));
    }
    cx.ask(question).await
}

/// Says so if a store could not take over the tokens of the one that it replaced.
fn tell_of_tokens(cx: &Context, has_tokens: bool) {
    if !has_tokens {
        cx.hint(
            "the tokens of remote callers cannot be read and are lost; `tempmail token new --name NAME` makes new ones",
        );
    }
}
