//! `/api/webhooks`: register, list and delete webhooks.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::domains::check_served;
use super::{Answer, Api, Caller, Code, Created, Deleted, JsonObject, Problem, Query};
use crate::model::{Address, Secret, Timestamp, WebhookRecord, WebhookStatus};
use crate::random;
use crate::store::{WebhookLimits, WebhookRegistration};
use crate::webhook::{Refused, UrlError};

/// The longest secret in octets.
const SECRET_OCTETS_MAX: usize = 1024;
/// How long after its registration a webhook without a delivery can be evicted for a new one.
const EVICTABLE_AFTER: Duration = Duration::from_hours(1);

/// A webhook in a list as JSON. The secret is never in it, and `disabledReason` only if the webhook is disabled.
pub(super) fn shown(record: &WebhookRecord, caller: &Caller) -> Value {
    let mut webhook = json!({
        "id": record.id,
        "recipient": record.recipient,
        // The path of a URL is often a credential.
        "url": if caller.reads_all() { &record.url } else { &record.origin },
        "signed": record.secret.is_some(),
        "status": "active",
        "createdAt": record.created_at.to_interface(),
        "lastDeliveryAt": record.last_delivery_at.map(Timestamp::to_interface),
        "failures": record.failures,
        "dropped": record.dropped,
    });
    if let WebhookStatus::Disabled(reason) = &record.status {
        webhook["status"] = "disabled".into();
        webhook["disabledReason"] = reason.as_str().into();
    }
    webhook
}

/// `POST /api/webhooks`: 201 for a new webhook, 200 if the recipient, URL and secret were registered before.
pub(super) async fn register(State(api): State<Arc<Api>>, mut caller: Caller, body: JsonObject) -> Created<Value> {
    let recipient: Address = body.req("recipient")?;
    let record = new_webhook(&api, &mut caller, &recipient, &body).await?;
    check_served(&api, recipient.domain())?;
    let limits = WebhookLimits {
        per_recipient: api.config.webhooks.per_recipient_max,
        per_registrant: api.config.webhooks.per_client_max,
        total: api.config.webhooks.total_max,
        unproven_before: api.clock.now().before(EVICTABLE_AFTER),
    };
    let id = record.id;
    let answer = |status, id| Ok((status, Json(json!({ "id": id, "status": "ok" }))));
    let (limit, detail) = match api.store.register_webhook(record, limits).await? {
        WebhookRegistration::New => return answer(StatusCode::CREATED, id),
        WebhookRegistration::Same(found) => return answer(StatusCode::OK, found.id),
        WebhookRegistration::FullForRecipient => {
            let detail = format!("the limit of {} webhooks for this address is reached", limits.per_recipient);
            ("webhooks_for_recipient", detail)
        }
        WebhookRegistration::FullForRegistrant => {
            let detail = format!("your limit of {} registered webhooks is reached; delete one", limits.per_registrant);
            ("webhooks_for_client", detail)
        }
        WebhookRegistration::Full => {
            ("webhooks", "the service has as many webhooks as it may have; try again later".into())
        }
    };
    Err(Problem::limit_reached(limit, detail))
}

/// The webhook in the body of a registration, if the caller may have it.
async fn new_webhook(
    api: &Api,
    caller: &mut Caller,
    recipient: &Address,
    body: &JsonObject,
) -> Result<WebhookRecord, Problem> {
    let url = body.text("url")?;
    let target = api.guard.check_url(url).map_err(|error| url_problem(&error))?;
    let secret = body.get("secret")?.unwrap_or_default();
    if secret.len() > SECRET_OCTETS_MAX {
        return Err(Problem::invalid("secret", format!("'secret' is longer than {SECRET_OCTETS_MAX} octets")));
    }
    let now = api.clock.now();
    Ok(WebhookRecord {
        id: random::webhook_id(),
        recipient: recipient.to_string(),
        mailbox: api.mailbox(caller, recipient).await?,
        url: target.url().as_str().to_owned(),
        origin: target.origin(),
        registrant: caller.client(),
        secret: Secret::new(secret.to_owned()),
        status: WebhookStatus::Active,
        created_at: now,
        last_mail_at: now,
        last_delivery_at: None,
        failures: 0,
        failing_since: None,
        dropped: 0,
    })
}

fn url_problem(error: &UrlError) -> Problem {
    let detail = format!("'url': {error}");
    match error {
        UrlError::Refused(Refused::NotPublic(_) | Refused::OfMachine(_)) => {
            Problem::new(Code::UrlNotAllowed, detail).with_member("setting", "webhook-allow".into())
        }
        UrlError::Refused(Refused::Own(_) | Refused::Port(_)) => Problem::new(Code::UrlNotAllowed, detail),
        UrlError::TooLong | UrlError::Scheme | UrlError::Malformed | UrlError::UserInformation => {
            Problem::invalid("url", detail)
        }
    }
}

/// `GET /api/webhooks?recipient=`, in the order of registration.
pub(super) async fn list(State(api): State<Arc<Api>>, mut caller: Caller, query: Query) -> Answer<Vec<Value>> {
    let mailbox = api.mailbox(&mut caller, &query.address("recipient")?).await?;
    let records = api.store.webhooks(&mailbox).await?;
    Ok(Json(records.iter().map(|record| shown(record, &caller)).collect()))
}

/// `DELETE /api/webhooks?id=`: an unknown id is not an error.
pub(super) async fn delete(State(api): State<Arc<Api>>, caller: Caller, query: Query) -> Answer<Deleted> {
    let id = query.req("id")?;
    let Some(record) = api.store.webhook(id).await? else { return Ok(Json(Deleted::number(0))) };
    if !api.opens(&caller, &record.mailbox).await? {
        return Ok(Json(Deleted::number(0)));
    }
    api.check_role(&caller, &record.mailbox)?;
    Ok(Json(Deleted::number(u64::from(api.store.delete_webhook(id).await?))))
}
