//! A list of messages as JSON.

use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::mailpit::summary;
use super::walk::Readable;
use super::window::Viewer;
use crate::http::mail::rows::Entry;
use crate::http::mail::writer;
use crate::http::{Api, Problem};
use crate::model::StoredEmail;

/// The answer with these messages and what follows them. Its first piece is written before this returns.
///
/// A message that is removed meanwhile, is damaged, or may not be read by the viewer is left out.
pub(super) async fn write(
    api: Arc<Api>,
    viewer: Viewer,
    messages: Vec<Readable>,
    mut foot: Map<String, Value>,
) -> Result<Response, Problem> {
    let foot = move |count: usize| {
        foot.insert("count".to_owned(), count.into());
        Value::Object(foot).to_string()
    };
    let body = writer::body(api, viewer.asker, "messages", messages, foot).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

impl Entry for Readable {
    fn write(&self, _: &Api, email: &StoredEmail, json: &mut Vec<u8>) -> bool {
        summary::render(email).map(|summary| json.extend_from_slice(&summary)).is_some()
    }
}
