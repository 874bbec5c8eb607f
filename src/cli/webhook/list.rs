//! `tempmail webhook list`

use super::super::Context;
use super::super::output::{self, Cell, Row};
use super::explained;
use crate::client;
use crate::error::{Error, Exit};
use crate::model::Address;

/// List the webhooks of an address
///
/// Only the administrator sees whole URLs. In a pipe each webhook is a line of eight fields separated by tabs: id, status,
/// URL, signed or unsigned, last success, failures since then, events dropped because too many waited or it was disabled,
/// why it is disabled.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail webhook list hello@example.test
  tempmail webhook ls hello@example.test --json | jq '.[] | select(.status == \"disabled\")'
  tempmail webhook ls hello@example.test -o id | xargs tempmail webhook rm --yes"
)]
pub(super) struct List {
    /// The address
    #[arg(value_name = "ADDR")]
    address: Address,
}

impl List {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let webhooks = cx.client().await?.webhooks(&self.address).await.map_err(explained)?;
        cx.print(output::list(cx.style, &webhooks, &webhooks, cx.now()))?;
        if webhooks.is_empty() {
            cx.hint("there is none; `tempmail webhook add` registers one");
        }
        Ok(Exit::Ok)
    }
}

impl Row for client::Webhook {
    const HEADINGS: &'static [&'static str] =
        &["ID", "STATUS", "URL", "SIGNED", "LAST SUCCESS", "FAILURES", "DROPPED", "DISABLED BECAUSE"];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Text(self.id.clone()),
            Cell::State(self.status.clone(), self.status == "active"),
            Cell::Text(self.url.clone()),
            Cell::Text(if self.signed { "signed" } else { "unsigned" }.to_owned()),
            Cell::Time(self.last_delivery_at.clone()),
            Cell::Number(self.failures),
            Cell::Number(self.dropped),
            Cell::Text(self.disabled_reason().unwrap_or_default().to_owned()),
        ]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}
