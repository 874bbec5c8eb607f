//! `tempmail webhook test`

use super::super::Context;
use super::super::ids::{self, IdOrPart};
use super::super::output::{self, Cell, Format};
use super::explained;
use crate::client::WebhookDelivery;
use crate::error::{Error, Exit};
use crate::model::WebhookId;

/// Send a sample event to a webhook now and show the attempt
///
/// It is made once and not repeated. Exit code 8 when the receiver did not answer with a status of 200 to 299. For the
/// administrator.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook test 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook test 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --json | jq .status")]
pub(super) struct Test {
    /// The id of the webhook, or its end
    #[arg(value_name = "ID")]
    id: IdOrPart<WebhookId>,
}

impl Test {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let id = ids::webhook(client, &self.id).await?;
        let attempt = client.test_webhook(id).await.map_err(explained)?;
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&attempt),
            Format::Ndjson => output::json_line(&attempt),
            Format::Table | Format::Tsv => output::pairs(cx.style, &pairs(&attempt), cx.now()),
            Format::Id => format!("{}\n", output::visible::field(&attempt.event)),
        })?;
        if attempt.is_delivered() {
            return Ok(Exit::Ok);
        }
        let why = match (attempt.status, &attempt.error) {
            (Some(status), _) => format!("the receiver answered {status}"),
            (None, Some(error)) => format!("the receiver gave no answer: {error}"),
            (None, None) => "the receiver gave no answer".to_owned(),
        };
        Err(Error::new(Exit::CheckFailed, why).hint(what_to_do(attempt.error.as_deref().unwrap_or_default())))
    }
}

/// What to do about an attempt that failed in this way.
fn what_to_do(error: &str) -> &'static str {
    match error {
        "dns" => "the name in its URL does not resolve: see the URL, and DNS on the machine of the service",
        "refused_address" => "its address is not public; the administrator can permit a network with webhook-allow",
        "connect" => "see that the receiver runs, and listens on the port of its URL",
        "tls" => "see that the receiver has TLS on that port, and a valid certificate for the name in its URL",
        "timeout" => "a receiver must answer within 15 s",
        _ => "a receiver must answer with a status of 200 to 299",
    }
}

/// The members of the answer by their own names.
fn pairs(attempt: &WebhookDelivery) -> Vec<(&'static str, Cell)> {
    vec![
        ("event", Cell::Text(attempt.event.clone())),
        ("result", Cell::State(attempt.result.clone(), attempt.is_delivered())),
        ("status", Cell::Text(attempt.status.map(|status| status.to_string()).unwrap_or_default())),
        ("durationMillis", Cell::Number(attempt.duration_millis)),
        ("error", Cell::Text(attempt.error.clone().unwrap_or_default())),
        ("response", Cell::Text(attempt.response.clone())),
    ]
}
