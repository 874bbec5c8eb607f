//! `/api/admin/tokens`: creates, lists and revokes the tokens of remote callers.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use crate::http::{Answer, Api, Created, Deleted, JsonObject, Problem, Query};
use crate::model::{Scope, Timestamp, TokenName, TokenRecord};

/// The longest life of a token that expires.
const LIFE_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// A token.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenJson {
    id: String,
    name: TokenName,
    scope: Scope,
    /// `active` or `expired`.
    status: &'static str,
    created_at: String,
    /// Null for a token that is valid until it is revoked.
    expires_at: Option<String>,
    /// The token itself, only in the answer to its creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl TokenJson {
    fn of(record: &TokenRecord, now: Timestamp) -> Self {
        let (id, name, scope) = (record.id(), record.name.clone(), record.scope);
        let status = if record.is_expired(now) { "expired" } else { "active" };
        let created_at = record.created_at.to_interface();
        let expires_at = record.expires_at.map(Timestamp::to_interface);
        Self { id, name, scope, status, created_at, expires_at, token: None }
    }
}

/// `GET /api/admin/tokens`, in the order of creation.
pub(super) async fn list(State(api): State<Arc<Api>>) -> Json<Vec<TokenJson>> {
    let now = api.clock.now();
    Json(api.tokens.list().iter().map(|record| TokenJson::of(record, now)).collect())
}

/// `POST /api/admin/tokens` with `name`, and optionally `scope` and `expiresInSeconds`.
pub(super) async fn create(State(api): State<Arc<Api>>, body: JsonObject) -> Created<TokenJson> {
    let now = api.clock.now();
    let name = body.req("name")?;
    let scope: Scope = body.opt("scope")?.unwrap_or_default();
    let life = body.number("expiresInSeconds")?.map(Duration::from_secs);
    if !life.is_none_or(|life| (Duration::from_secs(1)..=LIFE_MAX).contains(&life)) {
        let detail = format!("'expiresInSeconds' must be a number from 1 to {}", LIFE_MAX.as_secs());
        return Err(Problem::invalid("expiresInSeconds", detail));
    }
    let (record, secret) = api.tokens.create(name, scope, life.map(|life| now.plus(life)), now).await?;
    tracing::info!(name = %record.name, scope = %record.scope, "a token was created");
    let token = Some(secret.expose().to_owned());
    Ok((StatusCode::CREATED, Json(TokenJson { token, ..TokenJson::of(&record, now) })))
}

/// `DELETE /api/admin/tokens?id=`, with the name of a token or its id.
pub(super) async fn revoke(State(api): State<Arc<Api>>, query: Query) -> Answer<Deleted> {
    let revoked = api.tokens.revoke(query.text("id")?.to_owned()).await?;
    if let Some(record) = &revoked {
        tracing::info!(name = %record.name, "a token was revoked");
    }
    Ok(Json(Deleted::number(u64::from(revoked.is_some()))))
}
