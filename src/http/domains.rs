//! `/api/domains`: list, register and check domains.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::Api;
use super::body::JsonObject;
use super::principal::Asker;
use super::problem::{Code, Problem};
use super::query::{self, Query};
use crate::dns::MxReport;
use crate::domains::{DomainEntry, NewDomain};
use crate::model::{DomainName, DomainStatus, Timestamp};

/// The longest owner in characters.
const OWNER_CHARS_MAX: usize = 256;

/// A domain as the public sees it, without its owner.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DomainJson {
    domain: String,
    status: DomainStatus,
    added_at: Option<String>,
    last_checked_at: Option<String>,
    last_check_result: Option<String>,
}

impl From<DomainEntry> for DomainJson {
    fn from(entry: DomainEntry) -> Self {
        let (status, record) = (entry.status(), entry.record.as_deref());
        Self {
            status,
            added_at: record.map(|record| record.added_at.to_interface()),
            last_checked_at: record.and_then(|record| record.last_checked_at).map(Timestamp::to_interface),
            last_check_result: record.and_then(|record| record.last_check_result.clone()),
            domain: entry.domain,
        }
    }
}

/// `GET /api/domains`
pub(super) async fn list(State(api): State<Arc<Api>>) -> Json<Vec<DomainJson>> {
    Json(api.domains.table.list().into_iter().map(DomainJson::from).collect())
}

/// `GET /api/domains/active`
pub(super) async fn active(State(api): State<Arc<Api>>) -> Json<Vec<DomainName>> {
    Json(api.domains.table.active())
}

/// `GET /api/domains/check-dns`
pub(super) async fn check_dns(
    State(api): State<Arc<Api>>,
    asker: Asker,
    query: Query,
) -> Result<Json<MxReport>, Problem> {
    let name = query.domain("domain")?;
    Ok(Json(api.domains.check(&name, asker.client()).await?))
}

/// `POST /api/domains`: 201 for a new domain, 200 for a registered domain, which is checked again.
pub(super) async fn register(
    State(api): State<Arc<Api>>,
    asker: Asker,
    body: JsonObject,
) -> Result<(StatusCode, Json<DomainJson>), Problem> {
    let (domain, created) = api.domains.register(new_domain(&body)?, asker.client()).await?;
    Ok((status(created), Json(domain.into())))
}

pub(super) fn status(created: bool) -> StatusCode {
    if created { StatusCode::CREATED } else { StatusCode::OK }
}

/// The domain in the body of a registration.
pub(super) fn new_domain(body: &JsonObject) -> Result<NewDomain, Problem> {
    let name = body.text("domain", Code::DomainInvalid)?;
    let name = name.ok_or_else(|| Problem::new(Code::FieldMissing, "the field 'domain' is missing"))?;
    let name = query::domain(name)?;
    let owner = body.text("owner", Code::OwnerInvalid)?;
    let is_owner = |owner: &str| {
        !owner.trim().is_empty() && owner.chars().count() <= OWNER_CHARS_MAX && !owner.contains(char::is_control)
    };
    if !owner.is_none_or(is_owner) {
        let detail = format!("'owner' must have 1 to {OWNER_CHARS_MAX} characters, none of them a control character");
        return Err(Problem::new(Code::OwnerInvalid, detail));
    }
    let email = body.text("email", Code::EmailInvalid)?;
    if let Some(Err(detail)) = email.map(query::address) {
        return Err(Problem::new(Code::EmailInvalid, format!("'email': {detail}")));
    }
    Ok(NewDomain { name, owner: owner.map(str::to_owned), email: email.map(str::to_owned) })
}
