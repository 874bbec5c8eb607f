//! `tempmail context`: servers under names of the user's.

mod add;
mod choose;
mod file;
mod list;
mod remove;

use clap::Subcommand;

use super::Context;
use crate::error::{Error, Exit};

pub(super) use file::{Contexts, NamedServer};

/// Keep servers and their tokens under names
///
/// A context is used with --context or `TEMPMAIL_CONTEXT`, and the one of `context use` where neither a server nor a data
/// directory is named. --server and `TEMPMAIL_SERVER` win over it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail context add work --server https://mail.example.org \\
    --token-file token.txt
  tempmail --context work inbox hello@example.org
  tempmail context use work
  tempmail context use -")]
pub(super) struct ContextCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Add(add::Add),
    Use(choose::Use),
    List(list::List),
    Remove(remove::Remove),
}

impl ContextCommand {
    pub(super) fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::Add(add) => add.run(cx),
            Verb::Use(choose) => choose.run(cx),
            Verb::List(list::List {}) => list::List::run(cx),
            Verb::Remove(remove) => remove.run(cx),
        }
    }
}
