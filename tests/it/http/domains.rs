//! `/api/domains`: list, registration and check, with the answers of a name server.
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{Answer, TestServer, refusal};
use crate::support::dns_zone::DnsZone;

const OURS: &str = "mx.example.test";

/// A service that asks this zone, in which the mail of `new.example` and `a.example` goes to it.
async fn serving(settings: &str) -> (TestServer, DnsZone) {
    let zone = DnsZone::start().await;
    zone.set_addresses(OURS, &["192.0.2.25"]);
    for domain in ["new.example", "a.example"] {
        zone.set_mx(domain, &[(10, OURS)]);
    }
    let settings = format!("mx-host = ['{OURS}']\nresolver = ['{}']\n{settings}", zone.addr());
    (TestServer::with(&settings).await, zone)
}

async fn add(api: &TestServer, domain: &str) -> Answer {
    api.post("/api/domains", &json!({ "domain": domain, "owner": "Ann", "email": "ann@owner.test" })).await
}

#[tokio::test]
async fn the_list_shows_domains_without_their_owners() {
    let (api, zone) = serving("").await;
    for domain in ["a.example", "new.example"] {
        assert_eq!(add(&api, domain).await.status, 201);
    }
    zone.set_mx("new.example", &[(10, "other.example")]);
    zone.set_addresses("other.example", &["203.0.113.9"]);
    let verify = "/api/admin/domains/verify?force=true&domain=new.example";
    assert_eq!(api.administrator("POST", verify, "").await.json()["deactivated"], 1);
    let listed = api.get("/api/domains").await;
    assert!(!listed.text().contains("Ann") && !listed.text().contains("owner"), "{listed:?}");
    let row = |domain: &str, status: &str, result: &str| {
        let at = "2023-11-14 22:13:20";
        json!({ "domain": domain, "status": status, "addedAt": at, "lastCheckedAt": at, "lastCheckResult": result })
    };
    let result = |number: usize| listed.json()[number]["lastCheckResult"].as_str().expect("a result").to_owned();
    assert!(result(1).contains("other.example"), "{listed:?}");
    let rows = json!([row("a.example", "active", &result(0)), row("new.example", "deactivated", &result(1))]);
    assert_eq!(listed.json(), rows);
    assert_eq!(api.get("/api/domains/active").await.json(), json!(["a.example"]));
}

#[tokio::test]
async fn a_new_domain_is_201_and_a_known_one_200() {
    let (api, _zone) = serving("").await;
    let answer = add(&api, "New.Example.").await;
    assert_eq!(answer.status, 201);
    assert_eq!(
        answer.json(),
        json!({
            "domain": "new.example",
            "status": "active",
            "addedAt": "2023-11-14 22:13:20",
            "lastCheckedAt": "2023-11-14 22:13:20",
            "lastCheckResult": answer.json()["lastCheckResult"],
        })
    );
    assert_eq!(api.post_text("/api/domains", r#"{"domain":"new.example","owner":null}"#).await.status, 200);
}

#[tokio::test]
async fn bad_bodies_get_their_codes() {
    let (api, _zone) = serving("").await;
    let long = format!(r#"{{"domain":"a.example","owner":"{}"}}"#, "x".repeat(257));
    for (body, code) in [
        ("", "json_invalid"),
        ("{", "json_invalid"),
        ("[]", "json_invalid"),
        ("\"a.example\"", "json_invalid"),
        ("\u{feff}{}", "json_invalid"),
        ("{}", "parameter_missing"),
        (r#"{"domain":null}"#, "parameter_missing"),
        (r#"{"domain":5}"#, "domain_invalid"),
        (r#"{"domain":""}"#, "domain_invalid"),
        (r#"{"domain":"a b"}"#, "domain_invalid"),
        (r#"{"domain":"127.0.0.1"}"#, "domain_invalid"),
        (r#"{"domain":"*.example"}"#, "domain_invalid"),
        (r#"{"domain":"a.example","owner":""}"#, "parameter_invalid"),
        (r#"{"domain":"a.example","owner":" "}"#, "parameter_invalid"),
        (r#"{"domain":"a.example","owner":"a\nb"}"#, "parameter_invalid"),
        (r#"{"domain":"a.example","owner":{}}"#, "parameter_invalid"),
        (long.as_str(), "parameter_invalid"),
        (r#"{"domain":"a.example","email":"ann"}"#, "parameter_invalid"),
        (r#"{"domain":"a.example","email":[]}"#, "parameter_invalid"),
    ] {
        let answer = api.post_text("/api/domains", body).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{body}");
    }
    assert_eq!(api.post_text("/api/domains", "[".repeat(60_000)).await.problem(), "json_invalid");
    let owner = format!(r#"{{"domain":"a.example","owner":"{}"}}"#, "ü".repeat(256));
    assert_eq!(api.post_text("/api/domains", &owner).await.status, 201);
}

#[tokio::test]
async fn the_body_is_json_and_bounded() {
    let (api, _zone) = serving("").await;
    let post = |content_type: Option<&str>, body: String| {
        let request = api.request("POST", "/api/domains").body(body);
        Answer::to(content_type.into_iter().fold(request, |request, it| request.header("content-type", it)))
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
    let expect = async |api: &TestServer, status: u16, code: &str| {
        let answer = add(api, "new.example").await;
        assert_eq!(refusal(&answer), (status, code.into()));
        assert_eq!(answer.header("retry-after").is_some(), code == "dns_unavailable");
        assert!(!answer.text().contains("127.0.0.1"), "the name server is nobody's business");
    };
    expect(&TestServer::start().await, 503, "mx_host_unset").await;
    for (setting, limit) in [("max-domains", "domains"), ("max-domains-per-client", "domains_for_client")] {
        let (api, _zone) = serving(&format!("{setting} = 1")).await;
        assert_eq!(add(&api, "a.example").await.status, 201);
        expect(&api, 422, "limit_reached").await;
        assert_eq!(add(&api, "new.example").await.member("limit"), limit);
    }
    let (api, zone) = serving("dns-timeout = '1s'").await;
    zone.set_mx("new.example", &[(10, "other.example")]);
    expect(&api, 422, "mx_mismatch").await;
    zone.servfail("new.example");
    expect(&api, 503, "dns_unavailable").await;
    zone.silence("new.example");
    expect(&api, 503, "dns_unavailable").await;
}

#[tokio::test]
async fn a_client_with_too_many_checks_at_once_is_busy() {
    let (api, zone) = serving("dns-timeout = '1s'").await;
    zone.silence("new.example");
    let answers = futures_util::future::join_all((0..100).map(|_| add(&api, "new.example"))).await;
    let busy = answers.iter().find(|answer| answer.problem() == "busy").expect("one that is refused");
    assert_eq!((busy.status.as_u16(), busy.header("retry-after")), (503, Some("5")));
}

#[tokio::test]
async fn a_check_answers_200_whether_yes_or_no() {
    let (api, zone) = serving("dns-timeout = '1s'").await;
    let target = "/api/domains/check-dns?domain=new.example";
    let yes = api.get(target).await;
    assert_eq!((yes.status.as_u16(), &yes.json()["ok"]), (200, &json!(true)));
    let message = yes.json()["message"].as_str().expect("text").to_owned();
    assert!(message.contains("new.example") && message.contains(OURS), "{message}");

    zone.set_mx("new.example", &[(10, "other.example")]);
    let no = api.get(target).await;
    assert_eq!(no.status, 200);
    let message = no.json()["message"].as_str().expect("text").to_owned();
    assert!(message.contains("new.example") && message.contains("other.example"), "{message}");
    let expected = json!({
        "ok": false, "message": message, "domain": "new.example",
        "expected": ["new.example. IN MX 10 mx.example.test."],
        "found": ["new.example. IN MX 10 other.example.", "; other.example is not at our address"],
    });
    assert_eq!(no.json(), expected);

    zone.silence("new.example");
    assert_eq!(api.get(target).await.status, 503);
}

#[tokio::test]
async fn a_check_wants_a_domain() {
    let api = TestServer::start().await;
    for (query, code) in [
        ("", "parameter_missing"),
        ("?domain=", "domain_invalid"),
        ("?domain=a%20b", "domain_invalid"),
        ("?domain=a+b.example", "domain_invalid"),
        ("?domain=a.example&domain=a.example", "parameter_invalid"),
    ] {
        let answer = api.get(&format!("/api/domains/check-dns{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
}
