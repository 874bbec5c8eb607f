//! `tempmail webhook deliveries`

use super::super::Context;
use super::super::ids::{self, IdOrPart};
use super::super::output;
use super::explained;
use crate::error::{Error, Exit};
use crate::model::WebhookId;

/// Show the delivery log of a webhook, newest first
///
/// It has the last 100 attempts. In a pipe each is a line of nine fields separated by tabs: time, event, number of the attempt,
/// result (delivered, retry or `given_up`), status of the answer, milliseconds, what failed, time of the next attempt, the
/// beginning of the answer. For the administrator.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --limit 5
  tempmail webhook deliveries 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --json \\
    | jq '.[0].response'")]
pub(super) struct Deliveries {
    /// The id of the webhook, or its end
    #[arg(value_name = "ID")]
    id: IdOrPart<WebhookId>,

    /// Attempts at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

impl Deliveries {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let id = ids::webhook(client, &self.id).await?;
        let deliveries = client.deliveries(id, self.limit).await.map_err(explained)?;
        cx.print(output::list(cx.style, &deliveries, &deliveries, cx.now()))?;
        if deliveries.is_empty() {
            cx.hint("no event has been sent to it yet");
        }
        Ok(Exit::Ok)
    }
}
