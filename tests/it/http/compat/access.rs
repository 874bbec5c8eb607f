//! Who may use the interfaces.

use std::net::SocketAddr;

use axum::body::Body;
use axum::http::{Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempmail::clock::Clock as _;
use tempmail::config::{CompatApi, Config, Endpoint, PublicAccess};
use tempmail::http::Peer;
use tempmail::model::Scope;
use tempmail::tokens::NewToken;

use super::{TestApi, listed, mailpit, public, receive, text, with};

/// The statuses of reading and of deleting, with these header fields and from this address.
async fn statuses(api: &TestApi, peer: &str, fields: &[(&str, &str)]) -> [u16; 2] {
    let mut statuses = [0; 2];
    for (status, method) in statuses.iter_mut().zip(["GET", "DELETE"]) {
        let peer: SocketAddr = peer.parse().expect("address");
        let request = Request::builder().method(method).uri("/api/v1/messages").header(header::HOST, "localhost");
        let request =
            fields.iter().fold(request.extension(Peer(peer)), |request, (name, value)| request.header(*name, *value));
        *status = api.send(request.body(Body::empty()).expect("request")).await.status.as_u16();
    }
    statuses
}

#[tokio::test]
async fn only_programs_of_this_machine_need_no_token() {
    type Configure = fn(&mut Config);
    let configurations: [(&str, Configure, [u16; 2]); 6] = [
        ("loopback", |_| {}, [200, 200]),
        (
            "beyond loopback",
            |config| config.http.listen = vec![Endpoint::Tcp("0.0.0.0:8080".parse().expect("address"))],
            [401, 401],
        ),
        ("any origin", |config| config.http.allowed_origins = Some(vec!["*".to_owned()]), [401, 401]),
        ("closed to readers", |config| config.public.read = PublicAccess::Token, [401, 401]),
        ("closed to deletions", |config| config.public.delete = PublicAccess::Off, [200, 401]),
        (
            "a trusted proxy",
            |config| config.http.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")],
            [200, 200],
        ),
    ];
    for (name, configure, expected) in configurations {
        for compat_api in [CompatApi::Mailpit, CompatApi::MailHog] {
            let api = with(compat_api, configure);
            assert_eq!(statuses(&api, "127.0.0.1:5000", &[]).await, expected, "{name}");
            assert_eq!(statuses(&api, "[::ffff:127.0.0.1]:5000", &[]).await, expected, "{name}");
            assert_eq!(statuses(&api, "192.0.2.1:5000", &[]).await, [401, 401], "{name}");
            for field in ["x-forwarded-for", "forwarded"] {
                assert_eq!(statuses(&api, "127.0.0.1:5000", &[(field, "192.0.2.1")]).await, [401, 401], "{name}");
            }
        }
    }
}

#[tokio::test]
async fn a_token_opens_what_its_scope_permits() {
    let api = with(CompatApi::Mailpit, |config| {
        config.http.listen = vec![Endpoint::Tcp("0.0.0.0:8080".parse().expect("address"))];
    });
    let now = api.clock.now();
    for (scope, expected) in [(Scope::Admin, [200, 200]), (Scope::Read, [200, 403])] {
        let token = NewToken { name: scope.to_string().parse().expect("name"), scope, expires_at: None };
        let token = api.tokens.create(token, now).await.expect("a token").secret.expose().to_owned();
        let basic = format!("Basic {}", STANDARD.encode(format!("ci:{token}")));
        for credentials in [format!("Bearer {token}"), basic] {
            let fields = [("authorization", credentials.as_str())];
            assert_eq!(statuses(&api, "192.0.2.1:5000", &fields).await, expected, "{credentials}");
        }
    }
    let wrong = format!("Basic {}", STANDARD.encode("ci:wrong"));
    assert_eq!(statuses(&api, "192.0.2.1:5000", &[("authorization", &wrong)]).await, [401, 401]);
    let local = mailpit();
    assert_eq!(
        statuses(&local, "127.0.0.1:5000", &[("authorization", &wrong)]).await,
        [200, 200],
        "no token is needed"
    );
    // Wrong tokens are counted, so that nobody can try many.
    for _ in 0..40 {
        statuses(&api, "192.0.2.1:5000", &[("authorization", &wrong)]).await;
    }
    assert_eq!(statuses(&api, "192.0.2.1:5000", &[("authorization", &wrong)]).await, [429, 429]);
    let refused = api.get("/api/v1/messages").await;
    assert!(refused.header("www-authenticate").expect("a challenge").starts_with("Basic "));
    assert_eq!(text(&refused).0, 401);
}

#[tokio::test]
async fn pages_of_other_sites_neither_read_nor_delete() {
    let api = mailpit();
    receive(&api, &["ann@example.test"], "private").await;
    for (method, status) in [("GET", 200), ("DELETE", 403)] {
        let request = public(method, "/api/v1/messages").header(header::ORIGIN, "https://evil.test");
        let answer = api.send(request.body(Body::empty()).expect("request")).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (status, None), "{method}");
    }
    let request = Request::builder().uri("/api/v1/messages").header(header::HOST, "evil.test");
    let peer = Peer("127.0.0.1:5000".parse().expect("address"));
    let answer = api.send(request.extension(peer).body(Body::empty()).expect("request")).await;
    assert_eq!(answer.problem(), "host_not_allowed");
    assert_eq!(listed(&api).await, ["private"]);
}
