//! `tempmail db stats`

use serde_json::json;

use super::super::{Context, output};
use crate::error::{Error, Exit};

/// Show how much is stored: mail, domains, webhooks, and the size of the files
///
/// Works with and without a running service. Octets are shown in their units on a terminal, as plain numbers elsewhere.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail db stats
  tempmail db stats --json | jq .liveOctets")]
pub(in crate::cli) struct Stats {}

impl Stats {
    pub(in crate::cli) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let stats = cx.client().await?.db_stats().await?;
        cx.print(output::document(cx.style, &json!(stats), cx.now()))?;
        Ok(Exit::Ok)
    }
}
