//! Rate limits: what is counted for whom, and what an answer says about it. Time stands still unless it is moved.
//! Promise: it outlives the code below it.

use std::time::Duration;

use reqwest::RequestBuilder;
use tokio::time::advance;

use super::{Answer, TestServer};
use crate::support::clock::Still;

const INBOX: &str = "/api/mail/messages?to=a@example.test";
/// The clients of these tests are behind a proxy, which is this process.
const PROXY: &str = "trusted-proxies = ['127.0.0.0/8']";

async fn limited(per_minute: u32) -> (TestServer, Still) {
    still(&format!("rate-limit = {per_minute}")).await
}

/// A service whose time stands still.
async fn still(settings: &str) -> (TestServer, Still) {
    let api = TestServer::with(&format!("{settings}\n{PROXY}")).await;
    (api, Still::begin())
}

fn request(api: &TestServer, client: &str, method: &str, target: &str) -> RequestBuilder {
    api.request(method, target).header("x-forwarded-for", client)
}

async fn from(api: &TestServer, client: &str, method: &str, target: &str) -> Answer {
    Answer::to(request(api, client, method, target).header("content-type", "application/json").body("{}")).await
}

/// How many of the requests of a client are not refused for a rate limit.
async fn passed(api: &TestServer, client: &str, method: &str, target: &str, requests: usize) -> usize {
    let mut passed = 0;
    for _ in 0..requests {
        passed += usize::from(from(api, client, method, target).await.status != 429);
    }
    passed
}

#[tokio::test]
async fn a_minutes_quota_passes_and_the_next_request_waits() {
    let unlimited = TestServer::start().await.get(INBOX).await;
    assert_eq!(unlimited.header("ratelimit-policy"), Some("\"requests\";q=10000;w=60"), "without the setting");
    let (api, _still) = limited(600).await;
    assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 600).await, 600);
    let refused = from(&api, "192.0.2.1", "GET", INBOX).await;
    assert_eq!((refused.status.as_u16(), refused.problem().as_str()), (429, "rate_limited"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.header("ratelimit"), Some("\"requests\";r=0;t=1"));
    advance(Duration::from_secs(1)).await;
    // A second brings the 60th part of a minute's quota.
    assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 30).await, 10);
}

#[tokio::test]
async fn every_counted_answer_says_what_is_left_and_pages_may_read_it() {
    let (api, _still) = limited(3).await;
    for (method, target, status, left) in [
        ("GET", INBOX, 200, "\"requests\";r=2;t=20"),
        ("OPTIONS", INBOX, 204, "\"requests\";r=1;t=40"),
        ("GET", "/no-such", 404, "\"requests\";r=0;t=60"),
        ("GET", INBOX, 429, "\"requests\";r=0;t=20"),
    ] {
        let answer =
            Answer::to(request(&api, "192.0.2.1", method, target).header("origin", "http://localhost:3000")).await;
        assert_eq!((answer.status.as_u16(), answer.header("ratelimit")), (status, Some(left)), "{method} {target}");
        assert_eq!(answer.header("ratelimit-policy"), Some("\"requests\";q=3;w=60"));
        let exposed = answer.header("access-control-expose-headers");
        assert_eq!(exposed, Some("Content-Disposition, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"));
    }
}

#[tokio::test]
async fn a_client_is_an_ipv4_address_or_an_ipv6_64() {
    let (api, _still) = limited(2).await;
    assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 3).await, 2);
    assert_eq!(passed(&api, "::ffff:192.0.2.1", "GET", INBOX, 3).await, 0);
    assert_eq!(passed(&api, "192.0.2.2", "GET", INBOX, 3).await, 2);
    assert_eq!(passed(&api, "2001:db8::1", "GET", INBOX, 2).await, 2);
    assert_eq!(passed(&api, "2001:db8::2", "GET", INBOX, 3).await, 0);
    assert_eq!(passed(&api, "2001:db8:0:1::1", "GET", INBOX, 3).await, 2);
    assert_eq!(passed(&api, "127.0.0.1", "GET", INBOX, 3).await, 2, "loopback is counted");
}

#[tokio::test]
async fn health_and_the_administrator_are_not_counted() {
    let (api, _still) = limited(1).await;
    assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 2).await, 1);
    for target in ["/healthz", "/readyz"] {
        let answer = from(&api, "192.0.2.1", "GET", target).await;
        assert_eq!((answer.status.as_u16(), answer.header("ratelimit")), (200, None), "{target}");
    }
    for _ in 0..3 {
        let answer = api.administrator("GET", INBOX, "").await;
        assert_eq!((answer.status.as_u16(), answer.header("ratelimit")), (200, None));
    }
}

#[tokio::test]
async fn the_bearer_of_a_valid_token_is_not_counted_and_strangers_at_its_address_are() {
    let (api, _still) = limited(1).await;
    let token = api.token("read").await;
    assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 2).await, 1);
    for (token, status) in [(&*token, 200), ("tm_guess", 429), (&*token, 200)] {
        let request = request(&api, "192.0.2.1", "GET", INBOX).bearer_auth(token);
        assert_eq!(Answer::to(request).await.status, status);
    }
}

#[tokio::test]
async fn dear_requests_have_smaller_limits_of_their_own() {
    for (method, target, quota) in [
        ("POST", "/api/domains", 30),
        ("GET", "/api/domains/check-dns?domain=example.org", 60),
        ("HEAD", "/api/domains/check-dns?domain=example.org", 60),
        ("POST", "/api/webhooks", 60),
    ] {
        let (api, _still) = still("").await;
        assert_eq!(passed(&api, "192.0.2.1", method, target, quota + 3).await, quota, "{method} {target}");
        let refused = from(&api, "192.0.2.1", method, target).await;
        let left = refused.header("ratelimit").expect("what is left");
        assert!(left.starts_with("\"requests\";r=99") && left.contains(";r=0;t="), "{left}");
        assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 9).await, 9, "{method} {target}");
        assert_eq!(passed(&api, "192.0.2.2", method, target, 9).await, 9, "{method} {target}");
        let wait = refused.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
        advance(Duration::from_secs(wait)).await;
        assert_ne!(from(&api, "192.0.2.1", method, target).await.status, 429, "{method} {target}");
    }
}

#[tokio::test]
async fn a_network_has_the_quotas_of_four_clients() {
    let (api, _still) = limited(2).await;
    for host in 1..=4 {
        assert_eq!(passed(&api, &format!("192.0.2.{host}"), "GET", INBOX, 3).await, 2);
    }
    let refused = from(&api, "192.0.2.5", "GET", INBOX).await;
    assert_eq!((refused.status.as_u16(), refused.problem().as_str()), (429, "rate_limited"));
    assert!(refused.text().contains("clients of this network"), "{refused:?}");
    assert_eq!((refused.header("retry-after"), refused.header("ratelimit")), (Some("8"), Some("\"requests\";r=0;t=8")));
    assert_eq!(passed(&api, "192.0.3.1", "GET", INBOX, 3).await, 2, "another network");
}

#[tokio::test]
async fn without_a_rate_limit_only_dear_requests_are_limited() {
    let (api, _still) = still("rate-limit = 'off'\nwebhook-registrations-per-minute = 5").await;
    assert_eq!(passed(&api, "192.0.2.1", "GET", INBOX, 300).await, 300);
    assert_eq!(passed(&api, "192.0.2.1", "POST", "/api/domains", 40).await, 30);
    assert_eq!(passed(&api, "192.0.2.1", "GET", "/api/domains/check-dns?domain=example.org", 70).await, 60);
    assert_eq!(passed(&api, "192.0.2.1", "POST", "/api/webhooks", 9).await, 5);
    assert_eq!(from(&api, "192.0.2.1", "GET", INBOX).await.header("ratelimit"), None);
}
