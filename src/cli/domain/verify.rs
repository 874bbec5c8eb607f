//! `tempmail domain verify`

use serde_json::Value;

use super::super::Context;
use super::super::output::{self, Cell, Format};
use crate::error::{Error, Exit};
use crate::model::DomainName;

/// Check the MX records of registered domains now, as happens every period
///
/// Deactivates domains whose MX points elsewhere and brings back those that point here again. For the administrator.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail domain verify
  tempmail domain verify example.org
  tempmail domain verify --force")]
pub(super) struct Verify {
    /// This domain alone
    #[arg(value_name = "DOMAIN")]
    name: Option<DomainName>,

    /// Deactivate however many domains are found to point elsewhere
    #[arg(long)]
    force: bool,
}

impl Verify {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let round = cx.client().await?.verify_domains(self.name.as_ref(), self.force).await?;
        let pairs: Vec<(&str, Cell)> = round.0.iter().map(|(name, value)| (name.as_str(), cell(value))).collect();
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&round),
            Format::Ndjson => output::json_line(&round),
            Format::Table | Format::Tsv | Format::Id => output::pairs(cx.style, &pairs, cx.now()),
        })?;
        if round.is_held_back() {
            cx.hint("too many domains at once point elsewhere, so none was deactivated; --force does it");
        }
        Ok(Exit::Ok)
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Number(number) if number.is_u64() => Cell::Number(number.as_u64().unwrap_or(0)),
        Value::String(text) => Cell::Text(text.clone()),
        Value::Array(items) => {
            let names: Vec<String> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect();
            Cell::Text(names.join(" "))
        }
        other => Cell::Text(other.to_string()),
    }
}
