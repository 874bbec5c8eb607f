//! `tempmail domain remove`

use serde_json::json;

use super::super::Context;
use super::super::output::{self, Cell, Row};
use crate::client::{Client, WebhookFilter};
use crate::error::{Error, Exit};
use crate::model::DomainName;

/// Stop receiving mail for a domain
///
/// Its webhooks are deleted, with their secrets and pending events. Mail that it already received stays readable until it
/// expires. Asks on a terminal, and needs --yes without one. In a pipe the result is a line of two fields separated by a
/// tab: the domain, and the number of its webhooks. For the administrator.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail domain remove example.org
  tempmail domain rm example.org --dry-run
  tempmail domain rm example.org --yes"
)]
pub(super) struct Remove {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    name: DomainName,

    /// Say what would go, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// What went.
#[derive(serde::Serialize)]
struct Removed {
    domain: String,
    webhooks: u64,
}

impl Row for Removed {
    const HEADINGS: &'static [&'static str] = &["DOMAIN", "WEBHOOKS"];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Text(self.domain.clone()), Cell::Number(self.webhooks)]
    }

    fn id(&self) -> String {
        self.domain.clone()
    }
}

impl Remove {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let is_agreed = cx.globals.yes || self.dry_run;
        if !is_agreed && !cx.can_ask() {
            return Err(Error::usage("removing a domain without a terminal to ask on needs --yes")
                .hint("--yes removes it without a question, --dry-run shows what would go"));
        }
        let client = cx.client().await?;
        let Some(webhooks) = self.webhooks(client).await? else {
            // The service knows why: the settings may have it.
            if !self.dry_run {
                client.remove_domain(&self.name).await?;
            }
            return Err(self.unknown());
        };
        if !is_agreed && !cx.ask(&self.question(webhooks)).await? {
            cx.hint("nothing was removed");
            return Ok(Exit::Ok);
        }
        if !self.dry_run && !client.remove_domain(&self.name).await? {
            return Err(self.unknown());
        }
        let whole = if self.dry_run { json!({ "wouldDelete": 1 }) } else { json!({ "deleted": 1 }) };
        let row = Removed { domain: self.name.to_string(), webhooks };
        cx.print(output::list(cx.style, &[row], &whole, cx.now()))?;
        cx.hint(if self.dry_run { "dry run: nothing was removed" } else { "its mail stays readable until it expires" });
        Ok(Exit::Ok)
    }

    /// The number of webhooks that go along; `None` if the domain is not registered.
    async fn webhooks(&self, client: &Client) -> Result<Option<u64>, Error> {
        let name = self.name.to_string();
        if !client.admin_domains().await?.iter().any(|domain| domain.domain == name) {
            return Ok(None);
        }
        let filter = WebhookFilter { domain: Some(self.name.clone()), ..WebhookFilter::default() };
        match client.all_webhooks(&filter).await {
            Ok(webhooks) => Ok(Some(webhooks.len() as u64)),
            // Revision 1 has none.
            Err(error) if error.is("unknown_path") => Ok(Some(0)),
            Err(error) => Err(error.into()),
        }
    }

    fn question(&self, webhooks: u64) -> String {
        let along = match webhooks {
            0 => String::new(),
            1 => " with its webhook and its secret".to_owned(),
            webhooks => format!(" with its {webhooks} webhooks and their secrets"),
        };
        format!("Remove {}{along}? Its mail stays readable until it expires.", self.name)
    }

    fn unknown(&self) -> Error {
        Error::new(Exit::NotFound, format!("{} is not registered", self.name))
            .hint("`tempmail domain list` shows the domains")
    }
}
