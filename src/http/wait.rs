//! `GET /api/mail/wait`: answers as soon as an address has mail that passes a filter.
//!
//! The request subscribes to the mailbox and then looks at the store, so no mail falls between. It looks at each Email
//! once, oldest first, and again only at those that arrived since. Between two looks it holds a place, and no memory of
//! answers.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, timeout_at};

use super::Api;
use super::batch;
use super::filter::Filter;
use super::memory::Asker;
use super::message;
use super::principal::Principal;
use super::problem::{Code, Problem};
use super::query::Query;
use super::search::{EMAILS_MAX, OCTETS_MAX};
use super::waiting::Waiter;
use crate::model::{EmailId, Listed, Mailbox};
use crate::store::EmailsAfter;

/// How long a request waits if it does not say.
pub(super) const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// The longest wait. A longer one is taken as this.
pub(super) const TIMEOUT_MAX: Duration = Duration::from_mins(5);

/// Answers with the oldest Email that passes, or with 204 when the time is over.
pub(super) async fn wait(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    waiter: Waiter,
    query: Query,
) -> Result<Response, Problem> {
    let mailbox = query.address("to")?.mailbox(api.config.mail.subaddressing);
    let deadline = Instant::now() + timeout(&query)?;
    api.permit(principal, &mailbox)?;
    let (after, filter) = start(&api, &mailbox, &query).await?;
    // A query can be long, and the wait too.
    drop(query);
    let mut arrivals = api.store.subscribe(Some(&mailbox), 0);
    let mut look = Box::new(Look { api: Arc::clone(&api), principal, asker, mailbox, filter, after });
    if let Some(json) = Box::pin(look.email()).await? {
        return Ok(answer(json));
    }
    if deadline <= Instant::now() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let place = api.place(&waiter)?;
    loop {
        tokio::select! {
            biased;
            problem = waiter.stopping() => return Err(problem),
            hint = timeout_at(deadline, arrivals.next()) => if hint.is_err() {
                return Ok(StatusCode::NO_CONTENT.into_response());
            }
        }
        if let Some(json) = Box::pin(look.email()).await? {
            return Ok(answer(place.hold(json)));
        }
        // Mail that does not pass may come faster than it is looked at.
        if deadline <= Instant::now() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
}

fn answer(json: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response()
}

/// How long a request is to wait.
fn timeout(query: &Query) -> Result<Duration, Problem> {
    let Some(text) = query.get("timeout")? else { return Ok(TIMEOUT_DEFAULT) };
    if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(Problem::new(Code::TimeoutInvalid, "'timeout' must be a whole number of seconds"));
    }
    // A number that is too large for its type is longer than the longest wait, too.
    Ok(text.parse().map_or(TIMEOUT_MAX, Duration::from_secs).min(TIMEOUT_MAX))
}

/// The sequence number after which a wait begins, and its filter.
async fn start(api: &Api, mailbox: &Mailbox, query: &Query) -> Result<(u64, Filter), Problem> {
    let Some(id) = query.get("since")?.and_then(|since| since.parse::<EmailId>().ok()) else {
        return begin(api, mailbox, Filter::of(query)?).await;
    };
    let filter = Filter::of(&query.without("since"))?;
    if let Some(listed) = api.store.find(id, api.clock.now()).await? {
        return Ok((listed.sequence, filter));
    }
    // The Email is gone, but its id has the time of its receipt.
    let received_at = id.received_at();
    let unknown = || Problem::new(Code::IdInvalid, "'since' is neither the id of a message nor a time");
    begin(api, mailbox, filter.since(received_at.ok_or_else(unknown)?)).await
}

/// The sequence number behind which there may be Emails that pass a filter.
async fn begin(api: &Api, mailbox: &Mailbox, filter: Filter) -> Result<(u64, Filter), Problem> {
    let after = match filter.begin() {
        Some(since) => api.store.begin_of(mailbox, since).await?,
        None => 0,
    };
    Ok((after, filter))
}

/// The looks of one request at the store.
struct Look {
    api: Arc<Api>,
    principal: Principal,
    asker: Asker,
    mailbox: Mailbox,
    filter: Filter,
    /// The sequence number of the last Email that was looked at.
    after: u64,
}

impl Look {
    /// The JSON of the oldest Email that passes, among those that no look has seen yet.
    async fn email(&mut self) -> Result<Option<Bytes>, Problem> {
        while let Some(found) = self.next().await? {
            self.after = found.sequence;
            let read =
                self.api.read(self.principal, &self.asker, found.id, |email, room| message::render(&email, room));
            match read.await {
                Ok(json) => return Ok(Some(json)),
                // It was deleted meanwhile.
                Err(problem) if problem.code() == Code::NotFound => {}
                Err(problem) => return Err(problem),
            }
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<Listed>, Problem> {
        if self.filter.needs_content() { self.next_by_content().await } else { self.next_by_time().await }
    }

    async fn next_by_time(&mut self) -> Result<Option<Listed>, Problem> {
        loop {
            let EmailsAfter { emails, next } = self.rows().await?;
            if let Some(last) = emails.last() {
                self.after = last.sequence;
            }
            let found = emails.into_iter().find(|listed| self.filter.admits(listed));
            match next {
                Some(next) if found.is_none() => self.after = next,
                _ => return Ok(found),
            }
            // The store may have all of it in memory, and others wait.
            tokio::task::yield_now().await;
        }
    }

    /// Reads some Emails to know whether they pass. Those that are too many or too large for one look are passed over,
    /// oldest first.
    async fn next_by_content(&mut self) -> Result<Option<Listed>, Problem> {
        let EmailsAfter { mut emails, next } = self.rows().await?;
        if next.is_some() {
            let now = self.api.clock.now();
            emails = self.api.store.list_before(&self.mailbox, u64::MAX, EMAILS_MAX, now).await?;
            emails.retain(|listed| listed.sequence > self.after);
            emails.reverse();
        }
        let Some(newest) = emails.last().map(|listed| listed.sequence) else { return Ok(None) };
        emails.retain(|listed| self.filter.admits(listed));
        let mut octets = 0;
        let readable = emails.iter().rev().take_while(|listed| {
            octets += listed.size_octets;
            octets <= OCTETS_MAX || octets == listed.size_octets
        });
        let passed_over = emails.len() - readable.count();
        let mut unread = emails.split_off(passed_over).into_iter();
        while let Some(length) = batch::length(unread.as_slice(), |listed| listed.size_octets) {
            let batch: Vec<Listed> = unread.by_ref().take(length).collect();
            let passing = self.api.passing(&self.asker, &self.filter, batch).await?;
            if let Some(found) = passing.into_iter().next() {
                return Ok(Some(found));
            }
        }
        self.after = newest;
        Ok(None)
    }

    async fn rows(&self) -> Result<EmailsAfter, Problem> {
        Ok(self.api.store.list_after(&self.mailbox, self.after, EMAILS_MAX, self.api.clock.now()).await?)
    }
}
