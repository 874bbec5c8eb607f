//! `/metrics`: who may read it, and its form.

use axum::body::Body;
use axum::http::{Request, header};
use tempmail::http::Peer;
use tempmail::store::StoreError;

use super::{TestApi, public};
use crate::support::exposition::Exposition;

#[tokio::test]
async fn anyone_may_read_it_and_no_one_may_write() {
    let api = TestApi::new();
    let answer = api.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    Exposition::parse(std::str::from_utf8(&answer.body).expect("UTF-8"));
    assert_eq!(api.administrator("GET", "/metrics", "").await.status, 200);
    let head = api.call("HEAD", "/metrics").await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    for method in ["POST", "DELETE"] {
        let refused = api.call(method, "/metrics").await;
        assert_eq!((refused.status.as_u16(), refused.problem().as_str()), (405, "method_not_allowed"));
    }
    for path in ["/metrics/", "/metrics/x", "/api/metrics"] {
        assert_eq!(api.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn another_origin_and_another_host_are_refused_as_everywhere() {
    let api = TestApi::new();
    let foreign = public("GET", "/metrics").header(header::ORIGIN, "https://elsewhere.example");
    let answer = api.send(foreign.body(Body::empty()).expect("request")).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let peer = Peer(([127, 0, 0, 1], 50_000).into());
    let rebound = Request::get("/metrics").header(header::HOST, "rebound.example").extension(peer);
    let answer = api.send(rebound.body(Body::empty()).expect("request")).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (421, "host_not_allowed"));
    let exposition = Exposition::parse(std::str::from_utf8(&api.get("/metrics").await.body).expect("UTF-8"));
    let refused = [("route", "/metrics"), ("class", "4xx")];
    assert_eq!(exposition.value("tempmail_http_requests_total", &refused), 1, "what is refused counts as well");
}

/// A scrape shows what is wrong when everything else fails.
#[tokio::test]
async fn an_unreadable_store_omits_only_its_own_metrics() {
    let api = TestApi::new();
    api.get("/healthz").await;
    for (fault, cause) in [
        (StoreError::Full, "storage_full"),
        (StoreError::Stopping, "stopping"),
        (StoreError::WriterEnded, "writer_ended"),
        (StoreError::Failed("secret".into()), "store_unavailable"),
    ] {
        api.store.fail_with(Some(fault));
        let answer = api.get("/metrics").await;
        assert_eq!(answer.status, 200);
        let text = std::str::from_utf8(&answer.body).expect("UTF-8");
        assert!(!text.contains("secret"), "{text}");
        let exposition = Exposition::parse(text);
        assert_eq!(exposition.value("tempmail_store_accepts_mail", &[]), 0);
        assert_eq!(exposition.value("tempmail_store_trouble", &[("cause", cause)]), 1);
        assert!(!exposition.families.contains_key("tempmail_store_emails"));
        let alive = [("route", "/healthz"), ("class", "2xx")];
        assert_eq!(exposition.value("tempmail_http_requests_total", &alive), 1);
    }
    api.store.fail_with(None);
    let exposition = Exposition::parse(std::str::from_utf8(&api.get("/metrics").await.body).expect("UTF-8"));
    assert_eq!(exposition.value("tempmail_store_emails", &[]), 0);
}
