//! `/api/admin/domains`: lists domains with their owners; pins, removes and verifies domains.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use crate::domains::{DomainEntry, Round};
use crate::http::Api;
use crate::http::body::JsonObject;
use crate::http::delete::Deleted;
use crate::http::domains::{DomainJson, new_domain, status};
use crate::http::problem::Problem;
use crate::http::query::Query;

/// A domain as the administrator sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdminDomainJson {
    #[serde(flatten)]
    public: DomainJson,
    owner: Option<String>,
    email: Option<String>,
    pinned: bool,
    fixed: bool,
    /// The client that registered it, an IPv4 address or an IPv6 /64; null for the administrator.
    registered_by: Option<String>,
}

impl From<DomainEntry> for AdminDomainJson {
    fn from(entry: DomainEntry) -> Self {
        let record = entry.record.as_deref();
        Self {
            owner: record.and_then(|record| record.owner.clone()),
            email: record.and_then(|record| record.email.clone()),
            pinned: record.is_some_and(|record| record.pinned),
            fixed: record.is_none(),
            registered_by: record.and_then(|record| record.registrant).map(|registrant| registrant.to_string()),
            public: entry.into(),
        }
    }
}

/// `GET /api/admin/domains`
pub(super) async fn list(State(api): State<Arc<Api>>) -> Json<Vec<AdminDomainJson>> {
    Json(api.domains.table.list().into_iter().map(AdminDomainJson::from).collect())
}

/// `POST /api/admin/domains`: registers a domain like `POST /api/domains`, or pins it with `skipDnsCheck`.
pub(super) async fn add(
    State(api): State<Arc<Api>>,
    body: JsonObject,
) -> Result<(StatusCode, Json<AdminDomainJson>), Problem> {
    let new = new_domain(&body)?;
    let skips_dns = body.flag("skipDnsCheck")?;
    let (domain, created) =
        if skips_dns { api.domains.pin(new).await? } else { api.domains.register(new, None).await? };
    Ok((status(created), Json(domain.into())))
}

/// `DELETE /api/admin/domains?domain=`
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Result<Json<Deleted>, Problem> {
    let is_removed = api.domains.remove(&query.domain("domain")?).await?;
    Ok(Json(Deleted::number(u64::from(is_removed))))
}

/// `POST /api/admin/domains/verify?domain=&force=`: verifies one domain or all.
pub(super) async fn verify(State(api): State<Arc<Api>>, query: Query) -> Result<Json<Round>, Problem> {
    let which = query.get("domain")?.is_some().then(|| query.domain("domain")).transpose()?;
    Ok(Json(api.domains.verify(which.as_ref(), query.flag("force")?).await?))
}
