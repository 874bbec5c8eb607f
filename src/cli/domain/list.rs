//! `tempmail domain list`

use serde::Serialize;

use super::super::Context;
use super::super::output::{self, Cell, Row};
use crate::error::{Error, Exit};
use crate::model::DomainStatus;

/// List the domains
///
/// In a pipe each domain is a line of five fields separated by tabs: name, status, when it was added, when its MX was
/// last checked, what that found.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail domain list
  tempmail domain ls --active
  tempmail domain list --json \\
    | jq -r '.[] | select(.status == \"deactivated\").domain'"
)]
pub(super) struct List {
    /// Only the names of active domains, without wildcards
    #[arg(long)]
    active: bool,
}

/// The name of an active domain.
#[derive(Serialize)]
#[serde(transparent)]
struct Name(String);

impl Row for Name {
    const HEADINGS: &'static [&'static str] = &["DOMAIN"];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Text(self.0.clone())]
    }

    fn id(&self) -> String {
        self.0.clone()
    }
}

impl List {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let (text, count) = if self.active {
            let names: Vec<Name> = client.active_domains().await?.into_iter().map(Name).collect();
            (output::list(cx.style, &names, &names, cx.now()), names.len())
        } else {
            let is_administrator = client.is_administrator();
            let domains = if is_administrator { client.admin_domains().await? } else { client.domains().await? };
            (output::list(cx.style, &domains, &domains, cx.now()), domains.len())
        };
        cx.print(text)?;
        if count == 0 && self.active {
            let domains = client.domains().await?;
            let patterns: Vec<&str> = domains
                .iter()
                .filter(|domain| domain.status == DomainStatus::Active && domain.domain.contains('*'))
                .map(|domain| domain.domain.as_str())
                .collect();
            cx.hint(&match patterns.as_slice() {
                [] => "no domain is active; `tempmail domain list` shows them all".to_owned(),
                patterns => {
                    format!("no active domain has a name of its own; mail is received for {}", patterns.join(", "))
                }
            });
        } else if count == 0 {
            cx.hint("there is none; `tempmail domain add` registers one");
        }
        Ok(Exit::Ok)
    }
}
