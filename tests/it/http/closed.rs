//! A service that is closed to callers without a token: who passes, and what the others are told.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{Answer, TestServer};
use crate::support::dns_zone::DnsZone;

const REQUESTS: [(&str, &str); 7] = [
    ("POST", "/api/domains"),
    ("GET", "/api/webhooks?recipient=ann@example.test"),
    ("POST", "/api/webhooks"),
    ("DELETE", "/api/webhooks?id=0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b"),
    ("DELETE", "/api/mail/delete?to=ann@example.test"),
    ("GET", "/api/mail/messages?to=ann@example.test"),
    ("GET", "/api/mail/messages/0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b/raw"),
];

/// Callers without a token may do nothing. The zone has no domain at all.
async fn closed() -> (TestServer, DnsZone) {
    let zone = DnsZone::start().await;
    let settings = format!("public = 'none'\nmx-host = ['mx.example.test']\nresolver = ['{}']", zone.addr());
    (TestServer::with(&settings).await, zone)
}

#[tokio::test]
async fn the_public_is_asked_for_a_token() {
    let (api, _zone) = closed().await;
    for (method, target) in REQUESTS {
        let answer = api.call(method, target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (401, "token_required"), "{method} {target}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    for open in ["/", "/healthz", "/api/domains", "/api/domains/active", "/api/domains/check-dns?domain=a.test"] {
        assert_eq!(api.get(open).await.status, 200, "{open}");
    }
    let expected = json!({ "domains": "token", "webhooks": "token", "delete": "token", "read": "token" });
    assert_eq!(api.get("/").await.json()["public"], expected);
    assert_eq!(api.call("OPTIONS", "/api/webhooks").await.status, 204);
    assert_eq!(api.get("/api/mail/no-such-path").await.status, 404);
}

#[tokio::test]
async fn a_token_and_the_local_administrator_pass() {
    let (api, _zone) = closed().await;
    let (admin, reader) = (api.token("admin").await, api.token("read").await);
    for (method, target) in REQUESTS {
        let codes = ["token_required", "token_invalid", "scope_insufficient"];
        let local = api.administrator(method, target, "{}").await;
        assert!(!codes.iter().any(|code| local.text().contains(code)), "{local:?}");
        for (token, is_enough) in [(&admin, true), (&reader, method == "GET")] {
            let answer = Answer::to(api.request(method, target).bearer_auth(token).json(&json!({}))).await;
            let is_refused = codes.iter().any(|code| answer.text().contains(code));
            assert_eq!(is_refused, !is_enough, "{method} {target}: {answer:?}");
        }
    }
}

/// The id of the only mail in an inbox.
async fn only_mail(api: &TestServer, address: &str) -> String {
    let list = api.admin_get(&format!("/api/mail/messages?to={address}")).await;
    assert_eq!(list["total"], 1, "{list}");
    list["emails"][0]["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_key_opens_its_own_inbox_and_nothing_else() {
    let api = TestServer::with("public = 'none'").await;
    let mut keys = Vec::new();
    for address in ["ann@example.test", "bob@example.test"] {
        let (status, lease) = api.admin_post("/api/addresses", &json!({ "address": address })).await;
        assert_eq!(status, 201, "{lease}");
        keys.push(lease["key"].as_str().expect("a key").to_owned());
    }
    for address in ["ann@example.test", "bob@example.test", "eve@example.test"] {
        api.send(address, "hi", "text").await;
    }
    let ask = async |method: &str, target: &str, body: &Value| {
        let response = api.request(method, target).bearer_auth(&keys[0]).json(body).send().await.expect("an answer");
        response.status().as_u16()
    };
    let nothing = json!({});
    for (address, listed, by_id) in
        [("ann@example.test", 200, 200), ("bob@example.test", 401, 404), ("eve@example.test", 401, 404)]
    {
        let id = only_mail(&api, address).await;
        for part in ["", "/raw", "/html", "/text", "/ticket"] {
            let target = format!("/api/mail/messages/{id}{part}");
            assert_eq!(ask("GET", &target, &nothing).await, by_id, "{address}{part}");
        }
        for target in ["mail/messages?to", "mail/stream?to", "webhooks?recipient"] {
            assert_eq!(ask("GET", &format!("/api/{target}={address}"), &nothing).await, listed, "{target} {address}");
        }
        let wait = if listed == 200 { 204 } else { 401 };
        let since = "since=2099-01-01%2000:00:00";
        assert_eq!(ask("GET", &format!("/api/mail/wait?timeout=0&{since}&to={address}"), &nothing).await, wait);
        let hook = json!({ "recipient": address, "url": "https://hooks.example/x" });
        let registered = if listed == 200 { 201 } else { 401 };
        assert_eq!(ask("POST", "/api/webhooks", &hook).await, registered, "{address}");
        let changed = if listed == 200 { 200 } else { 404 };
        assert_eq!(ask("PATCH", &format!("/api/addresses?address={address}"), &nothing).await, changed, "{address}");
    }
    for (method, target) in [
        ("GET", "/api/mail/stream"),
        ("POST", "/api/addresses"),
        ("POST", "/api/domains"),
        ("POST", "/api/mail/messages?to=ann@example.test"),
        ("GET", "/api/admin/status"),
        ("GET", "/api/admin/messages"),
    ] {
        assert_eq!(ask(method, target, &json!({ "domain": "a.test" })).await, 401, "{method} {target}");
    }
    for (address, deleted) in [("eve@example.test", 401), ("bob@example.test", 401), ("ann@example.test", 200)] {
        let id = only_mail(&api, address).await;
        assert_eq!(ask("DELETE", &format!("/api/mail/delete?id={id}"), &nothing).await, 200, "as an unknown id");
        assert_eq!(ask("DELETE", &format!("/api/mail/delete?to={address}"), &nothing).await, deleted, "{address}");
        let left = api.admin_get(&format!("/api/mail/messages?to={address}")).await;
        assert_eq!(left["total"], u64::from(deleted == 401), "{address}");
        let ended = if address.starts_with("ann") { 200 } else { 404 };
        assert_eq!(ask("DELETE", &format!("/api/addresses?address={address}"), &nothing).await, ended, "{address}");
    }
}

/// A request bears one secret, so the bearer of a token names the key in the body.
#[tokio::test]
async fn the_bearer_of_a_token_adds_an_inbox_to_a_key() {
    let api = TestServer::with("public = 'none'").await;
    let token = api.token("admin").await;
    let take = async |bearer: &str, key: &str| {
        let request = api.request("POST", "/api/addresses").bearer_auth(bearer).json(&json!({ "key": key }));
        let lease = Answer::to(request).await;
        assert_eq!(lease.status, 201, "{lease:?}");
        lease.json()["key"].as_str().map(str::to_owned)
    };
    let key = take(&token, "tmk_opens-nothing").await.expect("a new key");
    assert_eq!(take(&token, &key).await, None, "it is there already");
    let held = async |key: &str| {
        let list = Answer::to(api.request("GET", "/api/addresses").bearer_auth(key)).await.json();
        list["addresses"].as_array().map(Vec::len)
    };
    assert_eq!(held(&key).await, Some(2));
    // Nobody else adds to a key by its name.
    let open = TestServer::start().await;
    let (_, first) = open.admin_post("/api/addresses", &json!({})).await;
    let body = json!({ "key": first["key"] });
    let answer = open.post("/api/addresses", &body).await.json();
    assert!(answer["key"].is_string() && answer["key"] != first["key"], "{answer}");
}
