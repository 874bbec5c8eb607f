//! `tempmail token list`

use super::super::Context;
use super::super::output;
use crate::error::{Error, Exit};

/// List the tokens, without the tokens themselves
///
/// In a pipe each token is a line of six fields separated by tabs: name, scope, status, when it was created, when it
/// expires, id. The token of `TEMPMAIL_ADMIN_TOKEN` is not among them.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail token list
  tempmail token ls --json | jq -r '.[] | select(.status == \"expired\").name'"
)]
pub(super) struct List {}

impl List {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let tokens = cx.client().await?.tokens().await?;
        cx.print(output::list(cx.style, &tokens, &tokens, cx.now()))?;
        if tokens.is_empty() {
            cx.hint("there is none; `tempmail token new` makes one");
        }
        Ok(Exit::Ok)
    }
}
