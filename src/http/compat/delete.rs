//! Deleting messages: by their ids, by a search, or all.

use std::collections::BTreeSet;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use serde::Deserialize;

use super::query::Search;
use super::{Call, Refusal, list};
use crate::http::body::{media_type, read_body};
use crate::http::mail::scan::EMAILS_MAX;
use crate::http::{Code, Problem, Query};
use crate::http::{delete, query};
use crate::model::{EmailId, Recipient};

/// The longest body in octets. It has room for thousands of ids.
const BODY_OCTETS_MAX: u64 = 256 * 1024;
/// How many messages are deleted at once. The store makes that durable together.
const AT_ONCE: usize = 32;

/// The ids in a JSON body. The original ignores the case of the name.
#[derive(Debug, Default, Deserialize)]
struct Ids {
    #[serde(default, rename = "IDs", alias = "ids", alias = "Ids", alias = "IDS")]
    ids: Option<Vec<String>>,
}

/// `DELETE /api/v1/messages`: those with the ids of the body, or all without ids.
pub(super) async fn messages(call: Call, request: Request) -> Result<Response, Refusal> {
    let is_form = media_type(request.headers()) == "application/x-www-form-urlencoded";
    let ids = ids(&read_body(request, BODY_OCTETS_MAX).await?, is_form)?;
    if ids.is_empty() {
        delete_all(&call).await?;
    }
    // An id of another form is that of no message.
    delete_messages(&call, ids.iter().filter_map(|id| query::id(id).ok()).collect()).await?;
    Ok(ok())
}

/// `DELETE /api/v1/search?query=`: those among the newest messages that a search finds.
pub(super) async fn found(call: Call) -> Result<Response, Refusal> {
    let (found, _) = list::matching(&call, Search::required(&call.query)?, EMAILS_MAX).await?;
    delete_messages(&call, found.iter().map(|listed| listed.id).collect()).await?;
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

/// Deletes every message that was there at the call.
async fn delete_all(call: &Call) -> Result<(), Problem> {
    let mut after = None;
    loop {
        let page = list::page(call, after).await?;
        let ids = page.emails.iter().map(|newest| newest.listed.id).collect();
        delete_messages(call, ids).await?;
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Deletes the messages of Emails: of each message all Emails that the caller may delete. An unknown id is no error.
async fn delete_messages(call: &Call, ids: Vec<EmailId>) -> Result<(), Problem> {
    for ids in ids.chunks(AT_ONCE) {
        let messages = join_all(ids.iter().map(|id| of_message(call, *id))).await;
        let emails: BTreeSet<EmailId> =
            messages.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        delete::delete_all(&call.api, emails.into_iter()).await?;
    }
    Ok(())
}

/// All Emails of the message that an Email is of, but those that the caller may not read; none if that is one of them.
async fn of_message(call: &Call, id: EmailId) -> Result<Vec<EmailId>, Problem> {
    let Call { api, caller, .. } = call;
    match api.email(caller, id).await {
        Ok((email, _room)) => {
            let is_open = |it: &&Recipient| {
                let may_list = it.id == id || caller.may_list(it.mailbox.lease());
                may_list && api.check_role(caller, &it.mailbox).is_ok()
            };
            Ok(email.envelope.recipients.iter().filter(is_open).map(|it| it.id).collect())
        }
        // Who may read all mail may delete what nobody can read.
        Err(problem) if problem.code() == Code::EmailDamaged && caller.reads_all() => Ok(vec![id]),
        Err(problem) if [Code::NotFound, Code::RoleAddress].contains(&problem.code()) => Ok(Vec::new()),
        Err(problem) => Err(problem),
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
