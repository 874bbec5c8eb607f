//! `GET /api/mail/messages`: a page of a mailbox.

use std::sync::Arc;
use std::vec;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;

use super::Api;
use super::email::EmailJson;
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use crate::model::Listed;
use crate::store::{PageRequest, StoreError};

/// Answers with a page, one Email at a time, so that a page of large messages never sits in memory as a whole.
///
/// An Email that was removed meanwhile is left out. So is a damaged one, which the log reports: one bad mail must not make
/// the others unreadable. If the store fails, the answer is an error as long as nothing was sent. After that the body breaks
/// off, which no client takes for its end.
pub(super) async fn list(State(api): State<Arc<Api>>, principal: Principal, query: Query) -> Result<Response, Problem> {
    let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
    let page = query.number("page", Code::PageInvalid, 1)?;
    let limit_max = api.config.http.page_size_max as u64;
    let limit = query.number("limit", Code::LimitInvalid, api.config.http.page_size_default as u64)?.min(limit_max);
    api.permit(principal, &mailbox)?;

    let request =
        PageRequest { offset: (page - 1).saturating_mul(limit), limit: usize::try_from(limit).unwrap_or(usize::MAX) };
    let listed = api.store.list(&mailbox, request, api.clock.now()).await?;
    let foot = Foot { total: listed.total, page, limit, pages: listed.total.div_ceil(limit) };
    let mut emails = Emails { api, listed: listed.emails.into_iter() };
    let first = emails.next(HEAD).await?;
    let page = Page { emails, foot, next: first.map_or(Next::Empty, Next::First) };
    let body = Body::from_stream(stream::try_unfold(page, Page::step));
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response())
}

/// How the body begins.
const HEAD: &str = "{\"emails\":[";

/// What follows the Emails in the answer.
#[derive(Clone, Copy, Debug, Serialize)]
struct Foot {
    total: u64,
    page: u64,
    limit: u64,
    pages: u64,
}

impl Foot {
    /// The end of the body: the list is closed, then come the other members of the object.
    fn after(self, head: &str) -> Result<Vec<u8>, StoreError> {
        let members = serde_json::to_string(&self).map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(format!("{head}],{}", members.trim_start_matches('{')).into_bytes())
    }
}

/// The body of the answer, and how much of it is written.
struct Page {
    emails: Emails,
    foot: Foot,
    next: Next,
}

/// What is written next.
enum Next {
    /// Head and foot: there is no Email.
    Empty,
    /// The head with the first Email.
    First(Vec<u8>),
    /// Another Email, or the foot.
    Rest,
    /// Nothing.
    End,
}

impl Page {
    async fn step(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        let (chunk, next) = match self.next {
            Next::End => return Ok(None),
            Next::Empty => (self.foot.after(HEAD)?, Next::End),
            Next::First(email) => (email, Next::Rest),
            Next::Rest => match self.emails.next(",").await? {
                Some(email) => (email, Next::Rest),
                None => (self.foot.after("")?, Next::End),
            },
        };
        self.next = next;
        Ok(Some((chunk.into(), self)))
    }
}

/// The Emails of a page, loaded and parsed as they are asked for.
struct Emails {
    api: Arc<Api>,
    listed: vec::IntoIter<Listed>,
}

impl Emails {
    /// The next Email as JSON after `prefix`.
    async fn next(&mut self, prefix: &str) -> Result<Option<Vec<u8>>, StoreError> {
        for listed in self.listed.by_ref() {
            let email = match self.api.store.load(&listed).await {
                Ok(Some(email)) => email,
                Ok(None) => continue,
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::error!(id = %listed.id, %error, "left an Email out of a list");
                    continue;
                }
                Err(error) => {
                    tracing::error!(%error, "a list failed");
                    return Err(error);
                }
            };
            let content = self.api.parser.parse(email.raw.clone()).await;
            let mut json = prefix.as_bytes().to_vec();
            if EmailJson::of(&email, &content).is_some_and(|email| serde_json::to_writer(&mut json, &email).is_ok()) {
                return Ok(Some(json));
            }
            tracing::error!(id = %listed.id, "left an Email out of a list that is not in its own envelope");
        }
        Ok(None)
    }
}
