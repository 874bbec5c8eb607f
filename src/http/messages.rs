//! `GET /api/mail/messages`: a page of a mailbox.

use std::io;
use std::sync::Arc;
use std::vec;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;

use super::Api;
use super::memory::{Asker, Room};
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use crate::model::Listed;
use crate::store::{PageRequest, StoreError};

/// Messages of this many octets together are read in one go, and their JSON is sent in one piece.
///
/// A larger message is read alone, so that a page of large messages never sits in memory as a whole.
const BATCH_OCTETS: u64 = 256 * 1024;

/// Answers with a page.
///
/// An Email that is removed meanwhile is left out. A damaged Email is left out too and logged, so that the others stay
/// readable. If the store fails before the first octet, the answer is an error. After that, the body breaks off, and
/// clients see that it is incomplete.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Problem> {
    let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
    let page = query.number("page", Code::PageInvalid, 1)?;
    let limit_max = api.config.http.page_size_max as u64;
    let limit = query.number("limit", Code::LimitInvalid, api.config.http.page_size_default as u64)?.min(limit_max);
    api.permit(principal, &mailbox)?;

    let now = api.clock.now();
    if headers.contains_key(header::IF_NONE_MATCH) {
        let version = api.store.list(&mailbox, PageRequest { offset: 0, limit: 0 }, now).await?.version;
        let etag = api.etags.of(&(version, page, limit));
        if etag.is_in(&headers) {
            return Ok(etag.not_modified());
        }
    }
    let request =
        PageRequest { offset: (page - 1).saturating_mul(limit), limit: usize::try_from(limit).unwrap_or(usize::MAX) };
    let listed = api.store.list(&mailbox, request, now).await?;
    let etag = api.etags.of(&(listed.version, page, limit));
    let foot = Foot { total: listed.total, page, limit, pages: listed.total.div_ceil(limit) };
    let mut page = Page { api, asker, unread: listed.emails.into_iter(), foot, has_emails: false, is_ended: false };
    let first = page.next(BEGINNING.to_vec()).await?;
    let body = if page.is_ended { first.into() } else { page.body(first) };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json")), etag.field()], body).into_response())
}

/// Room for the end of the body, in octets.
const FOOT_OCTETS: usize = 128;

/// The beginning of the body.
const BEGINNING: &[u8] = b"{\"emails\":[";

/// The members of the answer after the Emails.
#[derive(Clone, Copy, Debug, Serialize)]
struct Foot {
    total: u64,
    page: u64,
    limit: u64,
    pages: u64,
}

impl Foot {
    /// Writes the end of the body: the end of the list, and the other members of the object.
    fn write(self, json: &mut Vec<u8>) -> Result<(), Problem> {
        let members = serde_json::to_string(&self).map_err(|_| Problem::internal())?;
        json.extend_from_slice(b"],");
        json.extend_from_slice(members.trim_start_matches('{').as_bytes());
        Ok(())
    }
}

/// The body of the answer, and how much of it was written.
struct Page {
    api: Arc<Api>,
    asker: Asker,
    unread: vec::IntoIter<Listed>,
    foot: Foot,
    /// Whether an Email was written.
    has_emails: bool,
    /// Whether the foot was written.
    is_ended: bool,
}

impl Page {
    /// The rest of the body after `first`, a batch at a time as the client takes it.
    fn body(self, first: Bytes) -> Body {
        Body::from_stream(stream::try_unfold((Some(first), self), |(first, mut page)| async {
            let chunk = match first {
                Some(first) => first,
                None if page.is_ended => return Ok(None),
                None => page.next(Vec::new()).await.map_err(|problem| {
                    tracing::error!(code = problem.code().row().1, "a list of Emails ended early");
                    io::Error::other("the list ended early")
                })?,
            };
            Ok::<_, io::Error>(Some((chunk, (None, page))))
        }))
    }

    /// The next piece of the body after `json`: Emails, and the foot after the last one.
    async fn next(&mut self, mut json: Vec<u8>) -> Result<Bytes, Problem> {
        while let Some(batch) = self.next_batch() {
            let (emails, room) = self.render(batch).await?;
            // Each is followed by a comma, or by the members of the foot.
            json.reserve(emails.iter().map(|email| email.len() + 1).sum::<usize>() + FOOT_OCTETS);
            for email in &emails {
                if self.has_emails {
                    json.push(b',');
                }
                json.extend_from_slice(email);
                self.has_emails = true;
            }
            let is_last = self.unread.as_slice().is_empty();
            if is_last {
                self.end(&mut json)?;
            }
            // A batch of which nothing is left must not end the body's stream.
            if is_last || !emails.is_empty() {
                return Ok(room.hold(json));
            }
        }
        self.end(&mut json)?;
        Ok(json.into())
    }

    fn end(&mut self, json: &mut Vec<u8>) -> Result<(), Problem> {
        self.is_ended = true;
        self.foot.write(json)
    }

    /// The JSON of each Email that is still there, and the room that it takes. Only Emails that were not rendered lately
    /// need a thread of the reader.
    async fn render(&self, batch: Vec<Listed>) -> Result<(Vec<Bytes>, Room), Problem> {
        let Api { rendered, memory, reader, store, .. } = &*self.api;
        let known: Option<Vec<Bytes>> = batch.iter().map(|listed| rendered.get(listed)).collect();
        if let Some(emails) = known {
            let room = memory.reserve(&self.asker, emails.iter().map(|email| email.len() as u64 + 1).sum()).await?;
            return Ok((emails, room));
        }
        let room = memory.reserve_rendered(&self.asker, &batch).await?;
        let (store, rendered) = (Arc::clone(store), rendered.clone());
        let reading = async move {
            let mut emails = Vec::with_capacity(batch.len());
            for listed in &batch {
                emails.extend(rendered.read(&*store, listed).await?);
            }
            Ok::<_, StoreError>((emails, room))
        };
        Ok(reader.run(reading).await?)
    }

    /// The next Emails that are read in one go.
    fn next_batch(&mut self) -> Option<Vec<Listed>> {
        let mut octets = 0;
        let fits = |listed: &&Listed| {
            let is_first = octets == 0;
            octets += listed.size_octets.max(1);
            is_first || octets <= BATCH_OCTETS
        };
        let number = self.unread.as_slice().iter().take_while(fits).count();
        Some(self.unread.by_ref().take(number).collect()).filter(|batch: &Vec<_>| !batch.is_empty())
    }
}
