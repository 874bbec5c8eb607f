//! Questions and hints that a new user meets.
//! Promise: it outlives the code below it.

use std::net::TcpListener;

use serde_json::json;

use super::webhook::{delivery, registered};
use super::{Service, TO, UNKNOWN, domain, on_terminal};
use crate::support::front::Answer;

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_domain_is_asked_for_and_says_what_goes() {
    let service = Service::start().await;
    service.run_local(&["domain", "add", "a.test", "--skip-dns-check"]).await.ok();
    for to in ["x@a.test", "y@a.test"] {
        registered(&service, to, "https://hooks.example/").await;
    }
    let left = async || service.run(&["domain", "ls"]).await.stdout.matches("a.test\t").count();
    let refused = service.run_local(&["domain", "rm", "a.test"]).await;
    assert_eq!((refused.code, left().await), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    let dry = service.run_local(&["domain", "rm", "a.test", "--dry-run"]).await;
    assert_eq!((dry.code, dry.stdout.as_str(), left().await), (Some(0), "a.test\t2\n", 1), "{dry:?}");
    assert_eq!(service.run_local(&["domain", "rm", "b.test", "--dry-run"]).await.code, Some(3));

    let no = on_terminal(&service, "n\n", &["domain", "rm", "a.test"]).await;
    assert_eq!((no.code, left().await), (Some(0), 1), "{no:?}");
    assert!(no.text.contains("its 2 webhooks and their secrets") && no.text.contains("nothing was removed"), "{no:?}");
    let yes = on_terminal(&service, "y\n", &["domain", "rm", "a.test"]).await;
    assert_eq!((yes.code, left().await), (Some(0), 0), "{yes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_leaves_errors_without_hints() {
    let service = Service::start().await;
    let args = ["read", &UNKNOWN[..4], "--html"];
    let with_hint = service.run(&args).await;
    let quiet = service.run(&[&["-q"], &args[..]].concat()).await;
    assert_eq!((with_hint.code, quiet.code), (Some(2), Some(2)));
    assert!(with_hint.stderr.contains("hint:"), "{with_hint:?}");
    assert!(quiet.stderr.starts_with("error:") && !quiet.stderr.contains("hint:"), "{quiet:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_piped_to_delete_cannot_be_asked_about() {
    let service = Service::start().await;
    let screen = on_terminal(&service, "", &["delete", "-"]).await;
    assert_eq!(screen.code, Some(2), "{screen:?}");
    assert!(screen.text.contains("standard input") && !screen.text.contains("without a terminal"), "{screen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn active_patterns_are_no_lack_of_domains() {
    let service = Service::with("domain = ['*']").await;
    let outcome = service.run_local(&["domain", "ls", "--active"]).await;
    assert!(outcome.stderr.contains("mail is received for *"), "{outcome:?}");
    service.answers("GET /api/domains", Answer::json(&json!([domain("a.test", "deactivated")])));
    service.answers("GET /api/domains/active", Answer::json(&json!([])));
    let none = service.run(&["domain", "ls", "--active"]).await;
    assert!(none.stderr.contains("no domain is active"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hints_fit_what_went_wrong() {
    let service = Service::start().await;
    let id = registered(&service, TO, "https://nowhere.invalid/").await;
    for (error, hint) in [("dns", "does not resolve"), ("connect", "listens"), ("timeout", "within 15 s")] {
        let mut attempt = delivery("given_up", None);
        attempt["error"] = error.into();
        service.answers("POST /api/admin/webhooks/{id}/test", Answer::json(&attempt));
        let outcome = service.run_local(&["webhook", "test", &id]).await;
        assert_eq!(outcome.code, Some(8), "{outcome:?}");
        assert!(outcome.stderr.contains(hint) && !outcome.stderr.contains("200 to 299"), "{outcome:?}");
    }

    // A port that closes connections in place of a greeting, as one of HTTP does in the end.
    let closing = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = closing.local_addr().expect("address").to_string();
    std::thread::spawn(move || closing.accept());
    let outcome = service.run_local(&["send-test", TO, "--smtp", &port]).await;
    assert_eq!(outcome.code, Some(6), "{outcome:?}");
    assert!(outcome.stderr.contains("not of HTTP"), "{outcome:?}");
}
