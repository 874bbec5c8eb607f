//! `/api/admin/faults`: lists, adds and removes the rules for faults of SMTP, in the memory of the daemon alone.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use crate::http::Api;
use crate::http::body::JsonObject;
use crate::http::delete::Deleted;
use crate::http::problem::{Code, Problem};
use crate::http::query::Query;
use crate::smtp::fault::{Entry, Faults, FaultsError, Rule};

/// When to ask again for a daemon.
const RETRY_AFTER_SECONDS: u32 = 5;

/// A rule in effect.
#[derive(Debug, Serialize)]
pub(super) struct FaultJson {
    id: u64,
    rule: String,
    /// `settings` or `request`.
    source: &'static str,
    matched: u64,
    injected: u64,
}

impl From<Entry> for FaultJson {
    fn from(entry: Entry) -> Self {
        let Entry { id, rule, is_setting, matched, injected } = entry;
        Self { id, rule: rule.to_string(), source: if is_setting { "settings" } else { "request" }, matched, injected }
    }
}

/// `GET /api/admin/faults`, in the order in which the rules are checked.
pub(super) async fn list(State(api): State<Arc<Api>>) -> Result<Json<Vec<FaultJson>>, Problem> {
    Ok(Json(faults(&api)?.list().into_iter().map(FaultJson::from).collect()))
}

/// `POST /api/admin/faults` with `rule`.
pub(super) async fn add(
    State(api): State<Arc<Api>>,
    body: JsonObject,
) -> Result<(StatusCode, Json<FaultJson>), Problem> {
    let missing = || Problem::new(Code::FieldMissing, "the field 'rule' is missing");
    let rule = body.text("rule", Code::FaultInvalid)?.ok_or_else(missing)?;
    let invalid = |error| Problem::new(Code::FaultInvalid, format!("'rule': {error}"));
    let rule = rule.parse::<Rule>().map_err(invalid)?;
    let added = faults(&api)?.add(rule)?;
    tracing::info!(id = added.id, rule = %added.rule, "a rule for faults was added");
    Ok((StatusCode::CREATED, Json(added.into())))
}

/// `DELETE /api/admin/faults?id=`, or without `id` for all.
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Result<Json<Deleted>, Problem> {
    let invalid = || Problem::new(Code::FaultInvalid, "'id' must be the number of a rule");
    // The description has the numbers of int64.
    let number = |id: &str| id.parse().ok().filter(|id| (1..=i64::MAX.unsigned_abs()).contains(id));
    let id = query.get("id")?.map(|id| number(id).ok_or_else(invalid)).transpose()?;
    let removed = faults(&api)?.remove(id);
    tracing::info!(id, removed, "rules for faults were removed");
    Ok(Json(Deleted::number(removed as u64)))
}

fn faults(api: &Api) -> Result<&Faults, Problem> {
    let none = || {
        Problem::new(Code::NotReady, "rules for faults are in the memory of a daemon, and none runs")
            .with_retry_after(RETRY_AFTER_SECONDS)
    };
    api.daemon.as_ref().map(|_| &*api.faults).ok_or_else(none)
}

impl From<FaultsError> for Problem {
    fn from(error: FaultsError) -> Self {
        let code = match error {
            FaultsError::Exposed(_) => Code::FaultsExposed,
            FaultsError::TooMany => Code::TooManyFaults,
        };
        Self::new(code, error.to_string())
    }
}
