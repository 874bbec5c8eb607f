//! `/metrics`: who may read it, its form, and that it shows a store in trouble.
//! Promise: it outlives the code below it.

use super::{TestServer, refuses_mail, unwell};
use crate::support::exposition::Exposition;

#[tokio::test]
async fn anyone_may_read_it_and_no_one_may_write() {
    let api = TestServer::start().await;
    let answer = api.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    Exposition::parse(answer.text());
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
    let api = TestServer::start().await;
    let answer = api.get_with("/metrics", "origin", "https://elsewhere.example").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let answer = api.get_with("/metrics", "host", "rebound.example").await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (421, "host_not_allowed"));
    let exposition = Exposition::parse(api.get("/metrics").await.text());
    let refused = [("route", "/metrics"), ("class", "4xx")];
    assert_eq!(exposition.value("tempmail_http_requests_total", &refused), 1, "what is refused counts as well");
}

/// A scrape shows what is wrong when everything else fails.
#[tokio::test]
async fn a_store_in_trouble_names_its_cause_and_hides_no_other_metric() {
    for cause in ["storage_full", "store_unavailable"] {
        let (api, _trouble) = unwell(cause).await;
        api.get("/healthz").await;
        refuses_mail(&api).await;
        let answer = api.get("/metrics").await;
        assert_eq!(answer.status, 200);
        let exposition = Exposition::parse(answer.text());
        assert_eq!(exposition.value("tempmail_store_accepts_mail", &[]), 0);
        assert_eq!(exposition.value("tempmail_store_trouble", &[("cause", cause)]), 1);
        let alive = [("route", "/healthz"), ("class", "2xx")];
        assert_eq!(exposition.value("tempmail_http_requests_total", &alive), 1);
    }
    let exposition = Exposition::parse(TestServer::start().await.get("/metrics").await.text());
    assert_eq!(exposition.value("tempmail_store_accepts_mail", &[]), 1);
    assert_eq!(exposition.value("tempmail_store_emails", &[]), 0);
}
