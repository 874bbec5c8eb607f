//! A service that is closed to callers without a token: who passes, and what the others are told.
//! Promise: it outlives the code below it.

use serde_json::json;

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
