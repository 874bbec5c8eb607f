//! `/api/admin/faults`: lists, adds and removes the rules for faults of SMTP, in the memory of the daemon alone.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::fault::{Entry, FaultsError};
use crate::http::{Answer, Api, Code, Created, Deleted, JsonObject, Problem, Query};

/// `GET /api/admin/faults`, in the order in which the rules are checked.
pub(super) async fn list(State(api): State<Arc<Api>>) -> Answer<Vec<Entry>> {
    Ok(Json(api.smtp.faults.list()))
}

/// `POST /api/admin/faults` with `rule`.
pub(super) async fn add(State(api): State<Arc<Api>>, body: JsonObject) -> Created<Entry> {
    let rule = body.req("rule")?;
    let added = api.smtp.faults.add(rule)?;
    tracing::info!(id = added.id, rule = %added.rule, "a rule for faults was added");
    Ok((StatusCode::CREATED, Json(added)))
}

/// `DELETE /api/admin/faults?id=`, or without `id` for all.
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Answer<Deleted> {
    let id = query.opt("id")?;
    // The description has the numbers of int64.
    if id.is_some_and(|id| !(1..=i64::MAX.unsigned_abs()).contains(&id)) {
        return Err(Problem::invalid("id", "'id' must be the number of a rule"));
    }
    let removed = api.smtp.faults.remove(id);
    tracing::info!(id, removed, "rules for faults were removed");
    Ok(Json(Deleted::number(removed as u64)))
}

impl From<FaultsError> for Problem {
    fn from(error: FaultsError) -> Self {
        match error {
            FaultsError::Exposed(why) => Self::new(Code::Conflict, why),
            FaultsError::TooMany => Self::limit_reached("faults", error.to_string()),
        }
    }
}
