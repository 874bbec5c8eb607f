//! Webhooks as the interface shows them, and the operations on them.

use axum::http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::transport::ApiRequest;
use super::{Client, ClientError, OCTETS_MAX, query};
use crate::model::{Address, DomainName, EventId, Secret, Timestamp, WebhookId};

/// Webhooks that are asked for at once: few enough that each may have the longest URL.
const WEBHOOKS_PER_PAGE: usize = 200;

/// A webhook to register.
#[derive(Clone, Debug, Serialize)]
pub struct NewWebhook {
    /// The address to monitor.
    pub recipient: String,
    /// Where events are sent.
    pub url: String,
    /// What payloads are signed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

/// What became of a registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedWebhook {
    /// UUID; knowing it is enough to delete the webhook.
    pub id: String,
    /// `ok`.
    pub status: String,
    /// `false`: the same webhook was registered before.
    #[serde(skip)]
    pub is_new: bool,
}

/// A webhook as the list gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// UUID.
    pub id: String,
    /// The address that it monitors.
    pub recipient: String,
    /// Where events are sent; only the origin unless the administrator asks.
    pub url: String,
    /// Whether payloads are signed.
    pub signed: bool,
    /// `active` or `disabled`.
    pub status: String,
    /// UTC, `YYYY-MM-DD HH:MM:SS`.
    pub created_at: String,
    /// In the same form; `None` before the first success.
    pub last_delivery_at: Option<String>,
    /// Attempts that failed since the last success.
    pub failures: u64,
    /// Events that were dropped because too much waited for it or it was disabled.
    #[serde(default)]
    pub dropped: u64,
    /// `disabledReason` of a disabled one, and fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Webhook {
    /// Who registered it, where the server says so: an address of IPv4 or a /64 of IPv6.
    pub fn registered_by(&self) -> Option<&str> {
        self.other.get("registeredBy")?.as_str()
    }

    /// Why it is disabled, where the server says so.
    pub fn disabled_reason(&self) -> Option<&str> {
        self.other.get("disabledReason")?.as_str()
    }
}

/// Which of all webhooks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    /// Those of this scheme, host and port alone.
    pub origin: Option<String>,
    /// Those of addresses of this domain alone.
    pub domain: Option<DomainName>,
}

#[derive(Debug, Deserialize)]
struct WebhookPage {
    webhooks: Vec<Webhook>,
    next: Option<WebhookId>,
}

/// An attempt to deliver an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDelivery {
    /// The event's `webhook-id`, which does not change between attempts and replays.
    pub event: String,
    /// The Email's id; `None` for a test.
    pub email: Option<String>,
    /// From 1.
    pub attempt: u64,
    /// UTC, `YYYY-MM-DD HH:MM:SS`.
    pub at: String,
    /// How long it took, in milliseconds.
    pub duration_millis: u64,
    /// The status of the receiver's answer, if there was one.
    pub status: Option<u16>,
    /// What failed, as a stable word; `None` after a success.
    pub error: Option<String>,
    /// The beginning of the receiver's answer.
    pub response: String,
    /// `delivered`, `retry` or `given_up`.
    pub result: String,
    /// When the next attempt is due, if one follows.
    pub next_attempt_at: Option<String>,
    /// Fields of a later server.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl WebhookDelivery {
    /// Whether the receiver has the event.
    pub fn is_delivered(&self) -> bool {
        self.result == "delivered"
    }
}

/// Which ended events to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// This one.
    Event(EventId),
    /// Those that the log does not show as delivered at last, and that wait no more.
    Failed,
    /// Those attempted at this time or later; whole seconds.
    Since(Timestamp),
}

/// What a replay came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Events that are sent again.
    pub replayed: u64,
    /// Events for which the outbox has no room; they can be replayed later. An older server does not say.
    #[serde(default)]
    pub no_room: u64,
}

/// The operations on webhooks. A server of revision 1 refuses all of them with `unknown_path`.
impl Client {
    /// Registers a webhook.
    pub async fn add_webhook(&self, new: &NewWebhook) -> Result<AddedWebhook, ClientError> {
        let answer = self.ask(post("/api/webhooks".to_owned(), Some(json!(new)))).await?;
        Ok(AddedWebhook { is_new: answer.status == 201, ..self.read(&answer)? })
    }

    /// The webhooks of an address.
    pub async fn webhooks(&self, recipient: &Address) -> Result<Vec<Webhook>, ClientError> {
        self.get(format!("/api/webhooks{}", query(&[("recipient", Some(recipient.to_string()))])), OCTETS_MAX).await
    }

    /// The webhooks of all addresses that `filter` lets through, in the order of their ids. The administrator's.
    pub async fn all_webhooks(&self, filter: &WebhookFilter) -> Result<Vec<Webhook>, ClientError> {
        let (mut all, mut after) = (Vec::new(), None::<WebhookId>);
        loop {
            let query = query(&[
                ("origin", filter.origin.clone()),
                ("domain", filter.domain.as_ref().map(ToString::to_string)),
                ("limit", Some(WEBHOOKS_PER_PAGE.to_string())),
                ("after", after.map(|id| id.to_string())),
            ]);
            let page: WebhookPage = self.get(format!("/api/admin/webhooks{query}"), OCTETS_MAX).await?;
            all.extend(page.webhooks);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Deletes the webhooks of an origin with their pending events, and returns how many. Only for the administrator.
    pub async fn remove_webhooks_of_origin(&self, origin: &str) -> Result<u64, ClientError> {
        self.delete(format!("/api/admin/webhooks{}", query(&[("origin", Some(origin.to_owned()))]))).await
    }

    /// Deletes a webhook with its pending events; `false` if there is none with this id.
    pub async fn remove_webhook(&self, id: WebhookId) -> Result<bool, ClientError> {
        Ok(self.delete(format!("/api/webhooks{}", query(&[("id", Some(id.to_string()))]))).await? > 0)
    }

    /// The delivery log of a webhook, newest first. The administrator's.
    pub async fn deliveries(&self, id: WebhookId, limit: Option<u64>) -> Result<Vec<WebhookDelivery>, ClientError> {
        let query = query(&[("limit", limit.map(|limit| limit.to_string()))]);
        self.get(format!("/api/admin/webhooks/{id}/deliveries{query}"), OCTETS_MAX).await
    }

    /// Sends ended events again, as far as there is room for them. The administrator's.
    pub async fn replay(&self, id: WebhookId, which: Replay) -> Result<Replayed, ClientError> {
        let body = match which {
            Replay::Event(event) => json!({ "event": event }),
            Replay::Failed => json!({ "failed": true }),
            Replay::Since(at) => json!({ "since": at.to_rfc3339() }),
        };
        self.read(&self.ask(post(format!("/api/admin/webhooks/{id}/replay"), Some(body))).await?)
    }

    /// Sends a sample event now; the attempt. The administrator's.
    pub async fn test_webhook(&self, id: WebhookId) -> Result<WebhookDelivery, ClientError> {
        self.read(&self.ask(post(format!("/api/admin/webhooks/{id}/test"), None)).await?)
    }
}

fn post(path: String, body: Option<Value>) -> ApiRequest {
    ApiRequest { method: Method::POST, path, body, octets_max: OCTETS_MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_sent_and_not_shown() {
        let new = NewWebhook {
            recipient: "a@x.test".to_owned(),
            url: "https://hooks.example/".to_owned(),
            secret: Secret::new("s3cret".to_owned()),
        };
        assert_eq!(json!(new), json!({ "recipient": "a@x.test", "url": "https://hooks.example/", "secret": "s3cret" }));
        assert!(!format!("{new:?}").contains("s3cret"));
        assert!(json!(NewWebhook { secret: None, ..new }).get("secret").is_none());
    }

    #[test]
    fn the_reason_is_there_for_the_administrator_alone() {
        let mut given = json!({
            "id": "x", "recipient": "a@b", "url": "https://h", "signed": false, "status": "disabled",
            "createdAt": "t", "lastDeliveryAt": null, "failures": 3, "dropped": 0,
        });
        let of = |given: &Value| serde_json::from_value::<Webhook>(given.clone()).expect("webhook");
        assert_eq!(of(&given).disabled_reason(), None);
        assert_eq!(json!(of(&given)), given);
        given["disabledReason"] = json!("410 Gone");
        assert_eq!(of(&given).disabled_reason(), Some("410 Gone"));
        assert_eq!(json!(of(&given)), given);
    }
}
