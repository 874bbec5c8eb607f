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

use super::filter::{self, Filter};
use super::scan::{EMAILS_MAX, OCTETS_MAX};
use crate::http::{Api, Caller, Code, Problem, Query};
use crate::model::{EmailId, Listed, Mailbox};
use crate::store::EmailsAfter;

/// How long a request waits if it does not say.
pub(in crate::http) const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// The longest wait. A longer one is taken as this.
pub(in crate::http) const TIMEOUT_MAX: Duration = Duration::from_mins(5);

/// How often a request that waits shows anew that it may.
const CHECK_EVERY: Duration = Duration::from_secs(15);

/// Answers with the oldest Email that passes, or with 204 when the time is over.
pub(in crate::http) async fn wait(
    State(api): State<Arc<Api>>,
    mut caller: Caller,
    query: Query,
) -> Result<Response, Problem> {
    let to = query.address("to")?;
    let deadline = Instant::now() + timeout(&query)?;
    let mailbox = api.mailbox(&mut caller, &to).await?;
    let (after, filter) = start(&api, &mailbox, &query).await?;
    // A query can be long, and the wait too.
    drop(query);
    let mut arrivals = api.store.subscribe(Some(&mailbox), 0);
    let mut look = Box::new(Look { api: Arc::clone(&api), caller, mailbox, filter, after });
    if let Some(json) = Box::pin(look.email()).await? {
        return Ok(answer(json));
    }
    if deadline <= Instant::now() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let place = api.place(&look.caller)?;
    loop {
        tokio::select! {
            biased;
            problem = api.stopping() => return Err(problem),
            _ = timeout_at(deadline.min(Instant::now() + CHECK_EVERY), arrivals.next()) => {}
        }
        api.check(&look.caller, Some(&look.mailbox)).await?;
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
        return Err(Problem::invalid("timeout", "'timeout' must be a whole number of seconds"));
    }
    // A number that is too large for its type is longer than the longest wait, too.
    Ok(text.parse().map_or(TIMEOUT_MAX, Duration::from_secs).min(TIMEOUT_MAX))
}

/// The sequence number after which a wait begins, and its filter. It has no `until`: no mail arrives before a time in the
/// past.
async fn start(api: &Api, mailbox: &Mailbox, query: &Query) -> Result<(u64, Filter), Problem> {
    let filter = Filter::of_content(query)?;
    let Some(since) = query.get("since")? else { return Ok((0, filter)) };
    let received_at = if let Ok(id) = since.parse::<EmailId>() {
        if let Some(sequence) = sequence(api, mailbox, id).await? {
            return Ok((sequence, filter));
        }
        // The Email is gone or another mailbox's, but its id has the time of its receipt.
        let unknown = || Problem::new(Code::IdInvalid, "'since' is neither the id of a message nor a time");
        id.received_at().ok_or_else(unknown)?
    } else {
        filter::time("since", since)?
    };
    Ok((api.store.begin_of(mailbox, received_at).await?, filter.since(received_at)))
}

/// The sequence number of an Email of this mailbox.
async fn sequence(api: &Api, mailbox: &Mailbox, id: EmailId) -> Result<Option<u64>, Problem> {
    let now = api.clock.now();
    let Some(Listed { sequence, .. }) = api.store.find(id, now).await? else { return Ok(None) };
    let EmailsAfter { emails, .. } = api.store.list_after(mailbox, sequence.saturating_sub(1), 1, now).await?;
    Ok(emails.first().is_some_and(|listed| listed.id == id).then_some(sequence))
}

/// The looks of one request at the store.
struct Look {
    api: Arc<Api>,
    caller: Caller,
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
            match self.api.json(&self.caller, found.id).await {
                Ok(json) => return Ok(Some(json)),
                // It was deleted meanwhile.
                Err(problem) if problem.code() == Code::NotFound => {}
                Err(problem) if problem.code() == Code::EmailDamaged => {
                    tracing::error!(id = %found.id, "a wait passes over an Email that is damaged on the disk");
                }
                Err(problem) => return Err(problem),
            }
        }
        Ok(None)
    }

    /// The oldest Email that passes, among those after the last one that was looked at.
    async fn next(&mut self) -> Result<Option<Listed>, Problem> {
        let is_by_content = self.filter.needs_content();
        loop {
            let EmailsAfter { mut emails, next } = self.rows().await?;
            if is_by_content && next.is_some() {
                emails = self.newest().await?;
            }
            let last = emails.last().map(|listed| listed.sequence);
            if is_by_content {
                emails = readable(emails, &self.filter);
            }
            let (found, _) = self.api.passing(&self.caller, &self.filter, emails, 1).await?;
            if let Some(found) = found.into_iter().next() {
                return Ok(Some(found));
            }
            if is_by_content || next.is_none() {
                self.after = last.unwrap_or(self.after);
                return Ok(None);
            }
            self.after = next.unwrap_or(self.after);
            // The store may have all of it in memory, and others wait.
            tokio::task::yield_now().await;
        }
    }

    async fn rows(&self) -> Result<EmailsAfter, Problem> {
        Ok(self.api.store.list_after(&self.mailbox, self.after, EMAILS_MAX, self.api.clock.now()).await?)
    }

    /// The newest Emails, oldest first, where those that are left are too many for one look.
    async fn newest(&self) -> Result<Vec<Listed>, Problem> {
        let now = self.api.clock.now();
        let mut emails = self.api.store.list_before(&self.mailbox, u64::MAX, EMAILS_MAX, now).await?;
        emails.retain(|listed| listed.sequence > self.after);
        emails.reverse();
        Ok(emails)
    }
}

/// The newest of some Emails whose messages are not too much for one look. The others are passed over.
fn readable(mut emails: Vec<Listed>, filter: &Filter) -> Vec<Listed> {
    emails.retain(|listed| filter.admits(listed));
    let mut octets = 0;
    let readable = emails.iter().rev().take_while(|listed| {
        octets += listed.size_octets;
        octets <= OCTETS_MAX || octets == listed.size_octets
    });
    let passed_over = emails.len() - readable.count();
    emails.split_off(passed_over)
}
