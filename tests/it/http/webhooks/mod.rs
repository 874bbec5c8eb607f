//! `/api/webhooks`: registered once within limits, shown without secrets, deleted by id.
//! Promise: it outlives the code below it.

mod admin;

use std::time::Duration;

use serde_json::{Value, json};

use super::{TestServer, refusal};
use crate::support::dns_zone::DnsZone;
use crate::support::until::{until, until_some};
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "Ann@example.test";
const URL: &str = "https://hooks.example/path?token=1";
const UNKNOWN: &str = "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b";

/// A service that may call this receiver.
async fn calling(settings: &str) -> (TestServer, WebhookSink) {
    let settings = format!("webhook-allow = ['127.0.0.0/8']\n{settings}");
    (TestServer::with(&settings).await, WebhookSink::start().await)
}

fn body(recipient: &str, url: &str, secret: &str) -> String {
    json!({ "recipient": recipient, "url": url, "secret": secret }).to_string()
}

/// Registers a webhook, and returns its id.
async fn add(api: &TestServer, recipient: &str, url: &str, secret: &str) -> String {
    let answer = api.post_text("/api/webhooks", body(recipient, url, secret)).await;
    assert!(answer.status.is_success(), "{answer:?}");
    answer.json()["id"].as_str().expect("id").to_owned()
}

/// The log of a webhook, newest first.
async fn log(api: &TestServer, webhook: &str) -> Value {
    api.admin_get(&format!("/api/admin/webhooks/{webhook}/deliveries")).await
}

/// Receives a mail, and waits until the webhook has so many attempts. Returns the log.
async fn attempted(api: &TestServer, webhook: &str, attempts: usize) -> Value {
    api.deliver(TO, "Subject: s").await;
    until_logged(api, webhook, attempts).await
}

async fn until_logged(api: &TestServer, webhook: &str, attempts: usize) -> Value {
    until_some("the attempts are in the log", async || {
        Some(log(api, webhook).await).filter(|log| log.as_array().expect("a list").len() == attempts)
    })
    .await
}

#[tokio::test]
async fn a_registration_is_201_and_again_200_with_the_same_id() {
    let api = TestServer::start().await;
    let first = api.post_text("/api/webhooks", body(TO, URL, "s3cret")).await;
    assert_eq!(first.status, 201);
    let id = first.json()["id"].clone();
    id.as_str().expect("text").parse::<uuid::Uuid>().expect("a UUID");
    assert_eq!(first.json(), json!({ "id": id, "status": "ok" }));
    for same in [body(TO, URL, "s3cret"), body("ann@EXAMPLE.test.", "HTTPS://hooks.example:443/path?token=1", "s3cret")]
    {
        let again = api.post_text("/api/webhooks", &same).await;
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
    let api = TestServer::start().await;
    let id = add(&api, TO, URL, "").await;
    let base = json!({ "recipient": TO, "url": URL });
    let mut null = base.clone();
    null["secret"] = Value::Null;
    for same in [base, null] {
        let answer = api.post_text("/api/webhooks", same.to_string()).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["id"]), (200, &json!(id)));
    }
    let list = api.get("/api/webhooks?recipient=ann@example.test").await.json();
    assert_eq!((list.as_array().expect("array").len(), &list[0]["signed"]), (1, &json!(false)));
}

#[tokio::test]
async fn what_is_wrong_with_a_registration_has_its_code() {
    let api = TestServer::start().await;
    let long_url = format!("https://hooks.example/{}", "x".repeat(2048));
    let with_secret = |secret: Value| json!({ "recipient": TO, "url": URL, "secret": secret }).to_string();
    for (body, status, code) in [
        ("[]".to_owned(), 400, "json_invalid"),
        ("{}".to_owned(), 400, "parameter_missing"),
        (json!({ "recipient": TO }).to_string(), 400, "parameter_missing"),
        (json!({ "url": URL }).to_string(), 400, "parameter_missing"),
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
        (body(TO, "http://hooks.example:25/", ""), 400, "url_not_allowed"),
        (with_secret(json!(5)), 400, "parameter_invalid"),
        (with_secret(json!("ü".repeat(513))), 400, "parameter_invalid"),
        (body("ann@elsewhere.test", URL, ""), 422, "domain_unknown"),
    ] {
        let answer = api.post_text("/api/webhooks", &body).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code), "{body}");
    }
    let longest = api.post_text("/api/webhooks", with_secret(json!("ü".repeat(512)))).await;
    assert_eq!(longest.status, 201);
    assert_eq!(api.get("/api/webhooks?recipient=ann@elsewhere.test").await.json(), json!([]));
}

#[tokio::test]
async fn an_allowed_network_may_be_called() {
    let api = TestServer::with("webhook-allow = ['127.0.0.0/8']").await;
    assert_eq!(api.post_text("/api/webhooks", body(TO, "http://127.0.0.1:9/", "")).await.status, 201);
    assert_eq!(api.post_text("/api/webhooks", body(TO, "http://10.0.0.1/", "")).await.problem(), "url_not_allowed");
}

#[tokio::test]
async fn a_deactivated_domain_gets_no_webhook() {
    let zone = DnsZone::start().await;
    zone.set_addresses("mx.example.test", &["192.0.2.25"]);
    zone.set_mx("a.example", &[(10, "mx.example.test")]);
    let settings = format!("mx-host = ['mx.example.test']\nresolver = ['{}']", zone.addr());
    let api = TestServer::with(&settings).await;
    assert_eq!(api.post("/api/domains", &json!({ "domain": "a.example" })).await.status, 201);
    zone.set_mx("a.example", &[(0, ".")]);
    let verified = api.administrator("POST", "/api/admin/domains/verify?force=true", "").await.json();
    assert_eq!(verified["deactivated"], 1);
    let answer = api.post_text("/api/webhooks", body("ann@a.example", URL, "")).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (422, "domain_unknown"));
    assert!(answer.text().contains("deactivated"));
}

#[tokio::test]
async fn the_limits_are_named() {
    let api = TestServer::with("max-webhooks-per-recipient = 2\nmax-webhooks = 3").await;
    let url = |n: u8| format!("https://hooks.example/{n}");
    add(&api, TO, &url(1), "").await;
    add(&api, TO, &url(2), "").await;
    let third = api.post_text("/api/webhooks", body(TO, &url(3), "")).await;
    assert_eq!((third.status.as_u16(), third.problem().as_str()), (422, "limit_reached"));
    assert_eq!(third.member("limit"), "webhooks_for_recipient");
    add(&api, "bob@example.test", &url(1), "").await;
    let fourth = api.post_text("/api/webhooks", body("eve@example.test", &url(1), "")).await;
    assert_eq!((fourth.status.as_u16(), fourth.problem().as_str()), (422, "limit_reached"));
    assert_eq!(fourth.member("limit"), "webhooks");
    assert_eq!(api.post_text("/api/webhooks", body(TO, &url(2), "")).await.status, 200, "the same is no further one");
}

#[tokio::test]
async fn a_role_address_is_the_administrators() {
    let api = TestServer::with("domain = ['example.com', 'example.test']").await;
    let role = body("Postmaster@example.com", URL, "");
    let answer = api.post_text("/api/webhooks", &role).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "role_address"));
    assert_eq!(api.get("/api/webhooks?recipient=postmaster@example.com").await.problem(), "role_address");
    let added = api.administrator("POST", "/api/webhooks", &role).await;
    assert_eq!(added.status, 201);
    let target = format!("/api/webhooks?id={}", added.json()["id"].as_str().expect("id"));
    assert_eq!(api.delete(&target).await.problem(), "role_address");
    assert_eq!(api.administrator("DELETE", &target, "").await.json(), json!({ "deleted": 1 }));
    add(&api, "postmaster@example.test", URL, "").await;
}

#[tokio::test]
async fn the_list_shows_the_public_no_path_and_no_one_the_secret() {
    let api = TestServer::start().await;
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
    let shown = whole.text();
    assert!(shown.contains(URL) && !shown.contains("disabledReason"), "{shown}");
    for answer in [&public, &whole] {
        assert!(!answer.text().contains("s3cret"));
    }
    assert_eq!(api.get("/api/webhooks?recipient=bob@example.test").await.json(), json!([]));
    assert_eq!(api.get("/api/webhooks").await.problem(), "parameter_missing");
    assert_eq!(api.get("/api/webhooks?recipient=ann").await.problem(), "address_invalid");
}

#[tokio::test]
async fn failures_and_the_reason_of_a_disabled_webhook_are_shown() {
    let (api, sink) = calling("").await;
    let id = add(&api, TO, &sink.url("/"), "s3cret").await;
    sink.script("/", Behaviour::InTurn(vec![Behaviour::status(204), Behaviour::status(410)]));
    attempted(&api, &id, 1).await;
    attempted(&api, &id, 2).await;
    let target = "/api/webhooks?recipient=ann@example.test";
    let public = &api.get(target).await.json()[0];
    assert_eq!(
        [&public["status"], &public["failures"], &public["lastDeliveryAt"], &public["disabledReason"]],
        [&json!("disabled"), &json!(1), &json!("2023-11-14 22:13:20"), &json!("the receiver answered 410 Gone")]
    );
    assert_eq!(api.admin_get(target).await[0]["disabledReason"], "the receiver answered 410 Gone");
}

#[tokio::test]
async fn a_webhook_is_deleted_by_its_id() {
    let api = TestServer::start().await;
    let id = add(&api, TO, URL, "").await;
    let target = format!("/api/webhooks?id={}", id.to_uppercase());
    assert_eq!(api.delete(&target).await.json(), json!({ "deleted": 1 }));
    assert_eq!(api.delete(&target).await.json(), json!({ "deleted": 0 }));
    for (query, code) in [("", "parameter_missing"), ("?id=", "id_invalid"), ("?id=1", "id_invalid")] {
        let answer = api.delete(&format!("/api/webhooks{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
    let other = api.call("PUT", "/api/webhooks").await;
    assert_eq!((other.status.as_u16(), other.header("allow")), (405, Some("GET,HEAD,POST,DELETE")));
}

#[tokio::test]
async fn revision_1_has_no_webhooks() {
    let api = TestServer::with("revision = 1").await;
    for method in ["GET", "POST", "DELETE"] {
        let answer = api.administrator(method, "/api/webhooks?recipient=a@example.test", &body(TO, URL, "")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (404, "unknown_path"), "{method}");
    }
    let target = format!("/api/admin/webhooks/{UNKNOWN}/deliveries");
    assert_eq!(api.administrator("GET", &target, "").await.problem(), "unknown_path");
    assert!(api.get("/").await.json()["endpoints"].get("webhooks").is_none());
    assert!(TestServer::start().await.get("/").await.json()["endpoints"].get("webhooks").is_some());
}
