//! The interfaces of MailHog, versions 1 and 2: reading, searching and deleting.
//!
//! ```text
//! mod      the handlers            message   a message as JSON
//! content  its header fields, its body, and its parts as MailHog splits them
//! ```
//!
//! A message that is not there is `null`, and a search that can't be read gets 400 without a body, as in the original.

mod content;
mod message;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Map, Value};

use super::InPath;
use super::listing::Form;
use super::refusal::Refusal;
use super::removal::{delete_all, delete_message};
use super::search::Condition;
use super::text::plain;
use super::walk::{Message, Walked};
use super::window::{FormQuery, Viewer, Window};
use crate::http::problem::{Code, Problem};
use crate::http::search::EMAILS_MAX;
use crate::http::{Api, message as own_message, query as own_query, raw};
use crate::mime::Content;
use crate::model::StoredEmail;

/// The most messages of one list of version 2.
const LIMIT_MAX: usize = 250;
/// The messages of the list of version 1, which has no parts.
const WHOLE: Window = Window { start: 0, limit: 1_000 };
/// The type of JSON here.
const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/json")];

/// The routes of these interfaces.
pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v2/messages", get(messages))
        .route("/api/v2/search", get(search))
        .route("/api/v1/messages", get(all).delete(remove_all))
        .route("/api/v1/messages/{id}", get(message).delete(remove))
        .route("/api/v1/messages/{id}/download", get(download))
}

/// `GET /api/v2/messages?start=&limit=`, newest first.
async fn messages(State(api): State<Arc<Api>>, viewer: Viewer, query: FormQuery) -> Result<Response, Refusal> {
    let window = query.window(LIMIT_MAX)?;
    let Walked { messages, total } = api.newest_messages(window.end()).await?;
    list(api, viewer, window, messages, total).await
}

/// `GET /api/v2/search?kind=&query=&start=&limit=`, newest first.
async fn search(State(api): State<Arc<Api>>, viewer: Viewer, query: FormQuery) -> Result<Response, Refusal> {
    let window = query.window(LIMIT_MAX)?;
    let Some(search) = Search::of(query.get("kind")?, query.get("query")?) else {
        return Ok(StatusCode::BAD_REQUEST.into_response());
    };
    let found = api.matching(&viewer, &search, EMAILS_MAX).await?;
    let total = found.len() as u64;
    list(api, viewer, window, found.into_iter().map(Message::from).collect(), total).await
}

async fn list(
    api: Arc<Api>,
    viewer: Viewer,
    window: Window,
    messages: Vec<Message>,
    total: u64,
) -> Result<Response, Refusal> {
    let members: [(&str, Value); 2] = [("total", total.into()), ("start", window.start.into())];
    let foot: Map<String, Value> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let (content_type, entry) = (JSON[0].1, message::render as _);
    let form = Form { content_type, beginning: "{\"items\":[", entry, foot: Some(foot) };
    Ok(form.write(api, viewer, window.of(messages)).await?)
}

/// `GET /api/v1/messages`: the newest messages as an array.
async fn all(State(api): State<Arc<Api>>, viewer: Viewer) -> Result<Response, Refusal> {
    let messages = WHOLE.of(api.newest_messages(WHOLE.end()).await?.messages);
    let form = Form { content_type: JSON[0].1, beginning: "[", entry: message::render, foot: None };
    Ok(form.write(api, viewer, messages).await?)
}

/// `GET /api/v1/messages/{id}`.
async fn message(State(api): State<Arc<Api>>, viewer: Viewer, path: InPath<String>) -> Result<Response, Refusal> {
    let Ok(id) = own_query::id(&own_message::text(path)?) else { return Ok((JSON, "null").into_response()) };
    let json = api.read(viewer.principal, &viewer.asker, id, |email, room| {
        let json = message::render(&email).ok_or_else(Problem::internal)?;
        Ok(room.hold(json.into_boxed_slice()))
    });
    match json.await {
        Ok(json) => Ok((JSON, json).into_response()),
        Err(problem) if [Code::NotFound, Code::RoleAddress].contains(&problem.code()) => {
            Ok((JSON, "null").into_response())
        }
        Err(problem) => Err(problem.into()),
    }
}

/// `GET /api/v1/messages/{id}/download`: the message as it was received.
async fn download(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    method: Method,
    headers: HeaderMap,
    path: InPath<String>,
) -> Result<Response, Refusal> {
    let id = own_message::id(path)?.to_string();
    let Viewer { principal, asker } = viewer;
    Ok(raw::show(State(api), principal, asker, method, headers, Ok(Path(id))).await?)
}

/// `DELETE /api/v1/messages`.
async fn remove_all(State(api): State<Arc<Api>>, viewer: Viewer) -> Result<Response, Refusal> {
    delete_all(&api, &viewer).await?;
    Ok(JSON.into_response())
}

/// `DELETE /api/v1/messages/{id}`. An unknown id is no error.
async fn remove(State(api): State<Arc<Api>>, viewer: Viewer, path: InPath<String>) -> Result<Response, Refusal> {
    if let Ok(id) = own_query::id(&own_message::text(path)?) {
        delete_message(&api, &viewer, id).await?;
    }
    Ok(JSON.into_response())
}

/// What a message must have. The texts are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Search {
    /// In the address or the field of its sender.
    From(String),
    /// In the addresses of its recipients, or the field To.
    To(String),
    /// In its header or its body, as received or decoded.
    Containing(String),
}

impl Search {
    /// `None` if the kind does not exist, or there is nothing to search.
    fn of(kind: &str, text: &str) -> Option<Self> {
        let text = Some(text.to_lowercase()).filter(|text| !text.is_empty())?;
        match kind.to_ascii_lowercase().as_str() {
            "from" => Some(Self::From(text)),
            "to" => Some(Self::To(text)),
            "containing" => Some(Self::Containing(text)),
            _ => None,
        }
    }
}

impl Condition for Search {
    fn is_met(&self, email: &StoredEmail, content: &Content) -> bool {
        let contains = |text: &str, part: &String| text.to_lowercase().contains(part);
        let has_field = |wanted: &str, part: &String| {
            let mut fields = content.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            fields.any(|(_, value)| contains(value, part))
        };
        match self {
            Self::From(part) => contains(&email.envelope.reverse_path, part) || has_field("from", part),
            Self::To(part) => {
                let mut recipients = email.envelope.recipients.iter();
                recipients.any(|recipient| contains(&recipient.address, part)) || has_field("to", part)
            }
            Self::Containing(part) => {
                contains(&String::from_utf8_lossy(&email.raw), part)
                    || contains(&content.subject, part)
                    || contains(&content.body_text, part)
                    || plain(&content.body_text).contains(part)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_a_kind_and_a_text() {
        assert_eq!(Search::of("to", "Ann"), Some(Search::To("ann".to_owned())));
        assert_eq!(Search::of("From", "a"), Some(Search::From("a".to_owned())));
        assert_eq!(Search::of("containing", "a"), Some(Search::Containing("a".to_owned())));
        for (kind, text) in [("to", ""), ("", "a"), ("subject", "a")] {
            assert_eq!(Search::of(kind, text), None, "{kind} {text}");
        }
    }
}
