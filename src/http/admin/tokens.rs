//! `/api/admin/tokens`: creates, lists and revokes the tokens of remote callers.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::http::{Answer, Api, Created, Deleted, JsonObject, Problem, Query};
use crate::model::{Scope, Timestamp, TokenRecord};

/// The longest life of a token that expires.
const LIFE_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// A token as JSON. It is `active` or `expired`; `expiresAt` is null if it is valid until it is revoked.
fn shown(record: &TokenRecord, now: Timestamp) -> Value {
    json!({
        "id": record.id(),
        "name": record.name,
        "scope": record.scope,
        "status": if record.is_expired(now) { "expired" } else { "active" },
        "createdAt": record.created_at.to_interface(),
        "expiresAt": record.expires_at.map(Timestamp::to_interface),
    })
}

/// `GET /api/admin/tokens`, in the order of creation.
pub(super) async fn list(State(api): State<Arc<Api>>) -> Json<Vec<Value>> {
    let now = api.clock.now();
    Json(api.tokens.list().iter().map(|record| shown(record, now)).collect())
}

/// `POST /api/admin/tokens` with `name`, and optionally `scope` and `expiresInSeconds`. Only this answer has the token itself.
pub(super) async fn create(State(api): State<Arc<Api>>, body: JsonObject) -> Created<Value> {
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
    let mut created = shown(&record, now);
    created["token"] = secret.expose().into();
    Ok((StatusCode::CREATED, Json(created)))
}

/// `DELETE /api/admin/tokens?id=`, with the name of a token or its id.
pub(super) async fn revoke(State(api): State<Arc<Api>>, query: Query) -> Answer<Deleted> {
    let revoked = api.tokens.revoke(query.text("id")?.to_owned()).await?;
    if let Some(record) = &revoked {
        tracing::info!(name = %record.name, "a token was revoked");
    }
    Ok(Json(Deleted::number(u64::from(revoked.is_some()))))
}
