//! `GET /api/mail/messages/{id}`: one Email with all its details.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse;

use crate::email::{self, Fields};
use crate::http::query;
use crate::http::{Api, Caller, Code, Problem, Room};
use crate::model::{EmailId, StoredEmail};

/// Answers with the Email.
pub(in crate::http) async fn show(
    State(api): State<Arc<Api>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let json = api.json(&caller, id(path)?).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json))
}

impl Api {
    /// The JSON of an Email with all its details, also of who sent it, if `caller` may read it.
    pub(super) async fn json(self: &Arc<Self>, caller: &Caller, id: EmailId) -> Result<Bytes, Problem> {
        let render = |email: StoredEmail, room: Room| {
            let mut json = Vec::new();
            email::write(&mut json, &email, Fields::ALL).ok_or_else(Problem::internal)?;
            Ok((email, json, room))
        };
        let (email, mut json, room) = self.read(caller, id, render).await?;
        if let Some(authentication) = self.senders.authentication(&email, caller.who).await {
            email::add(&mut json, "authentication", &*authentication);
        }
        Ok(room.hold(json))
    }
}

/// The id in the path.
pub(in crate::http) fn id(path: Result<Path<String>, PathRejection>) -> Result<EmailId, Problem> {
    query::id(&text(path)?)
}

/// What a path has in the place of its names. A path that is not UTF-8 has no valid id.
pub(in crate::http) fn text<T>(path: Result<Path<T>, PathRejection>) -> Result<T, Problem> {
    let Path(text) = path.map_err(|_| Problem::new(Code::IdInvalid, "the id in the path is not valid"))?;
    Ok(text)
}
