//! `/api/admin`.

use serde_json::json;
use tempmail::domains::DomainError;
use tempmail::store::Store as _;

use super::TestApi;
use crate::support::steady::while_steady;

#[tokio::test]
async fn the_public_gets_401_whatever_the_path() {
    let api = TestApi::new();
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
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (401, "unauthorized"), "{method} {target}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
}

#[tokio::test]
async fn a_domain_is_pinned_listed_and_removed() {
    let api = TestApi::new();
    *api.domains.fault.lock().expect("fault") = Some(DomainError::MxHostUnset);
    let body = r#"{"domain":"a.example","owner":"Ann","email":"ann@owner.test","skipDnsCheck":true}"#;
    let domain = json!({
        "domain": "a.example", "status": "active", "addedAt": "2023-11-14 22:13:20", "lastCheckedAt": null,
        "lastCheckResult": null, "owner": "Ann", "email": "ann@owner.test", "pinned": true, "fixed": false,
        "registeredBy": null,
    });
    let answer = api.administrator("POST", "/api/admin/domains", body).await;
    assert_eq!((answer.status.as_u16(), answer.json()), (201, domain.clone()));
    assert_eq!(api.administrator("GET", "/api/admin/domains", "").await.json(), json!([domain]));
    let checked = api.administrator("POST", "/api/admin/domains", r#"{"domain":"b.example"}"#).await;
    assert_eq!(checked.problem(), "mx_host_unset", "without the flag DNS is asked");

    *api.domains.fault.lock().expect("fault") = None;
    let target = "/api/admin/domains?domain=A.example";
    assert_eq!(api.administrator("DELETE", target, "").await.json(), json!({ "deleted": 1 }));
    assert_eq!(api.administrator("DELETE", target, "").await.json(), json!({ "deleted": 0 }));
    *api.domains.fault.lock().expect("fault") = Some(DomainError::Fixed);
    let fixed = api.administrator("DELETE", target, "").await;
    assert_eq!((fixed.status.as_u16(), fixed.problem().as_str()), (409, "domain_fixed"));
}

#[tokio::test]
async fn the_flag_is_a_boolean() {
    let api = TestApi::new();
    let body = r#"{"domain":"a.example","skipDnsCheck":"true"}"#;
    assert_eq!(api.administrator("POST", "/api/admin/domains", body).await.problem(), "boolean_invalid");
    let answer = api.administrator("POST", "/api/admin/domains/verify?force=1", "").await;
    assert_eq!(answer.problem(), "boolean_invalid");
}

#[tokio::test]
async fn verification_is_asked_for_one_domain_or_all() {
    let api = TestApi::new();
    let answer = api.administrator("POST", "/api/admin/domains/verify?domain=A.example&force=true", "").await;
    assert_eq!(answer.json(), json!({ "checked": 1, "deactivated": 0, "reactivated": 0, "failed": 0, "heldBack": 0 }));
    api.administrator("POST", "/api/admin/domains/verify", "").await;
    let asked = api.domains.verified.lock().expect("verified").clone();
    assert_eq!(asked, [(Some("a.example".to_owned()), true), (None, false)]);
    *api.domains.fault.lock().expect("fault") = Some(DomainError::NotRegistered);
    assert_eq!(api.administrator("POST", "/api/admin/domains/verify?domain=a.example", "").await.status, 404);
}

#[tokio::test]
async fn the_status_says_what_runs_here() {
    let api = TestApi::with(|config| config.domains.mx_hosts = vec!["mx.example.test".parse().expect("name")]);
    api.receive(&["ann@example.test"], "12345").await;
    let stats = async || api.store.stats().await.expect("stats");
    let shown = async || api.administrator("GET", "/api/admin/status", "").await.json();
    let (stats, shown) = while_steady(stats, shown).await;
    assert_eq!(
        shown,
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "revision": 2,
            "startedAt": null,
            "smtpListen": [],
            "smtpsListen": [],
            "lmtpListen": [],
            "httpListen": [],
            "httpsListen": [],
            "metricsListen": [],
            "dataDir": "/nowhere",
            "hostname": "localhost",
            "mxHosts": ["mx.example.test"],
            "retentionSeconds": 7200,
            "maxMessageOctets": 307_200,
            "tls": null,
            "panics": null,
            "smtp": null,
            "acceptsMail": true,
            "domains": { "active": 0, "deactivated": 0 },
            "store": {
                "emails": 1, "mailboxes": 1, "messages": 1, "liveOctets": 5, "webhooks": 0, "events": 0,
                "segments": stats.segments, "diskOctets": stats.disk_octets, "indexOctets": stats.index_octets,
                "heldOctets": 0,
            },
        })
    );
}

#[tokio::test]
async fn the_stats_say_how_much_is_stored() {
    let api = TestApi::new();
    api.receive(&["ann@example.test", "bob@example.test"], "12345").await;
    let detailed = async || api.store.detailed_stats().await.expect("survey");
    let shown = async || api.administrator("GET", "/api/admin/stats", "").await.json();
    let (detailed, shown) = while_steady(detailed, shown).await;
    let received_at = detailed.oldest.expect("mail").to_interface();
    assert_eq!(
        shown,
        json!({
            "messages": 1, "emails": 2, "mailboxes": 2, "domains": 0, "webhooks": 0, "events": 0,
            "segments": detailed.stats.segments, "liveOctets": 5, "diskOctets": detailed.stats.disk_octets,
            "indexOctets": detailed.stats.index_octets, "indexFreeOctets": detailed.index_free_octets,
            "heldOctets": 0,
            "oldest": received_at, "newest": received_at,
        })
    );
    let empty = TestApi::new().administrator("GET", "/api/admin/stats", "").await.json();
    assert_eq!((&empty["messages"], &empty["oldest"], &empty["newest"]), (&json!(0), &json!(null), &json!(null)));
}
