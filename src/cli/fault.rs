//! `tempmail fault`: how SMTP misbehaves on purpose.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Column, Kind};
use super::removal::deleted;
use super::{Context, listing};
use crate::client::Method;
use crate::error::{Error, Exit};
use crate::fault::Rule;

const PATH: &str = "/api/admin/faults";
const COLUMNS: [Column; 5] = [
    Kind::Number.column("ID", "id"),
    Kind::Text.column("RULE", "rule"),
    Kind::Text.column("SOURCE", "source").rank(3),
    Kind::Number.column("MATCHED", "matched").rank(2),
    Kind::Number.column("INJECTED", "injected").rank(1),
];

/// Have SMTP misbehave on purpose, to test a sender
///
/// `tempmail help smtp` has the form of rules. Rules that are added here last until the daemon ends.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  tempmail fault add 'RCPT user4xx@* 451 4.3.0'
  tempmail fault add 'end first 2 delay 5s drop'
  tempmail fault list
  tempmail fault clear")]
pub(super) enum Fault {
    /// Add a rule behind the others and print its number
    #[command(after_help = "\
Examples:
  tempmail fault add 'RCPT user4xx@* first 2 451 4.3.0'
  tempmail fault add 'DATA #2 drop'
  tempmail fault add 'end delay 30s' --json")]
    Add {
        /// The rule as one argument: `STAGE [PATTERN] [#N | first N | every N] [delay TIME] ACTION`
        #[arg(value_name = "RULE")]
        rule: Rule,
    },
    /// List the rules in the order in which they are checked
    ///
    /// In a pipe each rule is a line of five fields separated by tabs: number, rule, source, matches, injected faults.
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  tempmail fault list
  tempmail fault ls --json | jq -r '.[] | select(.injected == 0).rule'"
    )]
    List,
    /// Remove one rule, or all
    ///
    /// Prints how many were removed. Rules of the settings are back when the daemon starts again.
    #[command(
        visible_alias = "rm",
        after_help = "\
Examples:
  tempmail fault clear
  tempmail fault clear 3"
    )]
    Clear {
        /// Number of the rule [default: all rules]
        #[arg(value_name = "NUMBER")]
        id: Option<u64>,
    },
}

impl Fault {
    pub(super) async fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::Add { rule } => {
                let body = json!({ "rule": rule.to_string() });
                let (added, _) = cx.client().await?.post(PATH, body).await?;
                cx.answer(&added, &added["id"].to_string())?;
                cx.hint("the rule lasts until the daemon ends; `tempmail fault clear` removes it");
                Ok(())
            }
            Self::List => {
                listing::whole(cx, PATH, &[], &COLUMNS, "there is no rule; `tempmail fault add RULE` adds one").await
            }
            Self::Clear { id } => {
                let query = [("id", id.map(|id| id.to_string()))];
                let removed: Value = cx.client().await?.call(Method::DELETE, PATH, &query, None).await?;
                if let (Some(id), 0) = (id, deleted(&removed)) {
                    return Err(Error::new(Exit::NotFound, format!("there is no rule {id}"))
                        .hint("`tempmail fault list` shows the rules"));
                }
                cx.answer(&removed, &deleted(&removed).to_string())
            }
        }
    }
}
