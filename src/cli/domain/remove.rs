//! `tempmail domain remove`

use super::super::Context;
use super::super::output::{self, Format};
use crate::error::{Error, Exit};
use crate::model::DomainName;

/// Stop receiving mail for a domain
///
/// What it already received stays readable until it expires. For the administrator.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail domain remove example.org
  tempmail domain rm example.org"
)]
pub(super) struct Remove {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    name: DomainName,
}

impl Remove {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        if !cx.client().await?.remove_domain(&self.name).await? {
            return Err(Error::new(Exit::NotFound, format!("{} is not registered", self.name))
                .hint("`tempmail domain list` shows the domains"));
        }
        let answer = serde_json::json!({ "deleted": 1 });
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&answer),
            Format::Ndjson => output::json_line(&answer),
            Format::Table | Format::Tsv | Format::Id => format!("{}\n", self.name),
        })?;
        cx.hint("its mail stays readable until it expires");
        Ok(Exit::Ok)
    }
}
