//! `/api/webhooks`: register, list and delete webhooks.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::Api;
use super::body::JsonObject;
use super::delete::Deleted;
use super::principal::{Asker, Principal};
use super::problem::{Code, Problem};
use super::query::{self, Query};
use crate::model::{DomainStatus, Secret, Timestamp, WebhookId, WebhookRecord, WebhookStatus};
use crate::random;
use crate::store::{WebhookLimits, WebhookRegistration};
use crate::webhook::{Refused, UrlError};

/// The longest secret in octets.
const SECRET_OCTETS_MAX: usize = 1024;
/// How long after its registration a webhook without a delivery can be evicted for a new one.
const EVICTABLE_AFTER: Duration = Duration::from_hours(1);

/// The answer to a registration.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Registered {
    id: WebhookId,
    status: &'static str,
}

/// A webhook in a list. The secret is never in it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookJson {
    id: WebhookId,
    recipient: String,
    url: String,
    signed: bool,
    status: &'static str,
    created_at: String,
    last_delivery_at: Option<String>,
    failures: u32,
    dropped: u64,
    /// The reason why the webhook is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_reason: Option<String>,
}

impl WebhookJson {
    pub(super) fn of(record: WebhookRecord, principal: Principal) -> Self {
        let (status, reason) = match record.status {
            WebhookStatus::Active => ("active", None),
            WebhookStatus::Disabled(reason) => ("disabled", Some(reason)),
        };
        // The path of a URL is often a credential.
        let is_public = principal == Principal::Public;
        Self {
            id: record.id,
            recipient: record.recipient,
            url: if is_public { record.origin } else { record.url },
            signed: record.secret.is_some(),
            status,
            created_at: record.created_at.to_interface(),
            last_delivery_at: record.last_delivery_at.map(Timestamp::to_interface),
            failures: record.failures,
            dropped: record.dropped,
            disabled_reason: reason,
        }
    }
}

/// `POST /api/webhooks`: 201 for a new webhook, 200 if the recipient, URL and secret were registered before.
pub(super) async fn register(
    State(api): State<Arc<Api>>,
    principal: Principal,
    asker: Asker,
    body: JsonObject,
) -> Result<(StatusCode, Json<Registered>), Problem> {
    let record = new_webhook(&api, asker, &body)?;
    api.permit(principal, &record.mailbox)?;
    served(&api, &record)?;
    let limits = WebhookLimits {
        per_recipient: api.config.webhooks.per_recipient_max,
        per_registrant: api.config.webhooks.per_client_max,
        total: api.config.webhooks.total_max,
        unproven_before: api.clock.now().before(EVICTABLE_AFTER),
    };
    let id = record.id;
    let answer = |status, id| Ok((status, Json(Registered { id, status: "ok" })));
    match api.store.register_webhook(record, limits).await? {
        WebhookRegistration::New => answer(StatusCode::CREATED, id),
        WebhookRegistration::Same(found) => answer(StatusCode::OK, found.id),
        WebhookRegistration::FullForRecipient => Err(Problem::new(
            Code::TooManyWebhooksForRecipient,
            format!("the limit of {} webhooks for this address is reached", limits.per_recipient),
        )),
        WebhookRegistration::FullForRegistrant => Err(Problem::new(
            Code::TooManyWebhooksForClient,
            format!("your limit of {} registered webhooks is reached; delete one", limits.per_registrant),
        )),
        WebhookRegistration::Full => {
            Err(Problem::new(Code::TooManyWebhooks, "the service has as many webhooks as it may have; try again later"))
        }
    }
}

/// The webhook in the body of a registration.
fn new_webhook(api: &Api, asker: Asker, body: &JsonObject) -> Result<WebhookRecord, Problem> {
    let missing = |name: &str| Problem::new(Code::FieldMissing, format!("the field '{name}' is missing"));
    let recipient = body.text("recipient", Code::AddressInvalid)?.ok_or_else(|| missing("recipient"))?;
    let recipient = query::address(recipient)
        .map_err(|detail| Problem::new(Code::AddressInvalid, format!("'recipient': {detail}")))?;
    let url = body.text("url", Code::UrlInvalid)?.ok_or_else(|| missing("url"))?;
    let target = api.guard.check_url(url).map_err(|error| url_problem(&error))?;
    let secret = body.text("secret", Code::SecretInvalid)?.unwrap_or_default();
    if secret.len() > SECRET_OCTETS_MAX {
        let detail = format!("'secret' is longer than {SECRET_OCTETS_MAX} octets");
        return Err(Problem::new(Code::SecretInvalid, detail));
    }
    let now = api.clock.now();
    Ok(WebhookRecord {
        id: random::webhook_id(),
        recipient: recipient.to_string(),
        mailbox: recipient.mailbox(api.config.mail.subaddressing),
        url: target.url().as_str().to_owned(),
        origin: target.origin(),
        registrant: asker.client(),
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
    let code = match error {
        UrlError::Refused(Refused::NotPublic(_) | Refused::OfMachine(_)) => Code::UrlNotAllowed,
        UrlError::Refused(Refused::Port(_)) => Code::UrlPortNotAllowed,
        UrlError::Refused(Refused::Own(_)) => Code::UrlOwnListener,
        UrlError::TooLong | UrlError::Scheme | UrlError::Malformed | UrlError::UserInformation => Code::UrlInvalid,
    };
    Problem::new(code, format!("'url': {error}"))
}

/// Refuses a recipient if no mail is received for its domain.
fn served(api: &Api, record: &WebhookRecord) -> Result<(), Problem> {
    let domain = query::domain(record.mailbox.domain())?;
    let why = match api.domains.table.status(&domain) {
        Some(DomainStatus::Active) => return Ok(()),
        Some(DomainStatus::Deactivated) => "deactivated: its MX record points elsewhere",
        None => "not registered here",
    };
    Err(Problem::new(Code::DomainUnknown, format!("no mail is received for {domain}; the domain is {why}")))
}

/// `GET /api/webhooks?recipient=`, in the order of registration.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    principal: Principal,
    query: Query,
) -> Result<Json<Vec<WebhookJson>>, Problem> {
    let mailbox = query.address("recipient")?.mailbox(api.config.mail.subaddressing);
    api.permit(principal, &mailbox)?;
    let records = api.store.webhooks(&mailbox).await?;
    Ok(Json(records.into_iter().map(|record| WebhookJson::of(record, principal)).collect()))
}

/// `DELETE /api/webhooks?id=`: an unknown id is not an error.
pub(super) async fn delete(
    State(api): State<Arc<Api>>,
    principal: Principal,
    query: Query,
) -> Result<Json<Deleted>, Problem> {
    let id = query.webhook_id("id")?;
    let Some(record) = api.store.webhook(id).await? else {
        return Ok(Json(Deleted::number(0)));
    };
    api.permit(principal, &record.mailbox)?;
    Ok(Json(Deleted::number(u64::from(api.store.delete_webhook(id).await?))))
}
