//! `tempmail inbox --watch`: a list that follows the inbox.

use super::super::output::{self, Format};
use super::super::{Context, watch};
use crate::client::{Client, Email};
use crate::error::{Error, Exit};
use crate::model::{Address, EmailId};

/// Clears a terminal and goes to its upper left corner (ECMA-48: ED, CUP).
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Keeps the list of an address until the process ends.
pub(super) async fn keep(cx: &Context, client: &Client, address: &Address, limit: Option<u64>) -> Result<Exit, Error> {
    // The stream begins first, so that nothing falls between it and the list.
    let mut events = watch::follow(client, Some(address.clone())).await?;
    let is_redrawn = cx.style.is_terminal && cx.style.of_list() == Format::Table;
    let mut first = true;
    loop {
        if is_redrawn || first {
            let page = client.list(address, None, limit).await?;
            let shown = if is_redrawn {
                let list = output::list(cx.style, &page.emails, &page, cx.now());
                format!("{CLEAR}{address}: {}; Ctrl-C ends this\n\n{list}", output::mails(page.total))
            } else {
                // Oldest first, since later ones follow.
                page.emails.iter().rev().map(|email| line(cx, email)).collect()
            };
            cx.print(shown)?;
            first = false;
        }
        let event = watch::next(cx, &mut events).await?;
        match event.event.as_str() {
            _ if is_redrawn => {}
            "email.received" => {
                if let Some(email) = read(client, event.text("id")).await? {
                    cx.print(line(cx, &email))?;
                }
            }
            "reset" => cx.hint("too much happened at once: some mail is not in this list"),
            _ => {}
        }
    }
}

/// One mail as a line of the list.
fn line(cx: &Context, email: &Email) -> String {
    match cx.style.of_list() {
        Format::Json | Format::Ndjson => output::json_line(email),
        _ => output::list(cx.style, std::slice::from_ref(email), email, cx.now()),
    }
}

/// The mail of this id; `None` if it is gone.
async fn read(client: &Client, id: &str) -> Result<Option<Email>, Error> {
    let id: EmailId = id.parse().map_err(|error| Error::new(Exit::Unavailable, error))?;
    match client.email(id).await {
        Ok(detail) => Ok(Some(detail.email)),
        Err(error) if error.problem().is_some_and(|problem| problem.status == 404) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
