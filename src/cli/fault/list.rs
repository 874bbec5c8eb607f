//! `tempmail fault list`

use super::super::Context;
use super::super::output;
use crate::error::{Error, Exit};

/// List the rules in the order in which they are checked
///
/// In a pipe each rule is a line of five fields separated by tabs: number, rule, source, matches, injected faults.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail fault list
  tempmail fault ls --json | jq -r '.[] | select(.injected == 0).rule'"
)]
pub(super) struct List {}

impl List {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let faults = cx.client().await?.faults().await?;
        cx.print(output::list(cx.style, &faults, &faults, cx.now()))?;
        if faults.is_empty() {
            cx.hint("there is none; `tempmail fault add RULE` adds one");
        }
        Ok(Exit::Ok)
    }
}
