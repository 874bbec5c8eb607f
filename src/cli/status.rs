//! `tempmail status`: the state of the service.

use serde_json::json;

use super::Context;
use super::output;
use crate::client::{Client, Transport};
use crate::error::{Error, Exit};

/// Show where the service listens, what it keeps and its limits
///
/// Through --server without a token only what is public: whether it is ready, and how many domains are active.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail status
  tempmail status --json | jq '.store.emails'
  tempmail status --server https://mail.example.org")]
pub(super) struct Status {}

impl Status {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        if !client.is_administrator() {
            return public(cx, client).await;
        }
        let status = client.status().await?;
        if matches!(client.transport(), Transport::InProcess(_)) {
            cx.hint("no daemon runs; start `tempmail serve` to receive mail");
        }
        cx.print(output::document(cx.style, &json!(status), cx.now()))?;
        Ok(Exit::Ok)
    }
}

async fn public(cx: &Context, client: &Client) -> Result<Exit, Error> {
    let is_ready = client.ready().await?;
    let active = client.active_domains().await?.len();
    let status = json!({ "server": client.transport().shown(), "ready": is_ready, "domains": { "active": active } });
    cx.print(output::document(cx.style, &status, cx.now()))?;
    if is_ready {
        cx.hint("the rest is the administrator's; see --token-file");
        return Ok(Exit::Ok);
    }
    Err(Error::new(Exit::Unavailable, "the service is not ready").hint("its log says why"))
}
