//! `GET /api/mail/messages`: a page of a mailbox.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;

use super::filter::Filter;
use super::rows::Shown;
use super::scan::{EMAILS_MAX, Found};
use super::writer;
use crate::email::Fields;
use crate::http::{Api, Caller, Problem, Query};
use crate::model::{Listed, Mailbox};
use crate::store::PageRequest;

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// After this many pages, from 1.
    Page(u64),
    /// Below this sequence number.
    Cursor(u64),
}

/// The members of the answer after the Emails. Those that are `None` are left out.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Foot {
    /// Readable Emails in the mailbox. With a filter, those that passed it among the scanned ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<u64>,
    /// With a filter, how many Emails it looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    scanned: Option<usize>,
    /// With a filter, whether it looked at all Emails, from the cursor on.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// With a cursor, that of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Answers with a page.
pub(in crate::http) async fn list(
    State(api): State<Arc<Api>>,
    mut caller: Caller,
    query: Query,
) -> Result<impl IntoResponse, Problem> {
    let to = query.address("to")?;
    let position = position(&query)?;
    let limit = query.limit(api.config.http.page_size_default, api.config.http.page_size_max)?;
    let (filter, fields) = (Filter::of(&query)?, fields(&query, Fields::SIX)?);
    let mailbox = api.mailbox(&mut caller, &to).await?;

    let (emails, foot) = page(&api, &caller, &mailbox, &filter, position, limit).await?;
    let foot = serde_json::to_string(&foot).map_err(|_| Problem::internal())?;
    let emails = emails.into_iter().map(|listed| Shown { listed, fields }).collect();
    let body = writer::body(api, caller, "emails", emails, |_| foot).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

/// The fields that a query names; `otherwise` if it names none.
pub(in crate::http) fn fields(query: &Query, otherwise: Fields) -> Result<Fields, Problem> {
    let Some(names) = query.get("fields")? else { return Ok(otherwise) };
    Fields::named(names.split(',')).map_err(|unknown| {
        let known = Fields::names().join(", ");
        Problem::invalid("fields", format!("'{unknown}' is no field; the fields are {known}"))
    })
}

fn position(query: &Query) -> Result<Position, Problem> {
    let page = query.page()?;
    match query.cursor()? {
        None => Ok(Position::Page(page)),
        Some(_) if query.get("page")?.is_some() => {
            Err(Problem::misplaced("cursor", "'page' and 'cursor' can't be given together"))
        }
        Some(before) => Ok(Position::Cursor(before)),
    }
}

/// The Emails of a page, and the end of the answer.
async fn page(
    api: &Arc<Api>,
    caller: &Caller,
    mailbox: &Mailbox,
    filter: &Filter,
    position: Position,
    limit: usize,
) -> Result<(Vec<Listed>, Foot), Problem> {
    match position {
        Position::Page(page) if filter.is_empty() => {
            let offset = (page - 1).saturating_mul(limit as u64);
            let listed = api.store.list(mailbox, PageRequest { offset, limit }, api.clock.now()).await?;
            Ok((listed.emails, Foot::of_page(listed.total, page, limit)))
        }
        Position::Page(page) => {
            let found = api.search(caller, mailbox, filter, u64::MAX, EMAILS_MAX).await?;
            let foot = Foot::of_page(found.emails.len() as u64, page, limit).with_search(&found);
            let before = usize::try_from((page - 1).saturating_mul(limit as u64)).unwrap_or(usize::MAX);
            Ok((found.emails.into_iter().skip(before).take(limit).collect(), foot))
        }
        Position::Cursor(before) => {
            let found = api.search(caller, mailbox, filter, before, limit).await?;
            let next_cursor = found.next.map(|next| format!("{next:x}"));
            let mut foot = Foot { limit, next_cursor, ..Foot::default() };
            if filter.is_empty() {
                let nothing = PageRequest { offset: 0, limit: 0 };
                foot.total = Some(api.store.list(mailbox, nothing, api.clock.now()).await?.total);
            } else {
                foot = foot.with_search(&found);
            }
            Ok((found.emails, foot))
        }
    }
}

impl Foot {
    /// The end of a page that is known by its number.
    fn of_page(total: u64, page: u64, limit: usize) -> Self {
        let pages = Some(total.div_ceil(limit as u64));
        Self { total: Some(total), page: Some(page), limit, pages, ..Self::default() }
    }

    fn with_search(self, found: &Found) -> Self {
        Self { scanned: Some(found.scanned), complete: Some(found.next.is_none()), ..self }
    }
}
