//! `tempmail webhook list`

use super::super::Context;
use super::super::output::{self, Cell, Narrow, Row};
use super::explained;
use crate::client::{self, WebhookFilter};
use crate::error::{Error, Exit};
use crate::model::{Address, DomainName};

/// List the webhooks of an address, or all of them
///
/// Only the administrator sees whole URLs, and all webhooks. In a pipe each webhook is a line of eight fields separated by
/// tabs: id, status, URL, signed or unsigned, last success, failures since then, events dropped because too many were pending or it
/// was disabled, why it is disabled. With --all two more follow: its address, and who registered it (an address of IPv4 or
/// a /64 of IPv6; empty for the administrator).
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "ls",
    after_help = "\
Examples:
  tempmail webhook list hello@example.test
  tempmail webhook ls hello@example.test --json \\
    | jq '.[] | select(.status == \"disabled\")'
  tempmail webhook ls hello@example.test -o id | xargs tempmail webhook rm --yes
  tempmail webhook ls --all --origin https://hooks.example"
)]
pub(super) struct List {
    /// The address
    #[arg(value_name = "ADDR", required_unless_present = "all", conflicts_with = "all")]
    address: Option<Address>,

    /// Those of all addresses. For the administrator
    #[arg(long)]
    all: bool,

    /// Only those of the scheme, host and port of this URL
    #[arg(long, value_name = "URL", requires = "all")]
    origin: Option<String>,

    /// Only those of addresses of this domain
    #[arg(long, value_name = "DOMAIN", requires = "all")]
    domain: Option<DomainName>,
}

impl List {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let Some(address) = &self.address else {
            let filter = WebhookFilter { origin: self.origin, domain: self.domain };
            let webhooks = client.all_webhooks(&filter).await.map_err(explained)?;
            let rows: Vec<OfAll> = webhooks.iter().cloned().map(OfAll).collect();
            cx.print(output::list(cx.style, &rows, &webhooks, cx.now()))?;
            if rows.is_empty() {
                cx.hint("there is none; `tempmail webhook add` registers one");
            }
            return Ok(Exit::Ok);
        };
        let webhooks = client.webhooks(address).await.map_err(explained)?;
        cx.print(output::list(cx.style, &webhooks, &webhooks, cx.now()))?;
        if webhooks.is_empty() {
            cx.hint("there is none; `tempmail webhook add` registers one");
        }
        Ok(Exit::Ok)
    }
}

/// A webhook among those of all addresses.
#[derive(serde::Serialize)]
#[serde(transparent)]
struct OfAll(client::Webhook);

impl Row for OfAll {
    const HEADINGS: &'static [&'static str] =
        &["ID", "STATUS", "URL", "SIGNED", "SUCCESS", "FAILED", "DROPPED", "REASON", "ADDRESS", "CLIENT"];
    const NARROW: &'static [Narrow] = &[
        Narrow::Cut(2, 40),
        Narrow::Cut(8, 30),
        Narrow::Cut(7, 20),
        Narrow::Omit(3),
        Narrow::Omit(6),
        Narrow::Cut(9, 16),
        Narrow::Omit(9),
        Narrow::Cut(2, 24),
        Narrow::Omit(4),
        Narrow::Cut(8, 20),
        Narrow::Cut(7, 10),
        Narrow::Omit(7),
        Narrow::Omit(5),
        Narrow::Cut(2, 16),
    ];

    fn cells(&self) -> Vec<Cell> {
        let mut cells = self.0.cells();
        cells.push(Cell::Text(self.0.recipient.clone()));
        cells.push(Cell::Text(self.0.registered_by().unwrap_or_default().to_owned()));
        cells
    }

    fn id(&self) -> String {
        self.0.id()
    }
}

impl Row for client::Webhook {
    const HEADINGS: &'static [&'static str] =
        &["ID", "STATUS", "URL", "SIGNED", "SUCCESS", "FAILED", "DROPPED", "REASON"];
    const NARROW: &'static [Narrow] = &[
        Narrow::Cut(2, 40),
        Narrow::Cut(7, 20),
        Narrow::Omit(3),
        Narrow::Omit(6),
        Narrow::Cut(2, 24),
        Narrow::Omit(4),
        Narrow::Cut(7, 10),
        Narrow::Omit(7),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::Id(self.id.clone()),
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
