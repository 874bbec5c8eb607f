//! `/api/admin`: nobody else may, and what the administrator does to domains and reads of the service.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::json;

use super::{Answer, TestServer, refusal};
use crate::support::dns_zone::DnsZone;
use crate::support::steady::while_steady;
use crate::support::until::until;

#[tokio::test]
async fn the_public_gets_401_whatever_the_path() {
    let api = TestServer::start().await;
    for (method, target) in [
        ("GET", "/api/admin"),
        ("GET", "/api/admin/"),
        ("GET", "/api/admin/domains"),
        ("POST", "/api/admin/domains"),
        ("DELETE", "/api/admin/domains?domain=a.example"),
        ("POST", "/api/admin/domains/verify"),
        ("GET", "/api/admin/status"),
        ("GET", "/api/admin/stats"),
        ("GET", "/api/admin/backup"),
        ("GET", "/api/admin/no-such-thing"),
        ("PUT", "/api/admin/status"),
    ] {
        let answer = api.call(method, target).await;
        assert_eq!(refusal(&answer), (401, "token_required".into()), "{method} {target}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
}

#[tokio::test]
async fn a_domain_is_pinned_listed_and_removed() {
    let api = TestServer::with("domain = ['fixed.example']").await;
    let body = r#"{"domain":"a.example","owner":"Ann","email":"ann@owner.test","skipDnsCheck":true}"#;
    let domain = json!({
        "domain": "a.example", "status": "active", "addedAt": "2023-11-14 22:13:20", "lastCheckedAt": null,
        "lastCheckResult": null, "owner": "Ann", "email": "ann@owner.test", "pinned": true, "fixed": false,
        "registeredBy": null,
    });
    let answer = api.administrator("POST", "/api/admin/domains", body).await;
    assert_eq!((answer.status.as_u16(), answer.json()), (201, domain.clone()));
    let listed = api.admin_get("/api/admin/domains").await;
    assert!(listed.as_array().expect("a list").contains(&domain), "{listed}");
    let checked = api.administrator("POST", "/api/admin/domains", r#"{"domain":"b.example"}"#).await;
    assert_eq!(checked.problem(), "mx_host_unset", "without the flag DNS is asked");

    let target = "/api/admin/domains?domain=A.example";
    assert_eq!(api.administrator("DELETE", target, "").await.json(), json!({ "deleted": 1 }));
    assert_eq!(api.administrator("DELETE", target, "").await.json(), json!({ "deleted": 0 }));
    let fixed = api.administrator("DELETE", "/api/admin/domains?domain=fixed.example", "").await;
    assert_eq!(refusal(&fixed), (409, "conflict".into()));
}

#[tokio::test]
async fn the_flag_is_a_boolean() {
    let api = TestServer::start().await;
    let body = r#"{"domain":"a.example","skipDnsCheck":"true"}"#;
    assert_eq!(api.administrator("POST", "/api/admin/domains", body).await.problem(), "parameter_invalid");
    let answer = api.administrator("POST", "/api/admin/domains/verify?force=1", "").await;
    assert_eq!(answer.problem(), "parameter_invalid");
}

#[tokio::test]
async fn verification_is_asked_for_one_domain_or_all() {
    let zone = DnsZone::start().await;
    zone.set_addresses("mx.example.test", &["192.0.2.25"]);
    let settings = format!("mx-host = ['mx.example.test']\nresolver = ['{}']", zone.addr());
    let api = TestServer::with(&settings).await;
    for domain in ["a.example", "b.example"] {
        zone.set_mx(domain, &[(10, "mx.example.test")]);
        let body = json!({ "domain": domain });
        assert_eq!(api.admin_post("/api/admin/domains", &body).await.0, 201);
    }
    let verify = async |query: &str| {
        let answer = api.administrator("POST", &format!("/api/admin/domains/verify{query}"), "").await.json();
        (answer["checked"].clone(), answer)
    };
    let (checked, whole) = verify("?domain=A.example&force=true").await;
    assert_eq!(checked, 1);
    assert_eq!(whole, json!({ "checked": 1, "deactivated": 0, "reactivated": 0, "failed": 0, "heldBack": 0 }));
    assert_eq!(verify("").await.0, 2);
    assert_eq!(api.administrator("POST", "/api/admin/domains/verify?domain=c.example", "").await.status, 404);
}

#[tokio::test]
async fn the_status_has_the_last_hour_for_those_who_ask() {
    let api = TestServer::start().await;
    // A connection that is kept would be idle for too long.
    let status = || api.admin("GET", "/api/admin/status?history=true").header("connection", "close");
    let history = async || Answer::to(status()).await.json()["history"].clone();
    let added = async |count: usize| {
        let is_there = async || history().await["stored"].as_array().map(Vec::len) == Some(count);
        until(format_args!("{count} intervals"), is_there).await;
    };
    let interval = Duration::from_secs(10);
    added(0).await;
    api.send("ann@example.test", "a", "x").await;
    api.pass(interval).await;
    added(1).await;
    api.pass(interval).await;
    added(2).await;
    let shown = history().await;
    assert_eq!((&shown["everySeconds"], &shown["received"]), (&json!(10), &json!([1, 0])), "{shown}");
    assert_eq!((&shown["stored"], &shown["failed"]), (&json!([1, 1]), &json!([0, 0])), "{shown}");
    let other = api.admin("GET", "/api/admin/status?history=1").header("connection", "close");
    assert_eq!(Answer::to(other).await.problem(), "parameter_invalid");
}

#[tokio::test]
async fn the_status_says_what_runs_here() {
    let api = TestServer::with("domain = ['example.test']\nmx-host = ['mx.example.test']").await;
    api.receive(&["ann@example.test"], "12345").await;
    let (stats, shown) =
        while_steady(async || api.stats().await, async || api.admin_get("/api/admin/status").await).await;
    assert_eq!(
        shown,
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "revision": 2,
            "startedAt": "2023-11-14 22:13:20",
            "smtpListen": [api.smtp()],
            "smtpsListen": [],
            "lmtpListen": [],
            "httpListen": [api.http()],
            "httpsListen": [],
            "metricsListen": [],
            "dataDir": api.dir(),
            "hostname": "localhost",
            "mxHosts": ["mx.example.test"],
            "retentionSeconds": 7200,
            "maxMessageOctets": 307_200,
            "tls": null,
            "panics": 0,
            "smtp": shown["smtp"],
            "acceptsMail": true,
            "domains": { "active": 1, "deactivated": 0 },
            "store": {
                "emails": 1, "mailboxes": 1, "messages": 1, "liveOctets": 5, "webhooks": 0, "events": 0,
                "leases": 0, "segments": stats.segments, "diskOctets": stats.disk_octets, "registryOctets": stats.registry_octets,
                "heldOctets": 0,
            },
        })
    );
}

#[tokio::test]
async fn the_stats_say_how_much_is_stored() {
    let api = TestServer::start().await;
    let empty = api.admin_get("/api/admin/stats").await;
    assert_eq!((&empty["messages"], &empty["oldest"], &empty["newest"]), (&json!(0), &json!(null), &json!(null)));
    api.receive(&["ann@example.test", "bob@example.test"], "12345").await;
    let detailed = async || api.store().detailed_stats().await.expect("survey");
    let (detailed, shown) = while_steady(detailed, async || api.admin_get("/api/admin/stats").await).await;
    assert_eq!(
        shown,
        json!({
            "messages": 1, "emails": 2, "mailboxes": 2, "domains": 0, "webhooks": 0, "events": 0,
            "leases": 0, "segments": detailed.stats.segments, "liveOctets": 5, "diskOctets": detailed.stats.disk_octets,
            "registryOctets": detailed.stats.registry_octets,
            "heldOctets": 0,
            "oldest": "2023-11-14 22:13:20", "newest": "2023-11-14 22:13:20",
        })
    );
}
