//! Errors: their exact bodies, and those that no resource makes.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;

use super::{Answer, TestServer, refusal, unwell};
use crate::support::log::Log;
use crate::support::test_disk::TestDisk;
use crate::support::test_disk::rules::Failing;

#[tokio::test]
async fn a_problem_has_these_members_in_this_order() {
    let api = TestServer::start().await;
    let answer = api.get("/api/mail/messages").await;
    assert_eq!(
        answer.text(),
        r#"{"type":"about:blank","title":"Bad Request","status":400,"detail":"the parameter 'to' is missing","code":"parameter_missing"}"#
    );
    let answer = api.get("/no/such/path").await;
    assert_eq!(
        answer.text(),
        r#"{"type":"about:blank","title":"Not Found","status":404,"detail":"this path does not exist; GET / lists the paths","code":"unknown_path"}"#
    );
}

#[tokio::test]
async fn a_value_that_is_not_valid_is_named() {
    let api = TestServer::start().await;
    for (query, code, parameter) in [
        ("to=ann@example.test&limit=0", "parameter_invalid", "limit"),
        ("to=ann@example.test&has=money", "parameter_invalid", "has"),
        ("to=ann@example.test&since=yesterday", "parameter_invalid", "since"),
        ("to=ann@example.test&to=bob@example.test", "parameter_invalid", "to"),
        ("to=ann@example.test&page=1&cursor=", "parameter_invalid", "cursor"),
        ("to=ann", "address_invalid", "to"),
    ] {
        let answer = api.get(&format!("/api/mail/messages?{query}")).await;
        assert_eq!((answer.problem().as_str(), answer.member("parameter")), (code, parameter.into()), "{query}");
    }
}

#[tokio::test]
async fn unknown_paths_are_404() {
    let api = TestServer::start().await;
    for target in
        ["/api", "/api/", "/api/webhooks/", "/api/mail/messages/", "/api/mail/Messages", "/%61pi/mail/messages", "//"]
    {
        let answer = api.get(target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (404, "unknown_path"), "{target}");
    }
}

#[tokio::test]
async fn other_methods_are_405_with_those_allowed() {
    let api = TestServer::start().await;
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
    for (cause, status) in [("storage_full", 507), ("store_unavailable", 503)] {
        let (api, _trouble) = unwell(cause).await;
        let put = api.admin("POST", "/api/mail/messages?to=ann@example.test").header("content-type", "message/rfc822");
        let answer = Answer::to(put.body("x".repeat(200_000))).await;
        assert_eq!(refusal(&answer), (status, cause.into()));
        assert_eq!(answer.header("retry-after").is_some(), status == 503);
        assert!(!answer.text().contains("permission denied"));
    }
}

/// A service that cannot read a mail of Ann.
async fn unreadable() -> (TestServer, Failing) {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    api.deliver("ann@example.test", "Subject: s").await;
    (api, disk.fail(|call| call.is_by_reader_of("journal-").then_some(ErrorKind::PermissionDenied)))
}

/// The log said that a request failed, but not which one.
#[tokio::test]
async fn a_failure_is_logged_once_with_its_request() {
    let log = Log::of_this_thread();
    let (api, _failing) = unreadable().await;
    let failed = api.get("/api/mail/messages?to=ann@example.test").await;
    assert_eq!(failed.status, 503);
    let lines = log.lines();
    let line = lines.lines().find(|line| line.contains("a request failed")).expect("a line");
    assert_eq!(lines.matches("a request failed").count(), 1, "{lines}");
    assert!(line.contains("permission denied") && line.contains("GET /api/mail/messages"), "{line}");
    assert!(line.contains(failed.header("x-request-id").expect("an id")), "{line}");
    assert!(!line.contains("example.test"), "an address is in the log: {line}");
}

#[tokio::test]
async fn every_answer_carries_the_fields_that_guard_mail() {
    let api = TestServer::start().await;
    for target in ["/", "/api/mail/messages?to=a@example.test", "/no-such-path"] {
        let answer = api.get(target).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{target}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
}

#[tokio::test]
async fn each_answer_has_an_id_of_its_own() {
    let (api, _failing) = unreadable().await;
    let mut ids = std::collections::BTreeSet::new();
    for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
        let answer = Answer::to(api.request(method, "/healthz").header("x-request-id", "of-the-client")).await;
        ids.insert(answer.header("x-request-id").expect("an id").to_owned());
    }
    assert!(ids.len() == 4 && !ids.contains("of-the-client"), "{ids:?}");
    let answer = api.get("/api/mail/messages?to=ann@example.test").await;
    assert_eq!(answer.problem(), "store_unavailable");
    assert!(answer.header("x-request-id").is_some());
    assert_eq!(answer.header("content-length").expect("a length"), answer.body.len().to_string());
    assert!(answer.header("retry-after").is_some());
}
