//! `GET /api/mail/messages`: a page of a mailbox.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::Api;
use super::fields::Fields;
use super::filter::Filter;
use super::memory::Asker;
use super::page::{Foot, Page};
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use super::search::{EMAILS_MAX, Found};
use crate::model::{Listed, Mailbox, Timestamp};
use crate::store::{MailboxVersion, PageRequest};

/// Which part of a mailbox to list, and how.
#[derive(Clone, Debug, Hash)]
struct Selection {
    position: Position,
    limit: u64,
    filter: Filter,
    fields: Option<Fields>,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, Hash)]
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
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Problem> {
    let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
    let selection = Selection::of(&query, &api)?;
    api.permit(principal, &mailbox)?;

    let now = api.clock.now();
    let etag = |version: MailboxVersion| api.etags.of(&(version, &selection));
    if headers.contains_key(header::IF_NONE_MATCH) {
        let etag = etag(version(&api, &mailbox, now).await?);
        if etag.is_in(&headers) {
            return Ok(etag.not_modified());
        }
    }
    let (emails, version, foot) = selection.emails(&api, &asker, &mailbox, now).await?;
    let etag = etag(version);
    let body = Page::write(Arc::clone(&api), asker, emails, selection.fields, foot).await?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json")), etag.field()], body).into_response())
}

/// The state of a mailbox.
async fn version(api: &Api, mailbox: &Mailbox, now: Timestamp) -> Result<MailboxVersion, Problem> {
    Ok(api.store.list(mailbox, PageRequest { offset: 0, limit: 0 }, now).await?.version)
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

    /// The Emails of the page, the state of the mailbox before they were read, and the end of the answer.
    async fn emails(
        &self,
        api: &Arc<Api>,
        asker: &Asker,
        mailbox: &Mailbox,
        now: Timestamp,
    ) -> Result<(Vec<Listed>, MailboxVersion, Foot), Problem> {
        let limit = self.limit;
        let size = usize::try_from(limit).unwrap_or(usize::MAX);
        match self.position {
            Position::Page(page) if self.filter.is_empty() => {
                let offset = (page - 1).saturating_mul(limit);
                let listed = api.store.list(mailbox, PageRequest { offset, limit: size }, now).await?;
                Ok((listed.emails, listed.version, Foot::of_page(listed.total, page, limit)))
            }
            Position::Page(page) => {
                let version = version(api, mailbox, now).await?;
                let Found { emails, scanned, next } =
                    api.search(asker, mailbox, &self.filter, u64::MAX, EMAILS_MAX).await?;
                let foot = Foot {
                    scanned: Some(scanned),
                    complete: Some(next.is_none()),
                    ..Foot::of_page(emails.len() as u64, page, limit)
                };
                let before = usize::try_from((page - 1).saturating_mul(limit)).unwrap_or(usize::MAX);
                Ok((emails.into_iter().skip(before).take(size).collect(), version, foot))
            }
            Position::Cursor(before) => {
                let version = version(api, mailbox, now).await?;
                let Found { emails, scanned, next } = api.search(asker, mailbox, &self.filter, before, size).await?;
                let next_cursor = next.map(|next| format!("{next:x}"));
                let foot = if self.filter.is_empty() {
                    Foot { total: Some(version.readable), limit, next_cursor, ..Foot::default() }
                } else {
                    let complete = Some(next.is_none());
                    Foot { limit, scanned: Some(scanned), complete, next_cursor, ..Foot::default() }
                };
                Ok((emails, version, foot))
            }
        }
    }
}
