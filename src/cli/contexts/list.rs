//! `tempmail context list`

use serde::Serialize;

use super::super::Context;
use super::super::output::{self, Cell, Narrow, Row};
use super::Contexts;
use crate::error::{Error, Exit};

/// List the contexts, without their tokens
///
/// In a pipe each context is a line of four fields separated by tabs: name, server, whether it has a token, whether it is the
/// one of `context use`.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail context list
  tempmail context ls -o id"
)]
pub(super) struct List {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    name: String,
    server: String,
    has_token: bool,
    is_current: bool,
}

impl Row for Shown {
    const HEADINGS: &'static [&'static str] = &["NAME", "SERVER", "TOKEN", "CURRENT"];
    const NARROW: &'static [Narrow] = &[Narrow::Cut(1, 24), Narrow::Cut(0, 16), Narrow::Omit(2)];

    fn cells(&self) -> Vec<Cell> {
        let word = |is_so: bool| Cell::Text(if is_so { "yes" } else { "no" }.to_owned());
        vec![
            Cell::Text(self.name.clone()),
            Cell::Text(self.server.clone()),
            word(self.has_token),
            word(self.is_current),
        ]
    }

    fn id(&self) -> String {
        self.name.clone()
    }
}

impl List {
    pub(super) fn run(cx: &Context) -> Result<Exit, Error> {
        let contexts = Contexts::read(&cx.env)?;
        let shown = contexts.contexts.into_iter().map(|(name, named)| Shown {
            is_current: contexts.current.as_ref() == Some(&name),
            name,
            server: named.server,
            has_token: named.token.is_some(),
        });
        let shown: Vec<Shown> = shown.collect();
        cx.print(output::list(cx.style, &shown, &shown, cx.now()))?;
        if shown.is_empty() {
            cx.hint("there is none; `tempmail context add` makes one");
        }
        Ok(Exit::Ok)
    }
}
