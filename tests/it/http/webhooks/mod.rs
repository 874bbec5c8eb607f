//! `/api/webhooks` and the administrator's part of it.

mod admin;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tempmail::config::Revision;
use tempmail::domains::NewDomain;
use tempmail::http::{Domains, WebhookTest};
use tempmail::model::{AttemptRecord, DomainStatus, EventId, PendingEvent, Verdict, WebhookId, WebhookRecord};
use tempmail::store::{Outbox, Store, StoreError};
use tempmail::webhook::{Busy, TestError};

use super::{NOW, TestApi};
use crate::suites::outbox::{self, pending};
use crate::support::mail::delivery;

const TO: &str = "Ann@example.test";
const URL: &str = "https://hooks.example/path?token=1";
const UNKNOWN: &str = "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b";

/// Returns the same attempt for every test.
struct Sample(Result<AttemptRecord, TestError>);

#[async_trait]
impl WebhookTest for Sample {
    async fn test(&self, webhook: &WebhookRecord) -> Result<AttemptRecord, TestError> {
        assert!(webhook.secret.is_some());
        self.0.clone()
    }
}

/// An interface that receives mail for these domains.
async fn serving(api: TestApi, domains: &[&str]) -> TestApi {
    for name in domains {
        let new = NewDomain { name: name.parse().expect("name"), owner: None, email: None };
        api.domains.pin(new).await.expect("pinned");
    }
    api
}

async fn api() -> TestApi {
    serving(TestApi::new(), &["example.test"]).await
}

fn body(recipient: &str, url: &str, secret: &str) -> String {
    json!({ "recipient": recipient, "url": url, "secret": secret }).to_string()
}

/// Registers a webhook, and returns its id.
async fn add(api: &TestApi, recipient: &str, url: &str, secret: &str) -> String {
    let answer = api.post("/api/webhooks", &body(recipient, url, secret)).await;
    assert!(answer.status.is_success(), "{answer:?}");
    answer.json()["id"].as_str().expect("id").to_owned()
}

/// An attempt that was answered with a failure.
fn attempt(event: &PendingEvent, verdict: Verdict) -> AttemptRecord {
    AttemptRecord { error: Some("http_status".into()), response: "no\n".into(), ..outbox::attempt(event, verdict) }
}

/// Receives a mail, and returns the webhook's event.
async fn event(api: &TestApi, webhook: &str) -> PendingEvent {
    api.outbox.receive(delivery(&[TO], "mail", NOW)).await.expect("receive");
    let events = pending(&*api.outbox, webhook.parse().expect("id")).await;
    events.last().expect("an event").clone()
}

#[tokio::test]
async fn a_registration_is_201_and_again_200_with_the_same_id() {
    let api = api().await;
    let first = api.post("/api/webhooks", &body(TO, URL, "s3cret")).await;
    assert_eq!(first.status, 201);
    let id = first.json()["id"].clone();
    id.as_str().expect("text").parse::<WebhookId>().expect("a UUID");
    assert_eq!(first.json(), json!({ "id": id, "status": "ok" }));
    for same in [body(TO, URL, "s3cret"), body("ann@EXAMPLE.test.", "HTTPS://hooks.example:443/path?token=1", "s3cret")]
    {
        let again = api.post("/api/webhooks", &same).await;
        assert_eq!((again.status.as_u16(), again.json()), (200, json!({ "id": id, "status": "ok" })), "{same}");
    }
    let mut ids = vec![id.as_str().expect("text").to_owned()];
    ids.push(add(&api, TO, URL, "another").await);
    ids.push(add(&api, TO, URL, "").await);
    ids.push(add(&api, TO, "https://hooks.example/", "s3cret").await);
    ids.push(add(&api, "bob@example.test", URL, "s3cret").await);
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "another secret, URL or recipient is another webhook");
}

#[tokio::test]
async fn no_null_and_empty_are_the_same_lack_of_a_secret() {
    let api = api().await;
    let id = add(&api, TO, URL, "").await;
    let base = json!({ "recipient": TO, "url": URL });
    let mut null = base.clone();
    null["secret"] = Value::Null;
    for same in [base, null] {
        let answer = api.post("/api/webhooks", &same.to_string()).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["id"]), (200, &json!(id)));
    }
    let list = api.get("/api/webhooks?recipient=ann@example.test").await.json();
    assert_eq!((list.as_array().expect("array").len(), &list[0]["signed"]), (1, &json!(false)));
}

#[tokio::test]
async fn what_is_wrong_with_a_registration_has_its_code() {
    let api = api().await;
    let long_url = format!("https://hooks.example/{}", "x".repeat(2048));
    let with_secret = |secret: Value| json!({ "recipient": TO, "url": URL, "secret": secret }).to_string();
    for (body, status, code) in [
        ("[]".to_owned(), 400, "json_invalid"),
        ("{}".to_owned(), 400, "field_missing"),
        (json!({ "recipient": TO }).to_string(), 400, "field_missing"),
        (json!({ "url": URL }).to_string(), 400, "field_missing"),
        (json!({ "recipient": 1, "url": URL }).to_string(), 400, "address_invalid"),
        (json!({ "recipient": TO, "url": [] }).to_string(), 400, "url_invalid"),
        (body("ann", URL, ""), 400, "address_invalid"),
        (body(TO, "", ""), 400, "url_invalid"),
        (body(TO, "hooks.example", ""), 400, "url_invalid"),
        (body(TO, "ftp://hooks.example/", ""), 400, "url_invalid"),
        (body(TO, "https://ann:pw@hooks.example/", ""), 400, "url_invalid"),
        (body(TO, &long_url, ""), 400, "url_invalid"),
        (body(TO, "http://127.0.0.1/", ""), 400, "url_not_allowed"),
        (body(TO, "http://0x7f.1/", ""), 400, "url_not_allowed"),
        (body(TO, "http://a.localhost./", ""), 400, "url_not_allowed"),
        (body(TO, "http://[::ffff:10.0.0.1]/", ""), 400, "url_not_allowed"),
        (body(TO, "http://hooks.example:25/", ""), 400, "url_port_not_allowed"),
        (with_secret(json!(5)), 400, "secret_invalid"),
        (with_secret(json!("ü".repeat(513))), 400, "secret_invalid"),
        (body("ann@elsewhere.test", URL, ""), 422, "domain_unknown"),
    ] {
        let answer = api.post("/api/webhooks", &body).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code), "{body}");
    }
    let longest = api.post("/api/webhooks", &with_secret(json!("ü".repeat(512)))).await;
    assert_eq!(longest.status, 201);
    assert_eq!(api.get("/api/webhooks?recipient=ann@elsewhere.test").await.json(), json!([]));
}

#[tokio::test]
async fn an_allowed_network_may_be_called() {
    let api = TestApi::with(|config| config.webhooks.allow = vec!["127.0.0.0/8".parse().expect("network")]);
    let api = serving(api, &["example.test"]).await;
    assert_eq!(api.post("/api/webhooks", &body(TO, "http://127.0.0.1:9/", "")).await.status, 201);
    assert_eq!(api.post("/api/webhooks", &body(TO, "http://10.0.0.1/", "")).await.problem(), "url_not_allowed");
}

#[tokio::test]
async fn a_deactivated_domain_gets_no_webhook() {
    let api = api().await;
    api.domains.entries.lock().expect("entries")[0].status = DomainStatus::Deactivated;
    let answer = api.post("/api/webhooks", &body(TO, URL, "")).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (422, "domain_unknown"));
    assert!(String::from_utf8_lossy(&answer.body).contains("deactivated"));
}

#[tokio::test]
async fn the_limits_have_codes_of_their_own() {
    let api = TestApi::with(|config| (config.webhooks.per_recipient_max, config.webhooks.total_max) = (2, 3));
    let api = serving(api, &["example.test"]).await;
    let url = |n: u8| format!("https://hooks.example/{n}");
    add(&api, TO, &url(1), "").await;
    add(&api, TO, &url(2), "").await;
    let third = api.post("/api/webhooks", &body(TO, &url(3), "")).await;
    assert_eq!((third.status.as_u16(), third.problem().as_str()), (422, "too_many_webhooks_for_recipient"));
    add(&api, "bob@example.test", &url(1), "").await;
    let fourth = api.post("/api/webhooks", &body("eve@example.test", &url(1), "")).await;
    assert_eq!((fourth.status.as_u16(), fourth.problem().as_str()), (422, "too_many_webhooks"));
    assert_eq!(api.post("/api/webhooks", &body(TO, &url(2), "")).await.status, 200, "the same is no further one");
}

#[tokio::test]
async fn a_role_address_is_the_administrators() {
    let api = serving(TestApi::new(), &["example.com", "example.test"]).await;
    let role = body("Postmaster@example.com", URL, "");
    let answer = api.post("/api/webhooks", &role).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "role_address"));
    assert_eq!(api.get("/api/webhooks?recipient=postmaster@example.com").await.problem(), "role_address");
    let added = api.administrator("POST", "/api/webhooks", &role).await;
    assert_eq!(added.status, 201);
    let target = format!("/api/webhooks?id={}", added.json()["id"].as_str().expect("id"));
    assert_eq!(api.call("DELETE", &target).await.problem(), "role_address");
    assert_eq!(api.administrator("DELETE", &target, "").await.json(), json!({ "deleted": 1 }));
    add(&api, "postmaster@example.test", URL, "").await;
}

#[tokio::test]
async fn the_list_shows_the_public_no_path_and_no_one_the_secret() {
    let api = api().await;
    let id = add(&api, TO, URL, "s3cret").await;
    let plain = add(&api, TO, "http://[2A00:1450::1]:8080/x", "").await;
    let expected = json!([
        {
            "id": id, "recipient": TO, "url": "https://hooks.example", "signed": true, "status": "active",
            "createdAt": "2023-11-14 22:13:20", "lastDeliveryAt": null, "failures": 0, "dropped": 0,
        },
        {
            "id": plain, "recipient": TO, "url": "http://[2a00:1450::1]:8080", "signed": false, "status": "active",
            "createdAt": "2023-11-14 22:13:20", "lastDeliveryAt": null, "failures": 0, "dropped": 0,
        },
    ]);
    let target = "/api/webhooks?recipient=aNN@example.test";
    let public = api.get(target).await;
    let mut list = public.json();
    // Both were registered in the same millisecond, so their order is that of their random ids.
    list.as_array_mut().expect("array").sort_by_key(|webhook| webhook["id"] != json!(id));
    assert_eq!(list, expected);
    let whole = api.administrator("GET", target, "").await;
    let shown = String::from_utf8_lossy(&whole.body).into_owned();
    assert!(shown.contains(URL) && !shown.contains("disabledReason"), "{shown}");
    for answer in [&public, &whole] {
        assert!(!String::from_utf8_lossy(&answer.body).contains("s3cret"));
    }
    assert_eq!(api.get("/api/webhooks?recipient=bob@example.test").await.json(), json!([]));
    assert_eq!(api.get("/api/webhooks").await.problem(), "parameter_missing");
    assert_eq!(api.get("/api/webhooks?recipient=ann").await.problem(), "address_invalid");
}

#[tokio::test]
async fn failures_and_the_reason_of_a_disabled_webhook_are_shown() {
    let api = api().await;
    let id = add(&api, TO, URL, "s3cret").await;
    let first = event(&api, &id).await;
    api.outbox.record_attempt(attempt(&first, Verdict::Delivered)).await.expect("record");
    let second = event(&api, &id).await;
    let gone =
        AttemptRecord { status: Some(410), disables: Some("410 Gone".into()), ..attempt(&second, Verdict::GivenUp) };
    api.outbox.record_attempt(gone).await.expect("record");
    let target = "/api/webhooks?recipient=ann@example.test";
    let public = &api.get(target).await.json()[0];
    assert_eq!(
        [&public["status"], &public["failures"], &public["lastDeliveryAt"], &public["disabledReason"]],
        [&json!("disabled"), &json!(1), &json!("2023-11-14 22:13:20"), &json!("410 Gone")]
    );
    assert_eq!(api.administrator("GET", target, "").await.json()[0]["disabledReason"], "410 Gone");
}

#[tokio::test]
async fn a_webhook_is_deleted_by_its_id() {
    let api = api().await;
    let id = add(&api, TO, URL, "").await;
    let target = format!("/api/webhooks?id={}", id.to_uppercase());
    assert_eq!(api.call("DELETE", &target).await.json(), json!({ "deleted": 1 }));
    assert_eq!(api.call("DELETE", &target).await.json(), json!({ "deleted": 0 }));
    for (query, code) in [("", "parameter_missing"), ("?id=", "id_invalid"), ("?id=1", "id_invalid")] {
        let answer = api.call("DELETE", &format!("/api/webhooks{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
    let other = api.call("PUT", "/api/webhooks").await;
    assert_eq!((other.status.as_u16(), other.header("allow")), (405, Some("GET,HEAD,POST,DELETE")));
}

#[tokio::test]
async fn revision_1_has_no_webhooks() {
    let api = serving(TestApi::with(|config| config.revision = Revision::One), &["example.test"]).await;
    for method in ["GET", "POST", "DELETE"] {
        let answer = api.administrator(method, "/api/webhooks?recipient=a@example.test", &body(TO, URL, "")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (404, "unknown_path"), "{method}");
    }
    let target = format!("/api/admin/webhooks/{UNKNOWN}/deliveries");
    assert_eq!(api.administrator("GET", &target, "").await.problem(), "unknown_path");
    assert!(api.get("/").await.json()["endpoints"].get("webhooks").is_none());
    assert!(TestApi::new().get("/").await.json()["endpoints"].get("webhooks").is_some());
}
