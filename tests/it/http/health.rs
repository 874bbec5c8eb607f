//! `/`, `/healthz` and `/readyz`.

use serde_json::{Value, json};
use tempmail::store::StoreError;

use super::TestApi;

#[tokio::test]
async fn alive_is_not_ready() {
    let api = TestApi::new();
    assert_eq!(api.get("/readyz").await.json(), json!({ "status": "ready" }));
    for (fault, cause) in [
        (StoreError::Full, "storage_full"),
        (StoreError::Stopping, "stopping"),
        (StoreError::WriterEnded, "writer_ended"),
        (StoreError::Failed("secret".into()), "store_unavailable"),
    ] {
        api.store.fail_with(Some(fault));
        assert_eq!(api.get("/healthz").await.status, 200);
        let answer = api.get("/readyz").await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (503, "not_ready"));
        let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(body["cause"], cause);
        assert!(!body.to_string().contains("secret"));
    }
}

#[tokio::test]
async fn the_root_points_to_what_is_here() {
    let body = TestApi::new().get("/").await.json();
    assert_eq!(body["service"], "tempmail");
    assert!(body["endpoints"]["inbox"].as_str().expect("text").contains("/api/mail/messages"));
}
