//! `tempmail token`: what remote callers show to be the administrator.

mod list;
mod new;
mod revoke;

use clap::Subcommand;

use super::Context;
use super::output::{Cell, Narrow, Row};
use crate::client::TokenEntry;
use crate::error::{Error, Exit};

/// Give out tokens for the administrator's operations over HTTP
///
/// A caller sends a token as `Authorization: Bearer TOKEN`. This program reads it from --token-file or `TEMPMAIL_TOKEN`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail token new --name ci --scope read --expires 90d > token.txt
  tempmail token list
  tempmail token revoke ci
  tempmail --server https://mail.example.org --token-file token.txt status")]
pub(super) struct Token {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    New(new::New),
    List(list::List),
    Revoke(revoke::Revoke),
}

impl Token {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::New(new) => new.run(cx).await,
            Verb::List(list) => list.run(cx).await,
            Verb::Revoke(revoke) => revoke.run(cx).await,
        }
    }
}

impl Row for TokenEntry {
    const HEADINGS: &'static [&'static str] = &["NAME", "SCOPE", "STATUS", "CREATED", "EXPIRES", "ID"];
    const NARROW: &'static [Narrow] = &[Narrow::Cut(0, 20), Narrow::Omit(3), Narrow::Cut(0, 10)];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.name.clone()),
            Cell::Text(self.scope.clone()),
            Cell::State(self.status.clone(), self.status == "active"),
            Cell::Time(Some(self.created_at.clone())),
            Cell::Time(self.expires_at.clone()),
            Cell::Id(self.id.clone()),
        ]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}
