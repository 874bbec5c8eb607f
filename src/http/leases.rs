//! `/api/addresses`: private inboxes, each of which one key holds for a time.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::addresses::chosen_or;
use super::authentication::key_required;
use super::{Answer, Api, Caller, Code, Created, Deleted, JsonObject, Problem, Query};
use crate::leases::{Reader, Taken, Term, Terms, Wanted};
use crate::model::{Address, LeaseRecord};
use crate::random::private_local_part;

/// `POST /api/addresses`: leases an address. A request that bears a key adds it to that; otherwise the answer has a new key.
///
/// A request bears one secret. So the bearer of a token names the key in the body.
pub(super) async fn take(State(api): State<Arc<Api>>, caller: Caller, body: JsonObject) -> Created<Value> {
    let (address, is_random) = wanted(&api, &caller, &body)?;
    let wanted = Wanted { address, is_random, terms: terms(&body)? };
    let key = match body.get("key")? {
        Some(key) if caller.is_administrator() => api.leases.look_up(key).await?,
        _ => caller.key,
    };
    let Taken { lease, key } = api.leases.take(wanted, key, caller.who).await?;
    let mut answer = shown(&api, &lease);
    if let Some(key) = key {
        answer["key"] = key.expose().into();
    }
    Ok((StatusCode::CREATED, Json(answer)))
}

/// `GET /api/addresses`: those of the key, the oldest first. With `address` that one, which a token shows, too.
pub(super) async fn list(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Answer<Value> {
    let reader = caller.reader();
    let is_of_one = query.get("address")?.is_some_and(|address| !address.is_empty());
    let leases = if is_of_one && reader != Reader::Public {
        api.leases.at(&query.address("address")?, reader).await?.into_iter().collect()
    } else {
        api.leases.of(caller.key.ok_or_else(key_required)?).await?
    };
    Ok(Json(json!({ "addresses": leases.iter().map(|lease| shown(&api, lease)).collect::<Vec<_>>() })))
}

/// `PATCH /api/addresses?address=`: changes what the body names.
pub(super) async fn change(
    State(api): State<Arc<Api>>,
    caller: Caller,
    query: Query,
    body: JsonObject,
) -> Answer<Value> {
    let lease = api.leases.change(&query.address("address")?, caller.reader(), terms(&body)?).await?;
    Ok(Json(shown(&api, &lease)))
}

/// `DELETE /api/addresses?address=`: ends the lease, and answers with the number of its Emails.
pub(super) async fn end(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Answer<Deleted> {
    Ok(Json(Deleted::number(api.leases.end(&query.address("address")?, caller.reader()).await?)))
}

/// The address in a request, and whether it is made at random. That of strangers is: whoever could choose would keep others
/// from using an address.
fn wanted(api: &Api, caller: &Caller, body: &JsonObject) -> Result<(Address, bool), Problem> {
    let (address, local_part) = (body.opt::<Address>("address")?, body.get("localPart")?);
    let (domain, prefix) = (body.opt("domain")?, body.opt("prefix")?);
    let of = |local_part: &str, domain| {
        Address::new(local_part, chosen_or(api, domain)?.domain)
            .map_err(|error| Problem::invalid("localPart", format!("'localPart': {error}")))
    };
    if (address.is_some() || local_part.is_some()) && !api.is_near(caller) {
        let detail = "only callers on the machine of the service, and those with a token, choose the address";
        return Err(Problem::new(Code::AddressNotRandom, detail));
    }
    match (address, local_part) {
        (Some(address), None) if domain.is_none() && prefix.is_none() => Ok((address, false)),
        (Some(_), _) => Err(Problem::misplaced("address", "'address' excludes 'localPart', 'domain' and 'prefix'")),
        (None, Some(_)) if prefix.is_some() => Err(Problem::misplaced("localPart", "'localPart' excludes 'prefix'")),
        (None, Some(local_part)) => Ok((of(local_part, domain)?, false)),
        (None, None) => Ok((of(&private_local_part(prefix.as_ref()), domain)?, true)),
    }
}

/// The terms in a body. A member that is null is as good as a missing one.
fn terms(body: &JsonObject) -> Result<Terms, Problem> {
    let seconds = |term| Ok::<_, Problem>(body.number(name(term))?.map(Duration::from_secs));
    let messages = body.number(name(Term::Messages))?.map(|messages| u32::try_from(messages).unwrap_or(u32::MAX));
    Ok(Terms { life: seconds(Term::Life)?, idle: seconds(Term::Idle)?, messages, keep: seconds(Term::Keep)? })
}

/// The member of a body that says a term.
pub(super) const fn name(term: Term) -> &'static str {
    match term {
        Term::Life => "forSeconds",
        Term::Idle => "idleSeconds",
        Term::Messages => "messages",
        Term::Keep => "keepSeconds",
    }
}

/// A lease as JSON, without its key.
fn shown(api: &Api, lease: &LeaseRecord) -> Value {
    json!({
        "address": lease.mailbox.to_string(),
        "domain": lease.mailbox.domain(),
        "createdAt": lease.created_at.to_interface(),
        "expiresAt": lease.ends_at().to_interface(),
        "heldUntil": lease.expires_at.to_interface(),
        "idleSeconds": lease.idle,
        "messagesLeft": lease.messages_left,
        "keepSeconds": lease.keep(api.config.leases.keep_max).as_secs(),
        "readers": ["holder", "administrator"],
    })
}
