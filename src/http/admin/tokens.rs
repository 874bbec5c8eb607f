//! `/api/admin/tokens`: creates, lists and revokes the tokens of remote callers.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use crate::http::Api;
use crate::http::body::JsonObject;
use crate::http::delete::Deleted;
use crate::http::problem::{Code, Problem};
use crate::http::query::Query;
use crate::model::{Scope, Timestamp, TokenName, TokenRecord};
use crate::tokens::NewToken;

/// The longest life of a token that expires.
const LIFE_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// A token without its secret.
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
}

impl TokenJson {
    fn of(record: &TokenRecord, now: Timestamp) -> Self {
        Self {
            id: record.id(),
            name: record.name.clone(),
            scope: record.scope,
            status: if record.is_expired(now) { "expired" } else { "active" },
            created_at: record.created_at.to_interface(),
            expires_at: record.expires_at.map(Timestamp::to_interface),
        }
    }
}

/// A new token. No later answer has its secret.
#[derive(Debug, Serialize)]
pub(super) struct CreatedJson {
    #[serde(flatten)]
    record: TokenJson,
    token: String,
}

/// `GET /api/admin/tokens`, in the order of creation.
pub(super) async fn list(State(api): State<Arc<Api>>) -> Json<Vec<TokenJson>> {
    let now = api.clock.now();
    Json(api.tokens.list().iter().map(|record| TokenJson::of(record, now)).collect())
}

/// `POST /api/admin/tokens` with `name`, and optionally `scope` and `expiresInSeconds`.
pub(super) async fn create(
    State(api): State<Arc<Api>>,
    body: JsonObject,
) -> Result<(StatusCode, Json<CreatedJson>), Problem> {
    let now = api.clock.now();
    let created = api.tokens.create(new_token(&body, now)?, now).await?;
    tracing::info!(name = %created.record.name, scope = %created.record.scope, "a token was created");
    let token = created.secret.expose().to_owned();
    Ok((StatusCode::CREATED, Json(CreatedJson { record: TokenJson::of(&created.record, now), token })))
}

fn new_token(body: &JsonObject, now: Timestamp) -> Result<NewToken, Problem> {
    let missing = || Problem::new(Code::FieldMissing, "the field 'name' is missing");
    let name = body.text("name", Code::NameInvalid)?.ok_or_else(missing)?;
    let name = name.parse().map_err(|error| Problem::new(Code::NameInvalid, format!("'name': {error}")))?;
    let scope = body.text("scope", Code::ScopeInvalid)?.map_or(Ok(Scope::default()), str::parse);
    let scope = scope.map_err(|error| Problem::new(Code::ScopeInvalid, format!("'scope': {error}")))?;
    let life = body.number("expiresInSeconds", Code::ExpiryInvalid)?.map(Duration::from_secs);
    if !life.is_none_or(|life| (Duration::from_secs(1)..=LIFE_MAX).contains(&life)) {
        let detail = format!("'expiresInSeconds' must be a number from 1 to {}", LIFE_MAX.as_secs());
        return Err(Problem::new(Code::ExpiryInvalid, detail));
    }
    Ok(NewToken { name, scope, expires_at: life.map(|life| now.plus(life)) })
}

/// `DELETE /api/admin/tokens?id=`, with the name of a token or its id.
pub(super) async fn revoke(State(api): State<Arc<Api>>, query: Query) -> Result<Json<Deleted>, Problem> {
    let revoked = api.tokens.revoke(query.required("id")?.to_owned()).await?;
    if let Some(record) = &revoked {
        tracing::info!(name = %record.name, "a token was revoked");
    }
    Ok(Json(Deleted::number(u64::from(revoked.is_some()))))
}
