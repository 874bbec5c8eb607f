//! `tempmail inbox --watch`: a list that follows the inbox.

use super::super::output::{self, Format};
use super::super::{Context, watch};
use super::walk;
use crate::client::{Client, Email, MailFilter};
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
            let (emails, total) = newest(cx, client, address, limit).await?;
            let shown = if is_redrawn {
                let list = output::list(cx.style, &emails, &emails, cx.now());
                format!("{CLEAR}{address}: {}; Ctrl-C ends this\n\n{list}", output::mails(total))
            } else {
                // Oldest first, since later ones follow.
                emails.iter().rev().map(|email| line(cx, email)).collect()
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

/// The newest mails and how many there are in all: as many as `limit` says, else a page of the service.
async fn newest(
    cx: &Context,
    client: &Client,
    address: &Address,
    limit: Option<u64>,
) -> Result<(Vec<Email>, u64), Error> {
    let Some(limit) = limit else {
        let page = client.list(address, None, None).await?;
        return Ok((page.emails, page.total));
    };
    let (mut emails, filter) = (Vec::new(), MailFilter::default());
    let fetch = async |cursor, limit| super::batch(cx, client, address, cursor, limit, &filter).await;
    let walked = walk::pages(cx, Some(limit), fetch, |rows| {
        emails.extend(rows);
        Ok(())
    });
    let total = walked.await?.total.unwrap_or_default();
    Ok((emails, total))
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
