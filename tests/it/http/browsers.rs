//! What pages in a browser may do: which hosts are answered for, and which origins may read and write.
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{Answer, TestServer};

const INBOX: &str = "/api/mail/messages?to=a@example.test";

async fn from_page(api: &TestServer, method: &str, target: &str, origin: &str) -> Answer {
    Answer::to(api.request(method, target).header("origin", origin)).await
}

async fn to_host(api: &TestServer, host: &str) -> Answer {
    api.get_with(INBOX, "host", host).await
}

async fn public_service() -> TestServer {
    TestServer::with("http-listen = '0.0.0.0:0'").await
}

#[tokio::test]
async fn on_loopback_only_loopback_pages_may_read() {
    let api = TestServer::start().await;
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1", "http://app.localhost"] {
        let answer = from_page(&api, "GET", INBOX, origin).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (200, Some(origin)));
        assert_eq!(answer.header("vary"), Some("Origin"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
    for origin in ["https://evil.test", "null"] {
        let answer = from_page(&api, "GET", INBOX, origin).await;
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
}

#[tokio::test]
async fn on_loopback_other_pages_may_not_write() {
    let api = TestServer::start().await;
    api.receive(&["a@example.test"], "").await;
    let answer = from_page(&api, "DELETE", "/api/mail/delete?to=a@example.test", "https://evil.test").await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "origin_not_allowed"));
    assert_eq!(from_page(&api, "POST", "/api/domains", "null").await.problem(), "origin_not_allowed");
    assert_eq!(api.get(INBOX).await.json()["total"], 1);
    let answer = from_page(&api, "DELETE", "/api/mail/delete?to=a@example.test", "http://localhost:3000").await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn on_loopback_only_loopback_hosts_are_answered_for() {
    let api = TestServer::with("http-allowed-hosts = ['mail.example.test']").await;
    for host in ["localhost", "127.0.0.1:8080", "[::1]:8080", "app.localhost:1", "mail.example.test"] {
        assert_eq!(to_host(&api, host).await.status, 200, "{host}");
    }
    for host in ["evil.test", "evil.test:8080", "localhost.evil.test", "192.0.2.1"] {
        let answer = to_host(&api, host).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (421, "host_not_allowed"), "{host}");
        assert!(String::from_utf8_lossy(&answer.body).contains("http-allowed-hosts"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn beyond_loopback_listed_hosts_and_loopback_are_the_only_ones() {
    let settings = "http-listen = '0.0.0.0:0'\nhttp-allowed-hosts = ['mail.example.test']";
    let api = TestServer::with(settings).await;
    for host in ["mail.example.test", "Mail.example.test:8080", "localhost", "127.0.0.1:8080", "[::1]"] {
        assert_eq!(to_host(&api, host).await.status, 200, "{host}");
    }
    for host in ["evil.test", "192.0.2.1:8080", "box.mail.example.test"] {
        let answer = to_host(&api, host).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (421, "host_not_allowed"), "{host}");
    }
}

#[tokio::test]
async fn beyond_loopback_any_page_may_and_any_host_is_answered_for() {
    let api = public_service().await;
    assert_eq!(to_host(&api, "mail.example.test").await.status, 200);
    for origin in ["https://app.example", "null"] {
        let answer = from_page(&api, "GET", INBOX, origin).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{origin}");
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert_eq!(from_page(&api, "DELETE", "/api/mail/delete?to=a@example.test", origin).await.status, 200);
    }
    assert_eq!(
        from_page(&api, "GET", "/no-such", "https://x.test").await.header("access-control-allow-origin"),
        Some("*")
    );
}

#[tokio::test]
async fn listed_origins_replace_the_rule() {
    let api = TestServer::with("http-allowed-origins = ['https://app.example']").await;
    let granted = from_page(&api, "GET", INBOX, "https://app.example").await;
    assert_eq!(granted.header("access-control-allow-origin"), Some("https://app.example"));
    let refused = from_page(&api, "GET", INBOX, "http://localhost:3000").await;
    assert_eq!(refused.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn options_is_204_everywhere() {
    for api in [TestServer::start().await, public_service().await] {
        for (target, allow) in [
            (INBOX, Some("GET,HEAD,POST")),
            ("/api/mail/delete", Some("DELETE")),
            ("/api/admin/status", Some("GET,HEAD")),
            ("/api/addresses", Some("GET,HEAD,POST,PATCH,DELETE")),
            ("/no/such/path", None),
        ] {
            let answer = from_page(&api, "OPTIONS", target, "http://localhost:3000").await;
            assert_eq!((answer.status.as_u16(), answer.body.len()), (204, 0), "{target}");
            assert_eq!(answer.header("access-control-allow-methods"), Some("GET, POST, PATCH, DELETE"));
            assert_eq!(answer.header("access-control-allow-headers"), Some("Authorization, Content-Type"));
            assert!(answer.header("access-control-allow-origin").is_some());
            assert_eq!(answer.header("allow"), allow, "{target}");
        }
    }
}

/// PATCH is no method of forms, so a browser asks first.
#[tokio::test]
async fn a_page_that_may_write_changes_a_private_inbox() {
    let api = TestServer::start().await;
    let (_, lease) = api.admin_post("/api/addresses", &json!({ "address": "ann@example.test" })).await;
    let target = "/api/addresses?address=ann@example.test";
    for (origin, status) in [("http://localhost:3000", 200), ("https://evil.test", 403)] {
        let asked = api.request("OPTIONS", target).header("origin", origin);
        let asked = asked.header("access-control-request-method", "PATCH");
        let asked = Answer::to(asked.header("access-control-request-headers", "authorization,content-type")).await;
        let permitted = Some(origin).filter(|_| status == 200);
        assert_eq!(asked.header("access-control-allow-origin"), permitted);
        if status == 200 {
            let methods = asked.header("access-control-allow-methods").expect("methods");
            assert!(methods.split(", ").any(|method| method == "PATCH"), "{methods}");
            let fields = asked.header("access-control-allow-headers").expect("fields").to_lowercase();
            assert!(["authorization", "content-type"].iter().all(|field| fields.contains(field)), "{fields}");
        }
        let change = api.request("PATCH", target).header("origin", origin).json(&json!({ "forSeconds": 60 }));
        let changed = Answer::to(change.bearer_auth(lease["key"].as_str().expect("a key"))).await;
        assert_eq!((changed.status.as_u16(), changed.header("access-control-allow-origin")), (status, permitted));
    }
}

#[tokio::test]
async fn without_tcp_there_is_no_browser_and_no_rule() {
    let api = TestServer::start().await;
    let request = api.admin("GET", INBOX).header("host", "whatever").header("origin", "https://evil.test");
    assert_eq!(Answer::to(request).await.status, 200);
}

#[tokio::test]
async fn on_loopback_pages_of_other_sites_may_not_even_ask() {
    let api = TestServer::start().await;
    let id = api.receive(&["a@example.test"], "").await.remove(0);
    let inbox = ["/api/mail/wait?timeout=0&to=a@example.test", INBOX, &format!("/api/mail/messages/{id}/html")];
    let ask = async |target: &str, site: &str, mode: &str| {
        Answer::to(api.request("GET", target).header("sec-fetch-site", site).header("sec-fetch-mode", mode)).await
    };
    for site in ["cross-site", "same-site"] {
        for target in inbox {
            for mode in ["navigate", "no-cors", "cors"] {
                let answer = ask(target, site, mode).await;
                assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "origin_not_allowed"));
                assert_eq!(answer.header("ratelimit"), None, "it counts for nobody");
                assert_eq!(answer.header("access-control-allow-origin"), None);
            }
        }
        for target in ["/", "/docs"] {
            assert_eq!(ask(target, site, "navigate").await.status, 200, "{target}");
            assert_eq!(ask(target, site, "no-cors").await.status, 403, "{target}");
        }
    }
    for site in ["same-origin", "none"] {
        let answer = ask(INBOX, site, "navigate").await;
        assert!(answer.status == 200 && answer.header("ratelimit").is_some(), "{site}: {answer:?}");
    }
    let page =
        api.request("GET", INBOX).header("sec-fetch-site", "same-site").header("origin", "http://localhost:3000");
    assert_eq!(Answer::to(page).await.status, 200, "this page may read");
}

#[tokio::test]
async fn where_any_page_may_read_it_may_ask_in_any_way() {
    for api in [public_service().await, TestServer::with("http-allowed-origins = '*'").await] {
        let answer = Answer::to(api.request("GET", INBOX).header("sec-fetch-site", "cross-site")).await;
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test]
async fn no_answer_is_an_image_or_a_script_of_another_origin() {
    let api = TestServer::start().await;
    let id = api.receive(&["a@example.test"], "").await.remove(0);
    let all = ["/", "/docs", "/openapi.json", "/healthz", "/no-such", INBOX, &format!("/api/mail/messages/{id}/html")];
    for target in all {
        assert_eq!(api.get(target).await.header("cross-origin-resource-policy"), Some("same-origin"), "{target}");
    }
}

#[tokio::test]
async fn in_the_container_only_this_machine_and_other_containers_are_answered_for() {
    let settings = "http-listen = '0.0.0.0:0'\nhttp-allowed-hosts = 'localhost'\nhttp-allowed-origins = 'none'";
    let api = TestServer::with(settings).await;
    for host in ["127.0.0.1:8080", "localhost", "tempmail:8080", "my_service"] {
        assert_eq!(to_host(&api, host).await.status, 200, "{host}");
    }
    assert_eq!(to_host(&api, "evil.example").await.problem(), "host_not_allowed");
    for (method, target, status) in [("GET", INBOX, 200), ("DELETE", "/api/mail/delete?to=a@example.test", 403)] {
        let request = api.request(method, target).header("host", "localhost").header("origin", "https://evil.test");
        let answer = Answer::to(request).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (status, None), "{method}");
    }
}
