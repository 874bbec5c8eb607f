//! Nodes that start at one moment on a keyspace that nobody made share what people type in at any of them.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use tokio::time::Instant;

use crate::support::http;
use crate::support::ring::Ring;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const TO: &str = "first@example.test";
/// A change at one node counts at the others within seconds.
const WITHIN: Duration = Duration::from_secs(5);

/// Starts three nodes at once, each at another server.
pub(super) async fn share_what_was_typed_in(ring: &Ring) {
    let keyspace = ring.fresh_keyspace();
    let points = ring.contact_points();
    let start = |first: usize| {
        let store = format!("cassandra://{}/{keyspace}", points[first]);
        async move { TestServer::live(&format!("store = '{store}'\ncassandra-timeout = '10s'")).await }
    };
    let (a, b, c) = tokio::join!(start(0), start(1), start(2));
    for (from, name) in [(&a, "a"), (&b, "b"), (&c, "c")] {
        from.send(TO, name, "text").await;
        let page = http::inbox(a.http(), TO).await;
        assert_eq!(page["emails"][0]["subject"], name, "{page}");
    }
    let (status, domain) =
        a.admin_post("/api/admin/domains", &json!({ "domain": "shared.example", "skipDnsCheck": true })).await;
    assert!(status < 300, "{status} {domain}");
    let begun = Instant::now();
    until("another node takes mail for the new domain", async || {
        let domains = c.admin_get("/api/admin/domains").await;
        domains.to_string().contains("shared.example")
    })
    .await;
    println!("starting: a domain is known at another node after {:.1?}", begun.elapsed());
    tokens(&a, &b).await;
    for server in [a, b, c] {
        server.stop().await;
    }
}

/// A token that is made at one node counts at once at another, and one that is revoked there no longer counts here.
async fn tokens(here: &TestServer, there: &TestServer) {
    let (status, token) = here.admin_post("/api/admin/tokens", &json!({ "name": "shared", "scope": "admin" })).await;
    assert!(status < 300, "{status} {token}");
    let token = token["token"].as_str().expect("its text").to_owned();
    let asks = async |server: &TestServer| {
        let request = http::client().get(format!("http://{}/api/admin/status", server.http())).bearer_auth(&token);
        request.send().await.expect("an answer").status()
    };
    assert_eq!(asks(there).await, StatusCode::OK, "a token is known at another node");
    let revoked = there.admin("DELETE", "/api/admin/tokens?id=shared").send().await.expect("an answer");
    let (status, said) = (revoked.status(), revoked.text().await.expect("a body"));
    assert!(status.is_success(), "{status} {said}");
    let begun = Instant::now();
    until("the token is revoked everywhere", async || asks(here).await == StatusCode::UNAUTHORIZED).await;
    let took = begun.elapsed();
    println!("starting: a revoked token counts nowhere after {took:.1?}");
    assert!(took < WITHIN, "it was revoked late");
}
