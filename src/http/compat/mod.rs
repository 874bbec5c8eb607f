//! The interface of Mailpit, version 1, for test suites that were written for it. The setting `compat-api` opens it.
//!
//! It shows the mail of all inboxes, so [`gate`] decides who may use it. A message with several recipients is one
//! message here, as it is there, although it is one Email for each recipient. Messages have no state of being read here,
//! and no tags.
//!
//! ```text
//! gate      who may use it                  list    the newest messages, and those that a search finds
//! message   one message, and its JSON       query   the language of searches
//! delete    deleting messages
//! ```
//!
//! None of this is in the description of the interface: it belongs to another project.

mod delete;
mod gate;
mod list;
mod message;
mod query;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::route::{delete, get, put};
use super::{Api, Caller, Code, Problem, Query, health};
use crate::config::CompatApi;

/// The routes of the chosen interface.
pub(super) fn routes(api: &Api) -> Router<Arc<Api>> {
    match api.config.http.compat_api {
        CompatApi::Off => Router::new(),
        CompatApi::Mailpit => mailpit(),
    }
}

fn mailpit() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v1/info", get(list::info))
        .route("/api/v1/messages", get(list::messages).merge(put(message::mark)).merge(delete(delete::messages)))
        .route("/api/v1/search", get(list::found).merge(delete(delete::found)))
        .route("/api/v1/message/{id}", get(message::show))
        .route("/api/v1/message/{id}/headers", get(message::headers))
        .route("/api/v1/message/{id}/raw", get(message::source))
        .route("/api/v1/message/{id}/part/{part}", get(message::part))
        .route("/view/{file}", get(message::page))
        // It asks for no token, and `/readyz` is there without this interface.
        .route("/livez", get(health::alive))
}

/// A request that is permitted: who sent it, and its query as forms encode it, where a `+` is a blank. Every handler asks for
/// it.
struct Call {
    api: Arc<Api>,
    caller: Caller,
    query: Query,
}

impl FromRequestParts<Arc<Api>> for Call {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let Ok(mut caller) = Caller::from_request_parts(parts, api).await;
        gate::check(api, &mut caller, parts).await?;
        let query = Query::parse(&parts.uri.query().unwrap_or_default().replace('+', "%20"))?;
        Ok(Self { api: Arc::clone(api), caller, query })
    }
}

/// An error as the original has it: a status and a text. Those of the service itself (5xx) stay problems.
#[derive(Debug)]
struct Refusal(Problem);

impl<T: Into<Problem>> From<T> for Refusal {
    fn from(problem: T) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.0.code() {
            // A caller that may not read a message must not learn that it is there.
            Code::NotFound | Code::IdInvalid | Code::RoleAddress => {
                let fields = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
                (StatusCode::NOT_FOUND, fields, "404 page not found").into_response()
            }
            _ => self.0.into_text(),
        }
    }
}
