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

/// Answers with a page of Emails. It sends them one at a time, so the page is never in memory as a whole.
///
/// An Email that is removed meanwhile is left out. A damaged Email is left out too and logged, so that the others stay
/// readable. If the store fails before the first octet, the answer is an error. After that, the body breaks off, and
/// clients see that it is incomplete.
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

/// The beginning of the body.
const HEAD: &str = "{\"emails\":[";

/// The members of the answer after the Emails.
#[derive(Clone, Copy, Debug, Serialize)]
struct Foot {
    total: u64,
    page: u64,
    limit: u64,
    pages: u64,
}

impl Foot {
    /// The end of the body after `head`: the end of the list, and the other members of the object.
    fn after(self, head: &str) -> Result<Vec<u8>, StoreError> {
        let members = serde_json::to_string(&self).map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(format!("{head}],{}", members.trim_start_matches('{')).into_bytes())
    }
}

/// The body of the answer, and how much of it was written.
struct Page {
    emails: Emails,
    foot: Foot,
    next: Next,
}

/// The next piece of the body.
enum Next {
    /// The head and the foot of a page without Emails.
    Empty,
    /// The head with the first Email.
    First(Vec<u8>),
    /// Another Email, or the foot.
    Rest,
    /// There is no further piece.
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

/// The Emails of a page. Each is loaded and parsed only when it is needed.
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
                    tracing::error!(id = %listed.id, %error, "a list lacks an Email that is damaged on the disk");
                    continue;
                }
                Err(error) => {
                    tracing::error!(%error, "a list of Emails ended early, since the store failed");
                    return Err(error);
                }
            };
            let content = self.api.parser.parse(email.raw.clone()).await;
            let mut json = prefix.as_bytes().to_vec();
            if EmailJson::of(&email, &content).is_some_and(|email| serde_json::to_writer(&mut json, &email).is_ok()) {
                return Ok(Some(json));
            }
            tracing::error!(id = %listed.id, "a list lacks an Email that its envelope does not name");
        }
        Ok(None)
    }
}
