//! `tempmail fault`: how SMTP misbehaves on purpose.

mod add;
mod clear;
mod list;

use clap::Subcommand;

use super::Context;
use super::output::{Cell, Narrow, Row};
use crate::client::FaultEntry;
use crate::error::{Error, Exit};

/// Have SMTP misbehave on purpose, to test a sender
///
/// `tempmail help smtp` has the form of rules. Rules that are added here last until the daemon ends.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail fault add 'RCPT user4xx@* 451 4.3.0'
  tempmail fault add 'end first 2 delay 5s drop'
  tempmail fault list
  tempmail fault clear")]
pub(super) struct Fault {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Add(add::Add),
    List(list::List),
    Clear(clear::Clear),
}

impl Fault {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        match self.verb {
            Verb::Add(add) => add.run(cx).await,
            Verb::List(list) => list.run(cx).await,
            Verb::Clear(clear) => clear.run(cx).await,
        }
    }
}

impl Row for FaultEntry {
    const HEADINGS: &'static [&'static str] = &["ID", "RULE", "SOURCE", "MATCHED", "INJECTED"];
    const NARROW: &'static [Narrow] = &[Narrow::Cut(1, 30), Narrow::Omit(2), Narrow::Cut(1, 10)];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Number(self.id),
            Cell::Text(self.rule.clone()),
            Cell::Text(self.source.clone()),
            Cell::Number(self.matched),
            Cell::Number(self.injected),
        ]
    }

    fn id(&self) -> String {
        self.id.to_string()
    }
}
