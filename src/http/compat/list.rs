//! Lists of messages: the newest of all inboxes, and those among them that a search finds.

use std::collections::HashMap;
use std::ops::Range;

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::query::Search;
use super::{Call, Refusal, message};
use crate::http::mail::rows::{Entry, Row};
use crate::http::mail::scan::EMAILS_MAX;
use crate::http::mail::writer;
use crate::http::{Api, Caller, Problem, Query};
use crate::model::{Listed, StoredEmail};
use crate::store::{NewestCursor, NewestEmail, NewestPage, NewestQuery, StoreError};

/// How many messages are listed where a request does not say.
const LIMIT_DEFAULT: usize = 50;
/// The most messages of one list.
const LIMIT_MAX: usize = 500;
/// The last message that a list reaches, counted from the newest.
const DEPTH_MAX: usize = 10_000;
/// The most Emails that one question to the store returns.
const EMAILS_AT_ONCE: usize = 500;
/// The most questions to the store for one list. Each examines a bounded number of rows.
const QUESTIONS_MAX: usize = 100;

/// The Emails of one message that were looked at, newest first. At least one.
struct Message(Vec<Listed>);

/// `GET /api/v1/info`: how many messages there are.
pub(super) async fn info(call: Call) -> Result<Json<Value>, Refusal> {
    let (_, total) = newest(&call, 0).await?;
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    Ok(Json(json!({
        "Version": version,
        "LatestVersion": version,
        "Database": "",
        "DatabaseSize": call.api.store.stats().await?.disk_octets,
        "Messages": total,
        "Unread": total,
        "Tags": {},
    })))
}

/// `GET /api/v1/messages?start=&limit=`, newest first.
pub(super) async fn messages(call: Call) -> Result<Response, Refusal> {
    let window = window(&call.query)?;
    let (messages, total) = newest(&call, window.end).await?;
    list(call, window, messages, [total, total]).await
}

/// `GET /api/v1/search?query=&start=&limit=`, newest first.
pub(super) async fn found(call: Call) -> Result<Response, Refusal> {
    let (window, search) = (window(&call.query)?, Search::required(&call.query)?);
    let (found, total) = matching(&call, search, EMAILS_MAX).await?;
    let counts = [total, found.len() as u64];
    let messages = found.into_iter().map(|email| Message(vec![email])).collect();
    list(call, window, messages, counts).await
}

/// The part of a list that `start` and `limit` name, counted from the newest message. What is no number means the default,
/// as in the original.
fn window(query: &Query) -> Result<Range<usize>, Problem> {
    let number = |name| {
        let number = query.get(name)?.and_then(|text| text.trim().parse().ok());
        Ok::<_, Problem>(number.filter(|number| *number > 0))
    };
    let start: usize = number("start")?.unwrap_or(0);
    let end = start.saturating_add(number("limit")?.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX));
    if end > DEPTH_MAX {
        let detail = format!("lists reach the newest {DEPTH_MAX} messages; narrow them by a search");
        return Err(Problem::invalid("start", detail));
    }
    Ok(start..end)
}

/// Answers with a part of `messages`. The counts are those of all messages, and of those that the request is about.
///
/// A message that is removed meanwhile, is damaged, or may not be read by the caller is left out.
async fn list(
    call: Call,
    window: Range<usize>,
    messages: Vec<Message>,
    [total, matching]: [u64; 2],
) -> Result<Response, Refusal> {
    let start = window.start;
    let foot = move |count| {
        let foot = json!({
            "total": total, "unread": total, "messages_count": matching, "messages_unread": matching,
            "count": count, "start": start, "tags": [],
        });
        foot.to_string()
    };
    let part = messages.into_iter().skip(start).take(window.len()).collect();
    let body = writer::body(call.api, call.caller, "messages", part, foot).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// The newest messages, and how many there are; in a store with more than were looked at, how many Emails, if the caller may
/// know. Looks at Emails until there are more than `wanted` messages, and at a bounded number of them. What went to private
/// inboxes alone is for the administrator.
///
/// At least the newest [`EMAILS_MAX`] Emails are looked at, so that the number is exact in a smaller store.
async fn newest(call: &Call, wanted: usize) -> Result<(Vec<Message>, u64), Problem> {
    let (mut messages, mut known, mut emails, mut after) = (Vec::<Message>::new(), HashMap::new(), 0, None);
    let mut total = 0;
    for _ in 0..QUESTIONS_MAX {
        let page = page(call, after).await?;
        emails += page.emails.len();
        let is_visible = |newest: &NewestEmail| call.caller.is_administrator() || !newest.is_of_leases;
        for email in page.emails.into_iter().filter(is_visible).map(|newest| newest.listed) {
            // The Emails of a message share their octets, which tells without a look into them that they belong together.
            let at = *known.entry(email.place).or_insert(messages.len());
            match messages.get_mut(at) {
                Some(message) => message.0.push(email),
                None => messages.push(Message(vec![email])),
            }
        }
        total = messages.len() as u64;
        after = page.next;
        if after.is_some() {
            total = call.api.known_total(&call.caller, page.total).await?.unwrap_or(total);
        }
        // Emails of the last message may still follow.
        if after.is_none() || emails >= DEPTH_MAX || (emails >= EMAILS_MAX && messages.len() > wanted) {
            break;
        }
    }
    Ok((messages, total))
}

/// The Emails of all inboxes that follow a position, newest first.
pub(super) async fn page(call: &Call, after: Option<NewestCursor>) -> Result<NewestPage, StoreError> {
    let query = NewestQuery { by_mailbox: false, domain: None, after, limit: EMAILS_AT_ONCE };
    call.api.store.newest(query, call.api.clock.now()).await
}

/// The messages that a search finds, newest first, at most `limit`, each as an Email that the caller may read; and how
/// many messages there are.
///
/// Looks at as many of the newest messages as a search of one inbox does.
pub(super) async fn matching(call: &Call, search: Search, limit: usize) -> Result<(Vec<Listed>, u64), Problem> {
    let (mut messages, total) = newest(call, EMAILS_MAX).await?;
    messages.truncate(EMAILS_MAX);
    let passing =
        call.api.scan(&call.caller, messages, limit, |_| true, move |email, message| search.is_met(email, message));
    let (mut found, _) = passing.await?;
    found.truncate(limit);
    Ok((found, total))
}

impl Row for Message {
    /// Its Emails share their octets.
    fn listed(&self) -> &Listed {
        &self.0[0]
    }

    /// Loads the newest Email that the caller may read.
    async fn load(&self, api: &Api, caller: &Caller) -> Result<Option<StoredEmail>, StoreError> {
        for listed in &self.0 {
            // One that was removed meanwhile says nothing of the others.
            let Some(mut email) = listed.load(api, caller).await? else { continue };
            for listed in &self.0 {
                email.listed = listed.clone();
                let is_open = |mailbox| caller.may_list(email.lease()) && api.check_role(caller, mailbox).is_ok();
                if email.mailbox().is_some_and(is_open) {
                    return Ok(Some(email));
                }
            }
            return Ok(None);
        }
        Ok(None)
    }
}

impl Entry for Message {
    fn write(&self, api: &Api, email: &StoredEmail, json: &mut Vec<u8>) -> bool {
        message::in_list(email, &api.config.smtp.hostname).map(|shown| json.extend_from_slice(&shown)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_defaults_and_bounds() {
        let window = |query| window(&Query::parse(query).expect("a query"));
        for (query, expected) in [
            ("", 0..50),
            ("start=7&limit=3", 7..10),
            ("start=-1&limit=x", 0..50),
            ("limit=0", 0..50),
            ("limit=100000", 0..500),
            ("start=9500&limit=500", 9_500..10_000),
        ] {
            assert_eq!(window(query).expect(query), expected, "{query}");
        }
        assert!(window("start=9501&limit=500").is_err());
        assert!(window("start=18446744073709551615").is_err());
    }
}
