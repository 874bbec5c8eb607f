//! `/api/admin/domains`: lists domains with their owners; pins, removes and verifies domains.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::domains::{DomainEntry, Round};
use crate::http::domains::{DomainJson, new_domain, status};
use crate::http::{Answer, Api, Created, JsonObject, Query};

/// A domain as the administrator sees it. `registeredBy` is a client, an IPv4 address or an IPv6 /64; null for the
/// administrator.
fn shown(entry: DomainEntry) -> Value {
    let record = entry.record.clone();
    let record = record.as_deref();
    let mut domain = json!(DomainJson::from(entry));
    domain["owner"] = record.and_then(|record| record.owner.as_deref()).into();
    domain["email"] = record.and_then(|record| record.email.as_deref()).into();
    domain["pinned"] = record.is_some_and(|record| record.pinned).into();
    domain["fixed"] = record.is_none().into();
    domain["registeredBy"] = record.and_then(|record| record.registrant).map(|client| client.to_string()).into();
    domain
}

/// `GET /api/admin/domains`
pub(super) async fn list(State(api): State<Arc<Api>>) -> Json<Vec<Value>> {
    Json(api.domains.table.list().into_iter().map(shown).collect())
}

/// `POST /api/admin/domains`: registers a domain like `POST /api/domains`, or pins it with `skipDnsCheck`.
pub(super) async fn add(State(api): State<Arc<Api>>, body: JsonObject) -> Created<Value> {
    let new = new_domain(&body)?;
    let is_pinned = body.flag("skipDnsCheck")?;
    let (added, is_new) = if is_pinned { api.domains.pin(new).await? } else { api.domains.register(new, None).await? };
    Ok((status(is_new), Json(shown(added))))
}

/// `DELETE /api/admin/domains?domain=`
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Answer<Value> {
    let domain = query.req("domain")?;
    let is_removed = api.domains.remove(&domain).await?;
    // Also if it is not registered: an earlier removal may have been interrupted here.
    let leases = api.leases.end_domain(&domain).await?;
    Ok(Json(json!({ "deleted": u64::from(is_removed), "leases": leases })))
}

/// `POST /api/admin/domains/verify?domain=&force=`: verifies one domain or all.
pub(super) async fn verify(State(api): State<Arc<Api>>, query: Query) -> Answer<Round> {
    let which = query.opt("domain")?;
    Ok(Json(api.domains.verify(which.as_ref(), query.flag("force")?).await?))
}
