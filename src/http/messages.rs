//! `GET /api/mail/messages`: a page of a mailbox.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::Api;
use super::fields::Fields;
use super::filter::Filter;
use super::memory::Asker;
use super::page::{Foot, Page};
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use super::search::{EMAILS_MAX, Found};
use crate::model::{Listed, Mailbox};
use crate::store::PageRequest;

/// Which part of a mailbox to list, and how.
#[derive(Clone, Debug)]
struct Selection {
    position: Position,
    limit: u64,
    filter: Filter,
    fields: Option<Fields>,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// After this many pages, from 1.
    Page(u64),
    /// Below this sequence number.
    Cursor(u64),
}

/// Answers with a page.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    query: Query,
) -> Result<impl IntoResponse, Problem> {
    let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
    let selection = Selection::of(&query, &api)?;
    api.permit(principal, &mailbox)?;

    let (emails, foot) = selection.emails(&api, &asker, &mailbox).await?;
    let body = Page::write(Arc::clone(&api), asker, emails, selection.fields, foot).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

impl Selection {
    fn of(query: &Query, api: &Api) -> Result<Self, Problem> {
        let http = &api.config.http;
        let page = query.page()?;
        let limit = query.limit(http.page_size_default as u64, http.page_size_max as u64)?;
        let position = match query.cursor()? {
            None => Position::Page(page),
            Some(_) if query.get("page")?.is_some() => {
                let detail = "'page' and 'cursor' can't be given together";
                return Err(Problem::new(Code::ParametersConflict, detail));
            }
            Some(before) => Position::Cursor(before),
        };
        Ok(Self { position, limit, filter: Filter::of(query)?, fields: Fields::of(query)? })
    }

    /// The Emails of the page, and the end of the answer.
    async fn emails(&self, api: &Arc<Api>, asker: &Asker, mailbox: &Mailbox) -> Result<(Vec<Listed>, Foot), Problem> {
        let limit = self.limit;
        let size = usize::try_from(limit).unwrap_or(usize::MAX);
        match self.position {
            Position::Page(page) if self.filter.is_empty() => {
                let offset = (page - 1).saturating_mul(limit);
                let listed = api.store.list(mailbox, PageRequest { offset, limit: size }, api.clock.now()).await?;
                Ok((listed.emails, Foot::of_page(listed.total, page, limit)))
            }
            Position::Page(page) => {
                let Found { emails, scanned, next } =
                    api.search(asker, mailbox, &self.filter, u64::MAX, EMAILS_MAX).await?;
                let foot = Foot {
                    scanned: Some(scanned),
                    complete: Some(next.is_none()),
                    ..Foot::of_page(emails.len() as u64, page, limit)
                };
                let before = usize::try_from((page - 1).saturating_mul(limit)).unwrap_or(usize::MAX);
                Ok((emails.into_iter().skip(before).take(size).collect(), foot))
            }
            Position::Cursor(before) => {
                let total = if self.filter.is_empty() {
                    let nothing = PageRequest { offset: 0, limit: 0 };
                    Some(api.store.list(mailbox, nothing, api.clock.now()).await?.total)
                } else {
                    None
                };
                let Found { emails, scanned, next } = api.search(asker, mailbox, &self.filter, before, size).await?;
                let next_cursor = next.map(|next| format!("{next:x}"));
                let foot = if total.is_some() {
                    Foot { total, limit, next_cursor, ..Foot::default() }
                } else {
                    let complete = Some(next.is_none());
                    Foot { limit, scanned: Some(scanned), complete, next_cursor, ..Foot::default() }
                };
                Ok((emails, foot))
            }
        }
    }
}
