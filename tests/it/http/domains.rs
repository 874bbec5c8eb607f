//! `/api/domains`.

use axum::body::Body;
use axum::http::header;
use serde_json::json;
use tempmail::dns::{Failure, MxReport};
use tempmail::domains::{DomainEntry, DomainError};
use tempmail::model::{Client, DomainStatus, Timestamp};

use super::{TestApi, public};

fn mismatch() -> MxReport {
    MxReport {
        ok: false,
        message: "The MX record of new.example points at other.example.".into(),
        domain: "new.example".parse().expect("name"),
        expected: vec!["mx.example.test".into()],
        found: vec!["other.example".into()],
    }
}

fn entry(domain: &str, status: DomainStatus) -> DomainEntry {
    DomainEntry {
        domain: domain.into(),
        status,
        fixed: false,
        pinned: false,
        added_at: Some(Timestamp::from_millis(0)),
        last_checked_at: None,
        last_check_result: None,
        owner: Some("Ann".into()),
        email: Some("ann@owner.test".into()),
        registrant: Some(Client::of([192, 0, 2, 1].into())),
    }
}

#[tokio::test]
async fn the_list_shows_domains_without_their_owners() {
    let api = TestApi::new();
    api.domains
        .entries
        .lock()
        .expect("entries")
        .extend([entry("a.example", DomainStatus::Active), entry("b.example", DomainStatus::Deactivated)]);
    let row = |domain: &str, status: &str| json!({ "domain": domain, "status": status, "addedAt": "1970-01-01 00:00:00", "lastCheckedAt": null, "lastCheckResult": null });
    assert_eq!(
        api.get("/api/domains").await.json(),
        json!([row("a.example", "active"), row("b.example", "deactivated")])
    );
    assert_eq!(api.get("/api/domains/active").await.json(), json!(["a.example"]));
}

#[tokio::test]
async fn a_new_domain_is_201_and_a_known_one_200() {
    let api = TestApi::new();
    let body = r#"{"domain":"New.Example.","owner":"Ann","email":"ann@owner.test"}"#;
    let answer = api.post("/api/domains", body).await;
    assert_eq!(answer.status, 201);
    assert_eq!(
        answer.json(),
        json!({
            "domain": "new.example",
            "status": "active",
            "addedAt": "2023-11-14 22:13:20",
            "lastCheckedAt": "2023-11-14 22:13:20",
            "lastCheckResult": null,
        })
    );
    assert_eq!(api.post("/api/domains", r#"{"domain":"new.example","owner":null}"#).await.status, 200);
}

#[tokio::test]
async fn bad_bodies_get_their_codes() {
    let api = TestApi::new();
    let long = format!(r#"{{"domain":"a.example","owner":"{}"}}"#, "x".repeat(257));
    for (body, code) in [
        ("", "json_invalid"),
        ("{", "json_invalid"),
        ("[]", "json_invalid"),
        ("\"a.example\"", "json_invalid"),
        ("\u{feff}{}", "json_invalid"),
        ("{}", "field_missing"),
        (r#"{"domain":null}"#, "field_missing"),
        (r#"{"domain":5}"#, "domain_invalid"),
        (r#"{"domain":""}"#, "domain_invalid"),
        (r#"{"domain":"a b"}"#, "domain_invalid"),
        (r#"{"domain":"127.0.0.1"}"#, "domain_invalid"),
        (r#"{"domain":"*.example"}"#, "domain_invalid"),
        (r#"{"domain":"a.example","owner":""}"#, "owner_invalid"),
        (r#"{"domain":"a.example","owner":" "}"#, "owner_invalid"),
        (r#"{"domain":"a.example","owner":"a\nb"}"#, "owner_invalid"),
        (r#"{"domain":"a.example","owner":{}}"#, "owner_invalid"),
        (long.as_str(), "owner_invalid"),
        (r#"{"domain":"a.example","email":"ann"}"#, "email_invalid"),
        (r#"{"domain":"a.example","email":[]}"#, "email_invalid"),
    ] {
        let answer = api.post("/api/domains", body).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{body}");
    }
    assert_eq!(api.post("/api/domains", &"[".repeat(60_000)).await.problem(), "json_invalid");
    let owner = format!(r#"{{"domain":"a.example","owner":"{}"}}"#, "ü".repeat(256));
    assert_eq!(api.post("/api/domains", &owner).await.status, 201);
}

#[tokio::test]
async fn the_body_is_json_and_bounded() {
    let api = TestApi::new();
    let post = |content_type: Option<&str>, body: String| {
        let mut request = public("POST", "/api/domains");
        if let Some(content_type) = content_type {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        api.send(request.body(Body::from(body)).expect("request"))
    };
    let body = || r#"{"domain":"a.example"}"#.to_owned();
    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")]
    {
        let answer = post(content_type, body()).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (415, "content_type_unsupported"));
    }
    for content_type in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
        assert!(post(Some(content_type), body()).await.status.is_success(), "{content_type}");
    }
    let answer = post(Some("application/json"), " ".repeat(64 * 1024 + 1)).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (413, "body_too_large"));
}

#[tokio::test]
async fn each_failure_of_a_registration_has_its_answer() {
    let api = TestApi::new();
    for (fault, status, code) in [
        (DomainError::MxMismatch(mismatch()), 422, "mx_mismatch"),
        (DomainError::TooMany, 422, "too_many_domains"),
        (DomainError::Dns(Failure::ServerFailed), 503, "dns_unavailable"),
        (DomainError::TooManyOfClient(100), 422, "too_many_domains_for_client"),
        (DomainError::Busy, 503, "dns_busy"),
        (DomainError::MxHostUnset, 503, "mx_host_unset"),
        (DomainError::Fixed, 409, "domain_fixed"),
    ] {
        *api.domains.fault.lock().expect("fault") = Some(fault);
        let answer = api.post("/api/domains", r#"{"domain":"new.example"}"#).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code));
        assert_eq!(answer.header("retry-after").is_some(), code.starts_with("dns_"));
        assert!(!String::from_utf8_lossy(&answer.body).contains("192.0.2.53"));
    }
}

#[tokio::test]
async fn a_check_answers_200_whether_yes_or_no() {
    let api = TestApi::new();
    let target = "/api/domains/check-dns?domain=new.example";
    let yes = api.get(target).await;
    assert_eq!((yes.status.as_u16(), &yes.json()["ok"]), (200, &json!(true)));
    assert_eq!(yes.json()["message"], "The MX record of new.example points at mx.example.test.");

    *api.domains.fault.lock().expect("fault") = Some(DomainError::MxMismatch(mismatch()));
    let no = api.get(target).await;
    assert_eq!(no.status, 200);
    assert_eq!(
        no.json(),
        json!({
            "ok": false,
            "message": "The MX record of new.example points at other.example.",
            "domain": "new.example",
            "expected": ["mx.example.test"],
            "found": ["other.example"],
        })
    );

    *api.domains.fault.lock().expect("fault") = Some(DomainError::Dns(Failure::TimedOut));
    assert_eq!(api.get(target).await.status, 503);
}

#[tokio::test]
async fn a_check_wants_a_domain() {
    let api = TestApi::new();
    for (query, code) in [
        ("", "parameter_missing"),
        ("?domain=", "domain_invalid"),
        ("?domain=a%20b", "domain_invalid"),
        ("?domain=a+b.example", "domain_invalid"),
        ("?domain=a.example&domain=a.example", "parameter_repeated"),
    ] {
        let answer = api.get(&format!("/api/domains/check-dns{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
}
