//! `/api/admin/domains`: lists domains with their owners; pins, removes and verifies domains.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::domains::{DomainEntry, Round};
use crate::http::domains::{DomainJson, answer, new_domain};
use crate::http::{Answer, Api, Created, Deleted, JsonObject, Query};

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

/// `POST /api/admin/domains`: registers a domain like `POST /api/domains`, or pins it with `skipDnsCheck`.
pub(super) async fn add(State(api): State<Arc<Api>>, body: JsonObject) -> Created<AdminDomainJson> {
    let new = new_domain(&body)?;
    let is_pinned = body.flag("skipDnsCheck")?;
    let added = if is_pinned { api.domains.pin(new).await? } else { api.domains.register(new, None).await? };
    Ok(answer(added))
}

/// `DELETE /api/admin/domains?domain=`
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Answer<Deleted> {
    let is_removed = api.domains.remove(&query.req("domain")?).await?;
    Ok(Json(Deleted::number(u64::from(is_removed))))
}

/// `POST /api/admin/domains/verify?domain=&force=`: verifies one domain or all.
pub(super) async fn verify(State(api): State<Arc<Api>>, query: Query) -> Answer<Round> {
    let which = query.opt("domain")?;
    Ok(Json(api.domains.verify(which.as_ref(), query.flag("force")?).await?))
}
