//! `/api/domains`: list, register and check domains.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::caller::Caller;
use super::{Answer, Api, Code, Created, JsonObject, Problem, Query};
use crate::dns::MxReport;
use crate::domains::{DomainEntry, NewDomain};
use crate::model::{Address, DomainName, DomainStatus, Timestamp};

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
        let added_at = record.map(|record| record.added_at.to_interface());
        let last_checked_at = record.and_then(|record| record.last_checked_at).map(Timestamp::to_interface);
        let last_check_result = record.and_then(|record| record.last_check_result.clone());
        Self { domain: entry.domain, status, added_at, last_checked_at, last_check_result }
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
pub(super) async fn check_dns(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Answer<MxReport> {
    let name = query.req("domain")?;
    Ok(Json(api.domains.check(&name, caller.client()).await?))
}

/// `POST /api/domains`: 201 for a new domain, 200 for a registered domain, which is checked again.
pub(super) async fn register(State(api): State<Arc<Api>>, caller: Caller, body: JsonObject) -> Created<DomainJson> {
    let (domain, is_new) = api.domains.register(new_domain(&body)?, caller.client()).await?;
    Ok((status(is_new), Json(domain.into())))
}

/// The status of the answer to a registration, which says whether what was registered is new.
pub(super) const fn status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}

/// Refuses a domain that no mail is received for.
pub(super) fn check_served(api: &Api, domain: &DomainName) -> Result<(), Problem> {
    let why = match api.domains.table.status(domain) {
        Some(DomainStatus::Active) => return Ok(()),
        Some(DomainStatus::Deactivated) => "deactivated: its MX record points elsewhere",
        None => "not registered here",
    };
    Err(Problem::new(Code::DomainUnknown, format!("no mail is received for {domain}; the domain is {why}")))
}

/// The domain in the body of a registration.
pub(super) fn new_domain(body: &JsonObject) -> Result<NewDomain, Problem> {
    let name = body.req("domain")?;
    let owner = body.get("owner")?;
    let is_owner = |owner: &str| {
        !owner.trim().is_empty() && owner.chars().count() <= OWNER_CHARS_MAX && !owner.contains(char::is_control)
    };
    if !owner.is_none_or(is_owner) {
        let detail = format!("'owner' must have 1 to {OWNER_CHARS_MAX} characters, none of them a control character");
        return Err(Problem::invalid("owner", detail));
    }
    let email = body.get("email")?;
    body.opt::<Address>("email")?;
    Ok(NewDomain { name, owner: owner.map(str::to_owned), email: email.map(str::to_owned) })
}
