//! Who may use the interface of another mail catcher: programs of this machine, others with a token, no foreign page.
//! Promise: it outlives the code below it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Answer, TestServer, listed, mailpit, receive, text, with};

/// Behind this proxy, a client is at another address.
const PROXY: &str = "trusted-proxies = ['127.0.0.0/8']";
const STRANGER: (&str, &str) = ("x-forwarded-for", "192.0.2.1");

/// The statuses of reading and of deleting, with these header fields.
async fn statuses(api: &TestServer, fields: &[(&str, &str)]) -> [u16; 2] {
    let mut statuses = [0; 2];
    for (status, method) in statuses.iter_mut().zip(["GET", "DELETE"]) {
        let request = api.request(method, "/api/v1/messages");
        let request = fields.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        *status = Answer::to(request).await.status.as_u16();
    }
    statuses
}

#[tokio::test]
async fn only_programs_of_this_machine_need_no_token() {
    for (settings, expected) in [
        ("", [200, 200]),
        ("http-listen = '0.0.0.0:0'", [401, 401]),
        ("http-allowed-origins = ['*']", [401, 401]),
        ("public = ['delete']", [401, 401]),
        ("public = ['read']", [200, 401]),
        (PROXY, [200, 200]),
    ] {
        let api = with("mailpit", settings).await;
        assert_eq!(statuses(&api, &[]).await, expected, "{settings}");
        for field in [STRANGER, ("forwarded", "192.0.2.1"), ("via", "1.1 proxy"), ("x-forwarded-proto", "https")] {
            assert_eq!(statuses(&api, &[field]).await, [401, 401], "{settings}");
        }
    }
}

#[tokio::test]
async fn a_token_opens_what_its_scope_permits() {
    let api = with("mailpit", &format!("http-listen = '0.0.0.0:0'\n{PROXY}")).await;
    for (scope, expected) in [("admin", [200, 200]), ("read", [200, 403])] {
        let token = api.token(scope).await;
        let basic = format!("Basic {}", STANDARD.encode(format!("ci:{token}")));
        for credentials in [format!("Bearer {token}"), basic] {
            let fields = [STRANGER, ("authorization", credentials.as_str())];
            assert_eq!(statuses(&api, &fields).await, expected, "{credentials}");
        }
    }
    let wrong = format!("Basic {}", STANDARD.encode("ci:wrong"));
    let wrong = ("authorization", wrong.as_str());
    assert_eq!(statuses(&api, &[STRANGER, wrong]).await, [401, 401]);
    assert_eq!(statuses(&mailpit().await, &[wrong]).await, [200, 200], "no token is needed");
    // Wrong tokens are counted, so that nobody can try many.
    for _ in 0..40 {
        statuses(&api, &[STRANGER, wrong]).await;
    }
    assert_eq!(statuses(&api, &[STRANGER, wrong]).await, [429, 429]);
    let refused = api.get("/api/v1/messages").await;
    assert!(refused.header("www-authenticate").expect("a challenge").starts_with("Basic "));
    assert_eq!(text(&refused).0, 401);
}

#[tokio::test]
async fn pages_of_other_sites_neither_read_nor_delete() {
    let api = mailpit().await;
    receive(&api, &["ann@example.test"], "private").await;
    for (method, status) in [("GET", 200), ("DELETE", 403)] {
        let answer = Answer::to(api.request(method, "/api/v1/messages").header("origin", "https://evil.test")).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (status, None), "{method}");
    }
    assert_eq!(api.get_with("/api/v1/messages", "host", "evil.test").await.problem(), "host_not_allowed");
    assert_eq!(listed(&api).await, ["private"]);
}
