//! The interface of Mailpit, version 1: reading, searching and deleting.
//!
//! ```text
//! mod       the handlers             deletion  those that delete
//! summary   a message in a list      message   a message with its bodies and attachments
//! query     the language of searches
//! ```
//!
//! Messages have no state of being read here, and no tags.

mod deletion;
mod message;
pub(super) mod query;
pub(super) mod summary;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::InPath;
use super::fields;
use super::listing;
use super::refusal::Refusal;
use super::walk::{Message, Readable, Walked};
use super::window::{FormQuery, Viewer, Window};
use crate::http::Api;
use crate::http::mail::scan::EMAILS_MAX;
use crate::http::problem::{Code, Problem};
use crate::http::{attachment, message as own_message, query as own_query, raw, view};
use crate::model::EmailId;
use query::Search;

/// The most messages of one list.
const LIMIT_MAX: usize = 500;
/// The id that stands for the newest message.
const LATEST: &str = "latest";

/// The routes of this interface.
pub(super) fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/info", get(info))
        .route("/api/v1/messages", get(messages).delete(deletion::messages))
        .route("/api/v1/search", get(search).delete(deletion::found))
        .route("/api/v1/message/{id}", get(message))
        .route("/api/v1/message/{id}/headers", get(headers))
        .route("/api/v1/message/{id}/raw", get(source))
        .route("/api/v1/message/{id}/part/{part}", get(part))
        .route("/view/{file}", get(page))
}

/// `GET /api/v1/info`: how many messages there are.
async fn info(State(api): State<Arc<Api>>) -> Result<Json<Value>, Refusal> {
    let Walked { total, .. } = api.newest_messages(0).await?;
    let stats = api.store.stats().await?;
    let version = concat!("tempmail ", env!("CARGO_PKG_VERSION"));
    Ok(Json(json!({
        "Version": version,
        "LatestVersion": version,
        "Database": "",
        "DatabaseSize": stats.disk_octets,
        "Messages": total,
        "Unread": total,
        "Tags": {},
    })))
}

/// `GET /api/v1/messages?start=&limit=`, newest first.
async fn messages(State(api): State<Arc<Api>>, viewer: Viewer, query: FormQuery) -> Result<Response, Refusal> {
    let window = query.window(LIMIT_MAX)?;
    let Walked { messages, total } = api.newest_messages(window.end()).await?;
    list(api, viewer, window, messages, [total, total]).await
}

/// `GET /api/v1/search?query=&start=&limit=`, newest first.
async fn search(State(api): State<Arc<Api>>, viewer: Viewer, query: FormQuery) -> Result<Response, Refusal> {
    let (window, search) = (query.window(LIMIT_MAX)?, Search::required(&query)?);
    let found = api.matching(&viewer, &search, EMAILS_MAX).await?;
    let counts = [api.newest_messages(0).await?.total, found.len() as u64];
    list(api, viewer, window, found.into_iter().map(Message::from).collect(), counts).await
}

/// Answers with a part of `messages`. The counts are those of all messages, and of those that the request is about.
async fn list(
    api: Arc<Api>,
    viewer: Viewer,
    window: Window,
    messages: Vec<Message>,
    [total, matching]: [u64; 2],
) -> Result<Response, Refusal> {
    let members: [(&str, Value); 6] = [
        ("total", total.into()),
        ("unread", total.into()),
        ("messages_count", matching.into()),
        ("messages_unread", matching.into()),
        ("start", window.start.into()),
        ("tags", Value::Array(Vec::new())),
    ];
    let foot: Map<String, Value> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let messages = window.of(messages).into_iter().map(|message| Readable(message, viewer.principal)).collect();
    Ok(listing::write(api, viewer, messages, foot).await?)
}

/// `GET /api/v1/message/{id}`.
async fn message(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    query: FormQuery,
    path: InPath<String>,
) -> Result<Response, Refusal> {
    let id = id(&api, &viewer, &query, &own_message::text(path)?).await?;
    let json = api.read(viewer.principal, &viewer.asker, id, |email, room| {
        let json = message::render(&email).ok_or_else(Problem::internal)?;
        Ok(room.hold(json.into_boxed_slice()))
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

/// `GET /api/v1/message/{id}/headers`: the header fields as received.
async fn headers(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    query: FormQuery,
    path: InPath<String>,
) -> Result<Response, Refusal> {
    let id = id(&api, &viewer, &query, &own_message::text(path)?).await?;
    let json = api.read(viewer.principal, &viewer.asker, id, |email, room| {
        let fields: BTreeMap<_, _> = fields::by_name(&email.raw);
        let json = serde_json::to_vec(&fields).map_err(|_| Problem::internal())?;
        Ok(room.hold(json.into_boxed_slice()))
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

/// `GET /api/v1/message/{id}/raw`: the message as text.
async fn source(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    query: FormQuery,
    path: InPath<String>,
) -> Result<Response, Refusal> {
    let id = id(&api, &viewer, &query, &own_message::text(path)?).await?.to_string();
    let Viewer { principal, asker } = viewer;
    let mut response = raw::show(State(api), principal, asker, Ok(Path(id))).await?;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}

/// `GET /api/v1/message/{id}/part/{part}`: an attachment.
async fn part(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    query: FormQuery,
    path: InPath<(String, String)>,
) -> Result<Response, Refusal> {
    let (id_text, part) = own_message::text(path)?;
    let id = id(&api, &viewer, &query, &id_text).await?.to_string();
    let Viewer { principal, asker } = viewer;
    Ok(attachment::show(State(api), principal, asker, Ok(Path((id, part)))).await?)
}

/// `GET /view/{id}.html` and `/view/{id}.txt`: the body for a browser.
async fn page(
    State(api): State<Arc<Api>>,
    viewer: Viewer,
    query: FormQuery,
    path: InPath<String>,
) -> Result<Response, Refusal> {
    let file = own_message::text(path)?;
    let (name, is_html) = match file.rsplit_once('.') {
        Some((name, "html")) => (name, true),
        Some((name, "txt")) => (name, false),
        _ => return Err(Problem::no_such_email().into()),
    };
    let id = Ok(Path(id(&api, &viewer, &query, name).await?.to_string()));
    let Viewer { principal, asker } = viewer;
    if is_html {
        return Ok(view::html(State(api), principal, asker, own_query::Query::default(), id).await?);
    }
    Ok(view::text(State(api), principal, asker, id).await?)
}

/// The id that a path names. `latest` is the newest message, or the newest one that the parameter `query` finds.
async fn id(api: &Arc<Api>, viewer: &Viewer, query: &FormQuery, text: &str) -> Result<EmailId, Refusal> {
    if text != LATEST {
        return Ok(own_query::id(text)?);
    }
    let search = Search::optional(query)?;
    let newest = api.matching(viewer, &search, 1).await?;
    newest.first().map(|listed| listed.id).ok_or_else(|| Problem::new(Code::NotFound, "there is no message").into())
}
