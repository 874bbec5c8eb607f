//! `/api/admin/webhooks`: all webhooks. Below it are the delivery log, replay and test of one webhook.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use crate::http::webhooks::shown;
use crate::http::{Answer, Api, Caller, Code, Deleted, JsonObject, Problem, Query, message, query};
use crate::model::{AttemptRecord, Timestamp, Verdict, WebhookRecord};
use crate::store::{Replay, Replayed, WebhookFilter, WebhookSweep};
use crate::webhook::Target;

/// The most lines of the log in an answer, which is also the default.
const LIMIT_MAX: usize = 100;

/// The most webhooks of a page.
const PAGE_MAX: usize = 1_000;

/// `GET /api/admin/webhooks?origin=&domain=&after=&limit=`, in the order of their ids. Each has the client that registered
/// it, an IPv4 address or an IPv6 /64; null for the administrator. `next` is the `after` of the next page; null on the last.
pub(super) async fn list(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Answer<Value> {
    let limit = query.limit(LIMIT_MAX, PAGE_MAX)?;
    let after = query.opt("after")?;
    let origin = query.get("origin")?.map(origin).transpose()?;
    let filter = WebhookFilter { origin, domain: query.opt("domain")? };
    let page = api.store.all_webhooks(filter, after, limit).await?;
    let visible = page.webhooks.iter().filter(|record| caller.may_list(record.mailbox.lease()));
    let listed = visible.map(|record| {
        let mut webhook = shown(record, &caller);
        webhook["registeredBy"] = record.registrant.map(|registrant| registrant.to_string()).into();
        webhook
    });
    Ok(Json(json!({ "webhooks": listed.collect::<Vec<_>>(), "next": page.next })))
}

/// `DELETE /api/admin/webhooks?origin=`: deletes all webhooks of an origin.
pub(super) async fn remove(State(api): State<Arc<Api>>, query: Query) -> Answer<Deleted> {
    let origin = origin(query.text("origin")?)?;
    Ok(Json(Deleted::number(api.store.delete_webhooks(WebhookSweep::Origin(origin)).await? as u64)))
}

/// The origin of a URL. The origin need not be permitted for webhooks.
fn origin(text: &str) -> Result<String, Problem> {
    let target = Target::parse(text);
    target.map(|target| target.origin()).map_err(|error| {
        Problem::invalid("origin", format!("'origin': {error}; an origin looks like https://hooks.example:8443"))
    })
}

/// An attempt to deliver an event as JSON. `event` is its `webhook-id`, and `email` is null for a test. `error` is a stable
/// code, null after a success. `response` is the beginning of the receiver's answer.
fn delivery(attempt: AttemptRecord) -> Value {
    let (result, next_attempt_at) = match attempt.verdict {
        Verdict::Delivered => ("delivered", None),
        Verdict::Retry(at) => ("retry", Some(at.to_interface())),
        Verdict::GivenUp => ("given_up", None),
    };
    json!({
        "event": attempt.event,
        "email": attempt.email,
        "attempt": attempt.number,
        "at": attempt.at.to_interface(),
        "durationMillis": attempt.duration_millis,
        "status": attempt.status,
        "error": attempt.error,
        "response": attempt.response,
        "result": result,
        "nextAttemptAt": next_attempt_at,
    })
}

type IdOfPath = Result<Path<String>, PathRejection>;

/// The webhook with the id in the path, if the caller may know it.
async fn webhook(api: &Api, caller: &Caller, id: IdOfPath) -> Result<WebhookRecord, Problem> {
    let found = api.store.webhook(query::id(&message::text(id)?)?).await?;
    found
        .filter(|record| caller.may_list(record.mailbox.lease()))
        .ok_or_else(|| Problem::new(Code::NotFound, "there is no webhook with this id; it may have been deleted"))
}

/// `GET /api/admin/webhooks/{id}/deliveries?limit=`, newest first.
pub(super) async fn deliveries(
    State(api): State<Arc<Api>>,
    caller: Caller,
    id: IdOfPath,
    query: Query,
) -> Answer<Vec<Value>> {
    let limit = query.limit(LIMIT_MAX, LIMIT_MAX)?;
    let webhook = webhook(&api, &caller, id).await?;
    let attempts = api.store.attempts(webhook.id, limit, api.clock.now()).await?;
    Ok(Json(attempts.into_iter().map(delivery).collect()))
}

/// `POST /api/admin/webhooks/{id}/replay`: sends ended events again under their `webhook-id`, as far as there is room.
pub(super) async fn replay(
    State(api): State<Arc<Api>>,
    caller: Caller,
    id: IdOfPath,
    body: JsonObject,
) -> Answer<Replayed> {
    let which = which(&body)?;
    let webhook = webhook(&api, &caller, id).await?;
    Ok(Json(api.store.replay(webhook.id, which, api.clock.now()).await?))
}

fn which(body: &JsonObject) -> Result<Replay, Problem> {
    let event = body.opt("event")?;
    let since = body.get("since")?;
    match (event, body.flag("failed")?, since) {
        (Some(event), false, None) => Ok(Replay::Event(event)),
        (None, true, None) => Ok(Replay::Failed),
        (None, false, Some(since)) => Timestamp::from_text(since)
            .map(Replay::Since)
            .ok_or_else(|| Problem::invalid("since", "'since' must be RFC 3339 or YYYY-MM-DD HH:MM:SS (UTC)")),
        (None, false, None) => {
            Err(Problem::new(Code::ParameterMissing, "one of 'event', 'failed' and 'since' must be given"))
        }
        _ => Err(Problem::misplaced("event", "only one of 'event', 'failed' and 'since' can be given")),
    }
}

/// `POST /api/admin/webhooks/{id}/test`: sends a sample event now and answers with the attempt.
pub(super) async fn test(State(api): State<Arc<Api>>, caller: Caller, id: IdOfPath) -> Answer<Value> {
    let webhook = webhook(&api, &caller, id).await?;
    Ok(Json(delivery(api.webhooks.test(&webhook).await?)))
}
