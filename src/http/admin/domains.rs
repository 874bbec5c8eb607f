//! `/api/admin/domains`: lists domains with their owners; pins, removes and verifies domains.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::domains::{DomainEntry, Round};
use crate::http::domains::{DomainJson, new_domain, status};
use crate::http::{Answer, Api, Created, JsonObject, Query};
use crate::model::DomainName;

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

/// `GET /api/admin/domains?domain=`: all, or only one, whose `leases` says how many private inboxes would go with it.
pub(super) async fn list(State(api): State<Arc<Api>>, query: Query) -> Answer<Vec<Value>> {
    let entries = api.domains.table.list().into_iter();
    let Some(domain) = query.opt::<DomainName>("domain")? else { return Ok(Json(entries.map(shown).collect())) };
    let mut one: Vec<Value> = entries.filter(|entry| entry.domain == domain.as_str()).map(shown).collect();
    for found in &mut one {
        found["leases"] = api.leases.end_domain(&domain, true).await?.into();
    }
    Ok(Json(one))
}

/// `POST /api/admin/domains`: registers a domain like `POST /api/domains`, or pins it with `skipDnsCheck`.
pub(super) async fn add(State(api): State<Arc<Api>>, body: JsonObject) -> Created<Value> {
    let new = new_domain(&body)?;
    let is_pinned = body.flag("skipDnsCheck")?;
    let (added, is_new) = if is_pinned { api.domains.pin(new).await? } else { api.domains.register(new, None).await? };
    Ok((status(is_new), Json(shown(added))))
}

/// `DELETE /api/admin/domains?domain=`. `leases` says how many private inboxes go with it, if there are any.
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Answer<Value> {
    let domain = query.req("domain")?;
    let is_removed = api.domains.remove(&domain).await?;
    // Also if it is not registered: an earlier removal may have been interrupted here.
    let leases = api.leases.end_domain(&domain, false).await?;
    let mut answer = json!({ "deleted": u64::from(is_removed) });
    if leases > 0 {
        answer["leases"] = leases.into();
    }
    Ok(Json(answer))
}

/// `POST /api/admin/domains/verify?domain=&force=`: verifies one domain or all.
pub(super) async fn verify(State(api): State<Arc<Api>>, query: Query) -> Answer<Round> {
    let which = query.opt("domain")?;
    Ok(Json(api.domains.verify(which.as_ref(), query.flag("force")?).await?))
}
