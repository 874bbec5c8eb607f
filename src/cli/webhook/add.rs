//! `tempmail webhook add`

use super::super::Context;
use super::super::output::{self, Cell, Row};
use super::{explained, secret};
use crate::client::{AddedWebhook, NewWebhook};
use crate::error::{Error, Exit};
use crate::model::Address;

/// Send mail for an address to a URL as it arrives
///
/// The same address, URL and secret again give the same webhook, active again if it was disabled; another secret makes another one. In a pipe the result
/// is a line of two fields separated by a tab: id, and the word ok.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  tempmail webhook add hello@example.test https://hooks.example/mail
  tempmail webhook add hello@example.test https://hooks.example/mail \\
    --secret-file secret.txt
  openssl rand -hex 32 | tee secret.txt \\
    | tempmail webhook add hello@example.test https://hooks.example/ \\
    --secret-file -")]
pub(super) struct Add {
    /// The address to monitor
    #[arg(value_name = "ADDR")]
    address: Address,

    /// Where events are sent: http or https
    #[arg(value_name = "URL")]
    url: String,

    /// File with the secret that payloads are signed with, - for standard input; one final line end is no part of it
    #[arg(long, value_name = "FILE|-")]
    secret_file: Option<String>,
}

impl Add {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit, Error> {
        let secret = self.secret_file.as_deref().map(|path| secret::read(cx, path)).transpose()?;
        let new = NewWebhook { recipient: self.address.to_string(), url: self.url, secret };
        let client = cx.client().await?;
        let added = client.add_webhook(&new).await.map_err(explained)?;
        cx.print(output::list(cx.style, std::slice::from_ref(&added), &added, cx.now()))?;
        if !added.is_new {
            cx.hint("it was registered before; if it was disabled, it is active again");
        } else if client.is_administrator() {
            cx.hint(&format!("try it with `tempmail webhook test {}`", added.id));
        }
        Ok(Exit::Ok)
    }
}

impl Row for AddedWebhook {
    const HEADINGS: &'static [&'static str] = &["ID", "STATUS"];

    fn cells(&self) -> Vec<Cell> {
        vec![Cell::Text(self.id.clone()), Cell::State(self.status.clone(), self.status == "ok")]
    }

    fn id(&self) -> String {
        self.id.clone()
    }
}
