//! Deleting messages: by their ids, by a search, or all.

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use serde::Deserialize;

use super::query::Search;
use super::{Call, Refusal, list};
use crate::http::body::read_body;
use crate::http::delete::delete_one;
use crate::http::mail::scan::EMAILS_MAX;
use crate::http::query;
use crate::http::{Code, Problem, Query};
use crate::model::EmailId;

/// The longest body in octets. It has room for thousands of ids.
const BODY_OCTETS_MAX: u64 = 256 * 1024;
/// How many Emails are deleted at once. The store makes them durable together.
const AT_ONCE: usize = 32;

/// The ids in a JSON body. The original ignores the case of the name.
#[derive(Debug, Default, Deserialize)]
struct Ids {
    #[serde(default, rename = "IDs", alias = "ids", alias = "Ids", alias = "IDS")]
    ids: Option<Vec<String>>,
}

/// `DELETE /api/v1/messages`: those with the ids of the body, or all without ids.
pub(super) async fn messages(call: Call, request: Request) -> Result<Response, Refusal> {
    let is_form = request
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().to_ascii_lowercase().starts_with(b"application/x-www-form-urlencoded"));
    let ids = ids(&read_body(request, BODY_OCTETS_MAX).await?, is_form)?;
    if ids.is_empty() {
        delete_all(&call).await?;
    }
    // An id of another form is that of no message.
    let ids: Vec<EmailId> = ids.iter().filter_map(|id| query::id(id).ok()).collect();
    delete_messages(&call, &ids).await?;
    Ok(ok())
}

/// `DELETE /api/v1/search?query=`: those among the newest messages that a search finds.
pub(super) async fn found(call: Call) -> Result<Response, Refusal> {
    let (found, _) = list::matching(&call, Search::required(&call.query)?, EMAILS_MAX).await?;
    let ids: Vec<EmailId> = found.iter().map(|listed| listed.id).collect();
    delete_messages(&call, &ids).await?;
    Ok(ok())
}

fn ok() -> Response {
    ([(CONTENT_TYPE, "text/plain")], "ok").into_response()
}

/// The ids in a body: a JSON object, or a form with a field for each, as one client sends it.
///
/// The original deletes everything when it can't read the body. Here that is an error.
fn ids(body: &Bytes, is_form: bool) -> Result<Vec<String>, Problem> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    if is_form {
        let form = Query::parse(str::from_utf8(body).unwrap_or("%"))?;
        return Ok(form.values("ids").chain(form.values("IDs")).map(str::to_owned).collect());
    }
    let unread = |_| Problem::new(Code::JsonInvalid, "the body must be a JSON object with a list 'IDs', or empty");
    Ok(serde_json::from_slice::<Option<Ids>>(body).map_err(unread)?.unwrap_or_default().ids.unwrap_or_default())
}

/// Deletes every Email that the caller may delete and that was there at the call.
async fn delete_all(call: &Call) -> Result<(), Problem> {
    let mut after = None;
    loop {
        let page = call.api.store.newest(list::page_after(after), call.api.clock.now()).await?;
        let ids: Vec<EmailId> = page.emails.iter().map(|newest| newest.listed.id).collect();
        delete_emails(call, &ids).await?;
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Deletes the messages of Emails: of each message all Emails that the caller may delete. An unknown id is no error.
async fn delete_messages(call: &Call, ids: &[EmailId]) -> Result<(), Problem> {
    for ids in ids.chunks(AT_ONCE) {
        let mut emails = Vec::new();
        for id in ids {
            emails.extend(of_message(call, *id).await?);
        }
        delete_emails(call, &emails).await?;
    }
    Ok(())
}

/// All Emails of the message that an Email is of; none if the caller may not read that one.
async fn of_message(call: &Call, id: EmailId) -> Result<Vec<EmailId>, Problem> {
    match call.api.email(&call.caller, id).await {
        Ok((email, _room)) => Ok(email.envelope.recipients.iter().map(|recipient| recipient.id).collect()),
        Err(problem) if problem.code() == Code::EmailDamaged => Ok(vec![id]),
        Err(problem) => unless_hidden(problem).map(|()| Vec::new()),
    }
}

/// Deletes those Emails that the caller may delete. None goes on after an error is told.
async fn delete_emails(call: &Call, ids: &[EmailId]) -> Result<(), Problem> {
    for ids in ids.chunks(AT_ONCE) {
        let deletions = ids.iter().map(|id| delete_one(&call.api, &call.caller, *id));
        for deleted in join_all(deletions).await {
            deleted.map(drop).or_else(unless_hidden)?;
        }
    }
    Ok(())
}

/// No error for a message that the caller can't see.
fn unless_hidden(problem: Problem) -> Result<(), Problem> {
    match problem.code() {
        Code::NotFound | Code::RoleAddress => Ok(()),
        _ => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &'static str, is_form: bool) -> Option<Vec<String>> {
        ids(&Bytes::from_static(body.as_bytes()), is_form).ok()
    }

    #[test]
    fn a_body_names_ids_or_all() {
        for all in ["", " ", "{}", "null", "{\"IDs\":[]}", "{\"IDs\":null}"] {
            assert_eq!(read(all, false), Some(Vec::new()), "{all}");
        }
        for (body, is_form) in
            [("{\"IDs\":[\"a\",\"b\"]}", false), ("{\"ids\":[\"a\",\"b\"]}", false), ("ids=a&ids=b", true)]
        {
            assert_eq!(read(body, is_form), Some(vec!["a".to_owned(), "b".to_owned()]), "{body}");
        }
    }

    #[test]
    fn a_body_that_cannot_be_read_deletes_nothing() {
        for body in ["x", "[", "{\"IDs\":\"a\"}", "{\"IDs\":[1]}", "ids=a"] {
            assert_eq!(read(body, false), None, "{body}");
        }
    }
}
