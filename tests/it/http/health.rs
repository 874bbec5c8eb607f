//! `/`, `/healthz` and `/readyz`: alive is not ready.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{TestServer, refusal, refuses_mail, unwell};

#[tokio::test]
async fn alive_is_not_ready() {
    assert_eq!(TestServer::start().await.get("/readyz").await.json(), json!({ "status": "ready" }));
    for cause in ["storage_full", "store_unavailable"] {
        let (api, _trouble) = unwell(cause).await;
        refuses_mail(&api).await;
        assert_eq!(api.get("/healthz").await.status, 200);
        let answer = api.get("/readyz").await;
        assert_eq!(refusal(&answer), (503, "not_ready".into()));
        let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(body["cause"], cause);
        assert!(!answer.text().contains("permission denied"), "{body}");
    }
}

#[tokio::test]
async fn the_root_points_to_what_is_here() {
    let body = TestServer::start().await.get("/").await.json();
    assert_eq!(body["service"], "tempmail");
    assert!(body["endpoints"]["inbox"].as_str().expect("text").contains("/api/mail/messages"));
}
