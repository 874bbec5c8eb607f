//! `tempmail token revoke`

use super::super::Context;
use super::super::ids::{self, Part};
use super::super::output::{self, Format};
use crate::client::TokenEntry;
use crate::error::{Error, Exit};

/// Make a token invalid at once
#[derive(clap::Args, Debug)]
#[command(
    visible_alias = "rm",
    after_help = "\
Examples:
  tempmail token revoke ci
  tempmail token rm 9f86d081884c7d65"
)]
pub(super) struct Revoke {
    /// Name or id of the token, or the end of its id
    #[arg(value_name = "TOKEN")]
    token: String,
}

impl Revoke {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let client = cx.client().await?;
        let is_named = |token: &TokenEntry| token.name == self.token || token.id == self.token;
        let tokens = client.tokens().await?;
        let id = match self.token.parse::<Part>() {
            Ok(part) if !tokens.iter().any(is_named) => ids::token(&tokens, &part)?,
            _ => self.token.clone(),
        };
        if !client.revoke_token(&id).await? {
            return Err(Error::new(Exit::NotFound, format!("there is no token {}", self.token))
                .hint("`tempmail token list` shows the tokens"));
        }
        let answer = serde_json::json!({ "deleted": 1 });
        cx.print(match cx.style.of_list() {
            Format::Json => output::json(&answer),
            Format::Ndjson => output::json_line(&answer),
            Format::Table | Format::Tsv | Format::Id => format!("{}\n", self.token),
        })?;
        Ok(Exit::Ok)
    }
}
