//! `tempmail webhook remove`

use serde_json::json;

use super::super::Context;
use super::super::ids::{self, IdOrPart};
use super::super::output::{self, Cell, Row};
use super::explained;
use crate::error::{Error, Exit};
use crate::model::WebhookId;

/// Delete webhooks together with their pending events
///
/// Without a terminal it always needs --yes; on a terminal it asks when more than one goes. In a pipe each id is a line of
/// two fields separated by a tab: the id, and 1 if it was deleted; with --origin there is one line, of the origin and how many
/// were deleted.
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail webhook remove 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b
  tempmail webhook rm 0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b --yes
  tempmail webhook rm --origin https://hooks.example --yes"
)]
pub(super) struct Remove {
    /// The id of a webhook, or its end; several may follow
    #[arg(value_name = "ID", required_unless_present = "origin", conflicts_with = "origin")]
    ids: Vec<IdOrPart<WebhookId>>,

    /// All of the scheme, host and port of this URL. For the administrator
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
}

/// What became of one id.
#[derive(serde::Serialize)]
struct Removed {
    id: String,
    deleted: u64,
}

impl Row for Removed {
    const HEADINGS: &'static [&'static str] = &["ID", "DELETED"];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Text(self.id.clone()), Cell::Number(self.deleted)]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}

impl Remove {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        if !cx.globals.yes && !cx.can_ask() {
            return Err(Error::usage("deleting without a terminal to ask on needs --yes")
                .hint("--yes deletes without a question"));
        }
        let client = cx.client().await?;
        let ids = ids::webhooks(client, &self.ids).await?;
        if !cx.globals.yes && self.ids.len() > 1 && !cx.ask(&format!("Delete {} webhooks?", self.ids.len())).await? {
            cx.hint("nothing was deleted");
            return Ok(Exit::Ok);
        }
        if let Some(origin) = &self.origin {
            if !cx.globals.yes && !cx.ask(&format!("Delete all webhooks of {origin}?")).await? {
                cx.hint("nothing was deleted");
                return Ok(Exit::Ok);
            }
            let deleted = client.remove_webhooks_of_origin(origin).await.map_err(explained)?;
            let row = Removed { id: origin.clone(), deleted };
            cx.print(output::list(cx.style, &[row], &json!({ "deleted": deleted }), cx.now()))?;
            return Ok(Exit::Ok);
        }
        let mut rows = Vec::new();
        let mut failure = None;
        for id in &ids {
            match client.remove_webhook(*id).await {
                Ok(is_removed) => rows.push(Removed { id: id.to_string(), deleted: u64::from(is_removed) }),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        // What is gone is gone, and is said before what failed.
        let sum: u64 = rows.iter().map(|row| row.deleted).sum();
        cx.print(output::list(cx.style, &rows, &json!({ "deleted": sum }), cx.now()))?;
        if let Some(error) = failure {
            return Err(explained(error));
        }
        match rows.iter().find(|row| row.deleted == 0) {
            None => Ok(Exit::Ok),
            Some(row) => Err(Error::new(Exit::NotFound, format!("there is no webhook {}", row.id))
                .hint("`tempmail webhook list ADDR` lists those of an address")),
        }
    }
}
