//! A service that is closed to callers without a token.

use axum::body::Body;
use axum::http::header;
use serde_json::json;
use tempmail::clock::Clock as _;
use tempmail::config::PublicAccess;
use tempmail::model::Scope;
use tempmail::tokens::NewToken;

use super::{TestApi, public};

const REQUESTS: [(&str, &str); 7] = [
    ("POST", "/api/domains"),
    ("GET", "/api/webhooks?recipient=ann@example.test"),
    ("POST", "/api/webhooks"),
    ("DELETE", "/api/webhooks?id=0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a3b"),
    ("DELETE", "/api/mail/delete?to=ann@example.test"),
    ("GET", "/api/mail/messages?to=ann@example.test"),
    ("GET", "/api/mail/messages/0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b/raw"),
];

fn closed(access: PublicAccess) -> TestApi {
    TestApi::with(|config| {
        let public = &mut config.public;
        (public.domains, public.webhooks, public.delete, public.read) = (access, access, access, access);
    })
}

#[tokio::test]
async fn the_public_is_asked_for_a_token_or_refused() {
    for (access, status, code) in [(PublicAccess::Token, 401, "token_required"), (PublicAccess::Off, 403, "public_off")]
    {
        let api = closed(access);
        for (method, target) in REQUESTS {
            let answer = api.call(method, target).await;
            assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code), "{method} {target}");
            assert_eq!(answer.header("www-authenticate"), (status == 401).then_some("Bearer"));
        }
        for open in ["/", "/healthz", "/api/domains", "/api/domains/active", "/api/domains/check-dns?domain=a.test"] {
            assert_eq!(api.get(open).await.status, 200, "{open}");
        }
        let shown = access.to_string();
        let expected = json!({ "domains": shown, "webhooks": shown, "delete": shown, "read": shown });
        assert_eq!(api.get("/").await.json()["public"], expected);
        assert_eq!(api.call("OPTIONS", "/api/webhooks").await.status, 204);
        assert_eq!(api.get("/api/mail/no-such-path").await.status, 404);
    }
}

#[tokio::test]
async fn a_token_and_the_local_administrator_pass() {
    for access in [PublicAccess::Token, PublicAccess::Off] {
        let api = closed(access);
        let token = |name: &str, scope| NewToken { name: name.parse().expect("name"), scope, expires_at: None };
        let now = api.clock.now();
        let admin = api.tokens.create(token("admin", Scope::Admin), now).await.expect("a token");
        let reader = api.tokens.create(token("reader", Scope::Read), now).await.expect("a token");
        for (method, target) in REQUESTS {
            let codes = ["token_required", "public_off", "token_invalid", "scope_insufficient"];
            let local = api.administrator(method, target, "{}").await;
            assert!(!codes.iter().any(|code| String::from_utf8_lossy(&local.body).contains(code)), "{local:?}");
            for (secret, is_enough) in [(&admin.secret, true), (&reader.secret, method == "GET")] {
                let bearer = format!("Bearer {}", secret.expose());
                let request = public(method, target).header(header::AUTHORIZATION, bearer);
                let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from("{}"));
                let answer = api.send(request.expect("request")).await;
                let is_refused = codes.iter().any(|code| String::from_utf8_lossy(&answer.body).contains(code));
                assert_eq!(is_refused, !is_enough, "{method} {target}: {answer:?}");
            }
        }
    }
}
