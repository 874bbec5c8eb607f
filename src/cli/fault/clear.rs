//! `tempmail fault clear`

use super::super::Context;
use super::super::output::{self, Format};
use crate::error::{Error, Exit};

/// Remove one rule, or all
///
/// Prints how many were removed. Rules of the settings are back when the daemon starts again.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail fault clear
  tempmail fault clear 3"
)]
pub(super) struct Clear {
    /// Number of the rule [default: all rules]
    #[arg(value_name = "NUMBER")]
    id: Option<u64>,
}

impl Clear {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let removed = cx.client().await?.remove_faults(self.id).await?;
        if let (Some(id), 0) = (self.id, removed) {
            return Err(Error::new(Exit::NotFound, format!("there is no rule {id}"))
                .hint("`tempmail fault list` shows the rules"));
        }
        let answer = serde_json::json!({ "deleted": removed });
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&answer),
            Format::Ndjson => output::json_line(&answer),
            Format::Table | Format::Tsv | Format::Id => format!("{removed}\n"),
        })?;
        Ok(Exit::Ok)
    }
}
