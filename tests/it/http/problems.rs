//! Errors: their exact bodies, and those that no resource makes.

use tempmail::store::StoreError;

use super::{TestApi, public};

#[tokio::test]
async fn a_problem_has_these_members_in_this_order() {
    let api = TestApi::new();
    let answer = api.get("/api/mail/messages").await;
    assert_eq!(
        String::from_utf8_lossy(&answer.body),
        r#"{"type":"about:blank","title":"Bad Request","status":400,"detail":"the parameter 'to' is missing","code":"parameter_missing"}"#
    );
    let answer = api.get("/no/such/path").await;
    assert_eq!(
        String::from_utf8_lossy(&answer.body),
        r#"{"type":"about:blank","title":"Not Found","status":404,"detail":"this path does not exist; GET / lists the paths","code":"unknown_path"}"#
    );
}

#[tokio::test]
async fn unknown_paths_are_404() {
    let api = TestApi::new();
    for target in
        ["/api", "/api/", "/api/webhooks/", "/api/mail/messages/", "/api/mail/Messages", "/%61pi/mail/messages", "//"]
    {
        let answer = api.get(target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (404, "unknown_path"), "{target}");
    }
}

#[tokio::test]
async fn other_methods_are_405_with_those_allowed() {
    let api = TestApi::new();
    for (method, target, allow) in [
        ("PUT", "/api/mail/messages?to=a@example.test", "GET,HEAD,POST"),
        ("POST", "/api/mail/messages/018bcfe5-6800-7759-acba-48a6df3d9aeb/raw", "GET,HEAD"),
        ("GET", "/api/mail/delete", "DELETE"),
        ("DELETE", "/api/domains", "GET,HEAD,POST"),
        ("PATCH", "/", "GET,HEAD"),
    ] {
        let answer = api.call(method, target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (405, "method_not_allowed"), "{target}");
        assert_eq!(answer.header("allow"), Some(allow));
    }
}

#[tokio::test]
async fn errors_of_the_store_show_nothing_of_its_inside() {
    let api = TestApi::new();
    for (error, status, code) in [
        (StoreError::Full, 507, "storage_full"),
        (StoreError::Failed("secret".into()), 503, "store_unavailable"),
        (StoreError::OutcomeUnknown, 503, "store_unavailable"),
        (StoreError::Stopping, 503, "store_unavailable"),
        (StoreError::TooLarge { limit: 5 }, 500, "internal"),
    ] {
        api.store.fail_with(Some(error));
        let answer = api.get("/api/mail/messages?to=a@example.test").await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code));
        assert_eq!(answer.header("retry-after").is_some(), status == 503);
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret"));
    }
}

/// The log said that a request failed, but not which one.
#[tokio::test]
async fn a_failure_is_logged_once_with_its_request() {
    let log = tempfile::NamedTempFile::new().expect("file");
    let writer = log.reopen().expect("the same file");
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.try_clone().expect("a copy"));
    // While there is one subscriber only, tracing asks the thread that comes first to a span or an event whether anyone
    // wants it, for all threads. The threads of other tests have no subscriber.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    let api = TestApi::new();
    api.store.fail_with(Some(StoreError::Failed("the inside".into())));
    let failed = api.get("/api/mail/messages?to=a@example.test").await;
    assert_eq!(failed.status, 503);
    api.store.fail_with(Some(StoreError::Stopping));
    assert_eq!(api.get("/api/mail/messages?to=a@example.test").await.status, 503);
    let lines = std::fs::read_to_string(log.path()).expect("the lines");
    assert_eq!(lines.matches("a request failed").count(), 1, "{lines}");
    assert!(lines.contains("the inside") && lines.contains("GET /api/mail/messages"), "{lines}");
    assert!(lines.contains(failed.header("x-request-id").expect("an id")), "{lines}");
    assert!(!lines.contains("example.test"), "an address is in the log: {lines}");
}

#[tokio::test]
async fn every_answer_carries_the_fields_that_guard_mail() {
    let api = TestApi::new();
    for target in ["/", "/api/mail/messages?to=a@example.test", "/no-such-path"] {
        let answer = api.get(target).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{target}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
}

#[tokio::test]
async fn each_answer_has_an_id_of_its_own_and_failures_repeat_it() {
    let api = TestApi::new();
    let mut ids = std::collections::BTreeSet::new();
    for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
        let request = public(method, "/healthz").header("x-request-id", "of-the-client");
        let answer = api.send(request.body(axum::body::Body::empty()).expect("request")).await;
        assert!(!String::from_utf8_lossy(&answer.body).contains("requestId"), "{answer:?}");
        ids.insert(answer.header("x-request-id").expect("an id").to_owned());
    }
    assert!(ids.len() == 4 && !ids.contains("of-the-client"), "{ids:?}");
    api.store.fail_with(Some(StoreError::Failed("the inside".into())));
    let answer = api.get("/api/mail/messages?to=a@example.test").await;
    assert_eq!(answer.problem(), "store_unavailable");
    let problem: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(problem["requestId"].as_str(), answer.header("x-request-id"));
    assert_eq!(answer.header("content-length").expect("a length"), answer.body.len().to_string());
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test]
async fn a_panic_in_a_handler_fails_only_its_request() {
    let api = TestApi::new();
    let ids = api.receive(&["ann@example.test", "bob@example.test"], "Subject: s\r\n\r\n").await;
    api.store.panic_at_load(ids[0]);
    for target in [format!("/api/mail/messages/{}", ids[0]), "/api/mail/messages?to=ann@example.test".to_owned()] {
        let answer = api.get(&target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (500, "internal"), "{target}");
    }
    assert_eq!(api.get(&format!("/api/mail/messages/{}", ids[1])).await.status, 200);
}
