//! `tempmail fault add`

use super::super::Context;
use super::super::output::{self, Format};
use crate::error::{Error, Exit};
use crate::smtp::fault::Rule;

/// Add a rule behind the others and print its number
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail fault add 'RCPT user4xx@* first 2 451 4.3.0'
  tempmail fault add 'DATA #2 drop'
  tempmail fault add 'end delay 30s' --json")]
pub(super) struct Add {
    /// The rule as one argument: `STAGE [PATTERN] [#N | first N | every N] [delay TIME] ACTION`
    #[arg(value_name = "RULE")]
    rule: Rule,
}

impl Add {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let added = cx.client().await?.add_fault(&self.rule).await?;
        cx.print(match cx.style.format {
            Some(Format::Json) => output::json(&added),
            Some(Format::Ndjson) => output::json_line(&added),
            _ => format!("{}\n", added.id),
        })?;
        cx.hint("the rule lasts until the daemon ends; `tempmail fault clear` removes it");
        Ok(Exit::Ok)
    }
}
