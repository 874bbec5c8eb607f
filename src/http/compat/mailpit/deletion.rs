//! Deleting messages: by their ids, by a search, or all.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::query::Search;
use crate::http::Api;
use crate::http::body::read_body;
use crate::http::compat::refusal::Refusal;
use crate::http::compat::removal::{delete_all, delete_message};
use crate::http::compat::window::{FormQuery, Viewer};
use crate::http::mail::scan::EMAILS_MAX;
use crate::http::problem::{Code, Problem};
use crate::http::query::{self, Query};

/// The longest body in octets. It has room for thousands of ids.
const BODY_OCTETS_MAX: u64 = 256 * 1024;

/// The ids in a JSON body. The original ignores the case of the name.
#[derive(Debug, Default, Deserialize)]
struct Ids {
    #[serde(default, rename = "IDs", alias = "ids", alias = "Ids", alias = "IDS")]
    ids: Option<Vec<String>>,
}

/// `DELETE /api/v1/messages`: those with the ids of the body, or all without ids.
pub(super) async fn messages(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    request: Request,
) -> Result<Response, Refusal> {
    let is_form = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().to_ascii_lowercase().starts_with(b"application/x-www-form-urlencoded"));
    let ids = ids(&read_body(request, BODY_OCTETS_MAX).await?, is_form)?;
    if ids.is_empty() {
        delete_all(&api, &viewer).await?;
    }
    for id in &ids {
        // An id of another form is that of no message.
        if let Ok(id) = query::id(id) {
            delete_message(&api, &viewer, id).await?;
        }
    }
    Ok(ok())
}

/// `DELETE /api/v1/search?query=`: those among the newest messages that a search finds.
pub(super) async fn found(State(api): State<Arc<Api>>, viewer: Viewer, query: FormQuery) -> Result<Response, Refusal> {
    let search = Search::required(&query)?;
    for listed in api.matching(&viewer, &search, EMAILS_MAX).await? {
        delete_message(&api, &viewer, listed.id).await?;
    }
    Ok(ok())
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
        return Ok(form.all("ids").chain(form.all("IDs")).map(str::to_owned).collect());
    }
    let unread = |_| Problem::new(Code::JsonInvalid, "the body must be a JSON object with a list 'IDs', or empty");
    Ok(serde_json::from_slice::<Option<Ids>>(body).map_err(unread)?.unwrap_or_default().ids.unwrap_or_default())
}

fn ok() -> Response {
    ([(header::CONTENT_TYPE, "text/plain")], "ok").into_response()
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
