//! `tempmail inbox` without an address: the mail of all addresses, or these addresses. For the administrator.

use super::super::Context;
use super::super::output::{self, Row};
use super::walk::{self, Batch};
use super::{Inbox, hint_more, hint_of_rest};
use crate::client::{AllQuery, Client, ClientError};
use crate::error::{Error, Exit};

/// One page, and how it is shown with `--json`.
struct Page<R> {
    rows: Vec<R>,
    whole: serde_json::Value,
    next: Option<String>,
}

impl<R> Page<R> {
    fn number(&self, member: &str) -> Option<u64> {
        self.whole.get(member)?.as_u64()
    }
}

/// Lists what the flags ask for.
pub(super) async fn list(wanted: Inbox, cx: &Context, client: &Client) -> Result<Exit, Error> {
    if wanted.mailboxes {
        let fetch = async |query: AllQuery| {
            let page = client.mailboxes(&query).await?;
            let (whole, next) = (serde_json::json!(page), page.next().map(str::to_owned));
            Ok(Page { rows: page.mailboxes, whole, next })
        };
        return print(wanted, cx, "mailboxes", fetch).await;
    }
    let fetch = async |query: AllQuery| {
        let page = client.all_emails(&query).await?;
        let (whole, next) = (serde_json::json!(page), page.next().map(str::to_owned));
        Ok(Page { rows: page.emails, whole, next })
    };
    print(wanted, cx, "emails", fetch).await
}

async fn print<R: Row>(
    wanted: Inbox,
    cx: &Context,
    member: &'static str,
    fetch: impl AsyncFn(AllQuery) -> Result<Page<R>, ClientError>,
) -> Result<Exit, Error> {
    let query = AllQuery { domain: wanted.domain, limit: wanted.limit, after: None };
    let by_cursor = async |after: Option<String>, limit| {
        let page = fetch(AllQuery { after, limit: Some(limit), domain: query.domain.clone() }).await?;
        Ok(Batch { total: page.number("total"), rows: page.rows, next: page.next })
    };
    let printed = if wanted.all {
        walk::print(cx, member, None, by_cursor).await?.printed
    } else {
        let page = fetch(query.clone()).await?;
        let size = page.number("limit").unwrap_or(page.rows.len() as u64);
        if let Some(limit) = query.limit.filter(|limit| size < *limit && page.next.is_some()) {
            let walked = walk::print(cx, member, Some(limit), by_cursor).await?;
            hint_more(cx, &walked);
            walked.printed
        } else {
            cx.print(output::list(cx.style, &page.rows, &page.whole, cx.now()))?;
            if page.next.is_some() {
                hint_of_rest(cx, page.rows.len() as u64, page.number("total"));
            }
            page.rows.len() as u64
        }
    };
    if printed == 0 && cx.style.is_terminal {
        cx.hint("no mail on this page");
    }
    Ok(Exit::Ok)
}
