//! `tempmail inbox --all`, and a `--limit` beyond what a page has: a list by cursor, a page in memory at a time.

use serde_json::{Map, Value};

use super::super::Context;
use super::super::output::{Format, Listing, Row};
use crate::client::ClientError;
use crate::error::Error;

/// Mails per request.
const PAGE_SIZE: u64 = 100;
/// Where the bodies come along, which may be large.
const PAGE_SIZE_WITH_BODIES: u64 = 20;

/// What a request gave.
pub(super) struct Batch<R> {
    pub(super) rows: Vec<R>,
    /// Where the next ones begin; `None` at the end.
    pub(super) next: Option<String>,
    /// How many there are in all, where it is known.
    pub(super) total: Option<u64>,
}

/// What was printed.
pub(super) struct Walked {
    pub(super) printed: u64,
    /// Whether the list goes on behind it.
    pub(super) has_more: bool,
    pub(super) total: Option<u64>,
}

/// Whether the form of the output has the bodies of mail.
pub(super) fn has_bodies(cx: &Context) -> bool {
    matches!(cx.style.of_list(), Format::Json | Format::Ndjson)
}

/// Prints a list page by page: all of it, or `limit` rows. `member` has them in JSON; `fetch` is given where to begin and how
/// many rows to ask for at most.
pub(super) async fn print<R: Row>(
    cx: &Context,
    member: &'static str,
    limit: Option<u64>,
    fetch: impl AsyncFnMut(Option<String>, u64) -> Result<Batch<R>, ClientError>,
) -> Result<Walked, Error> {
    let mut listing = Listing::new(cx.style, member);
    let walked = pages(cx, limit, fetch, |rows| cx.print(listing.page(&rows, cx.now()))).await?;
    let total = walked.total.map(|total| ("total".to_owned(), Value::from(total)));
    let limit = limit.map(|limit| ("limit".to_owned(), Value::from(limit)));
    let members: Map<String, Value> = total.into_iter().chain(limit).collect();
    cx.print(listing.end(&members))?;
    Ok(walked)
}

/// Hands a list page by page to `take`: all of it, or `limit` rows.
pub(super) async fn pages<R: Row>(
    cx: &Context,
    limit: Option<u64>,
    mut fetch: impl AsyncFnMut(Option<String>, u64) -> Result<Batch<R>, ClientError>,
    mut take: impl FnMut(Vec<R>) -> Result<(), Error>,
) -> Result<Walked, Error> {
    let mut walked = Walked { printed: 0, has_more: true, total: None };
    let mut next = None;
    let mut page_size = if has_bodies(cx) { PAGE_SIZE_WITH_BODIES } else { PAGE_SIZE };
    while walked.has_more && limit.is_none_or(|limit| walked.printed < limit) {
        let wanted = limit.map_or(page_size, |limit| page_size.min(limit - walked.printed));
        let batch = match fetch(next.clone(), wanted).await {
            Err(ClientError::TooLarge { .. }) if page_size > 1 => {
                page_size /= 2;
                continue;
            }
            batch => batch?,
        };
        walked.printed += batch.rows.len() as u64;
        walked.total = batch.total.or(walked.total);
        walked.has_more = batch.next.is_some();
        next = batch.next;
        take(batch.rows)?;
    }
    Ok(walked)
}
