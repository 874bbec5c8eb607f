//! `tempmail read`
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{Service, TO, UNKNOWN, alone};
use crate::support::front::{Answer, Front};

const PDF: &[u8] = b"%PDF\0\xff";
/// The octets of the raw message.
const RAW: &[u8] = b"Return-Path: <>\r\nSubject: \x1b\xff\r\n\r\nx\r\n";

/// A service with two mails, the newest of which has a file and every kind of body; their ids, the newest first.
async fn service() -> (Service, Vec<String>) {
    let service = Service::start().await;
    service.deliver(TO, "Subject: first\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>").await;
    service.send(TO, "newest").await;
    let ids = service.ids(TO).await;
    with(&service, &ids[0], |_| {}).await;
    let newest = format!("GET /api/mail/messages/{}", ids[0]);
    service.answers(&format!("{newest}/raw"), Answer::of("message/rfc822", RAW));
    service.answers(&format!("{newest}/attachments/0"), Answer::of("application/pdf", PDF));
    service.answers(&format!("{newest}/attachments/1"), Answer::problem(404, "not_found"));
    (service, ids)
}

/// Lets the front show the newest mail with its bodies and its file, and with a change.
async fn with(service: &Service, id: &str, change: impl FnOnce(&mut Value)) {
    let path = format!("/api/mail/messages/{id}");
    let mut newest = service.server.get(&path).await.json();
    newest["bodyText"] = json!("line one\r\nline \u{1b}two");
    newest["message"] = json!("<b>html</b>");
    newest["size"] = json!(100);
    newest["attachments"] = json!([{"index": 0, "filename": "a.pdf", "contentType": "application/pdf", "size": 2048}]);
    change(&mut newest);
    service.answers(&format!("GET {path}"), Answer::json(&newest));
}

/// What a command of the public prints, octet by octet.
async fn printed(service: &Service, args: &[&str]) -> Vec<u8> {
    let line = service.line(args);
    tokio::task::spawn_blocking(|| line.printed()).await.expect("the command")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_mail_of_an_address_is_shown_for_people() {
    let (service, ids) = service().await;
    let outcome = service.run(&["read", TO, "--latest"]).await;
    let expected = format!(
        "From: Ann <ann@sender.test>\nSubject: newest\nDelivered-To: {TO}\nReceived: 2023-11-14T22:13:20Z\n\
         Expires: 2023-11-15T00:13:20Z\nId: {}\n\nline one\nline ␛two\n\nAttachments:\n  0  a.pdf  application/pdf  2 KB\n",
        ids[0]
    );
    assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (Some(0), expected, String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_and_links_are_shown_above_the_text() {
    let (service, ids) = service().await;
    let link = json!({"url": "https://x.test/v\u{1b}", "kind": "verification", "confidence": 0.9, "text": "Go"});
    with(&service, &ids[0], |mail| {
        mail["codes"] = json!([{"code": "482913", "kind": "otp", "confidence": 0.9}]);
        mail["links"] = json!([link]);
    })
    .await;
    let outcome = service.run(&["read", TO, "--latest"]).await;
    let lines = "\nCode: 482913\nLink: https://x.test/v\u{241b} (verification)\n\n";
    assert!(outcome.stdout.contains(lines), "{}", outcome.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_with_only_html_is_shown_as_text() {
    let (service, ids) = service().await;
    let outcome = service.run(&["read", &ids[1]]).await;
    assert!(outcome.stdout.ends_with("\n\nHello\n"), "{}", outcome.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn html_and_raw_are_given_as_they_are() {
    let (service, ids) = service().await;
    assert_eq!(service.run(&["read", &ids[0], "--html"]).await.stdout, "<b>html</b>");
    assert_eq!(printed(&service, &["read", &ids[0], "--raw"]).await, RAW);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_goes_into_a_pipe_or_a_file_and_replaces_none() {
    let (service, ids) = service().await;
    let id = &ids[0];
    assert_eq!(printed(&service, &["read", id, "--attachment", "0"]).await, PDF);

    let dir = tempfile::tempdir().expect("directory");
    let (whole, named) = (dir.path().to_str().expect("path"), dir.path().join("a.pdf"));
    let args = ["read", id, "--attachment", "0", "-O", whole];
    let outcome = service.run(&args).await;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{}", outcome.stderr);
    assert_eq!(std::fs::read(&named).expect("the file"), PDF);

    std::fs::write(&named, "mine, and longer").expect("write");
    let refused = service.run(&args).await;
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&named).expect("the file"), b"mine, and longer");
    assert_eq!(service.run(&[&args[..], &["--yes"]].concat()).await.code, Some(0));
    assert_eq!(std::fs::read(&named).expect("the file"), PDF);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_never_leaves_the_directory() {
    let (service, ids) = service().await;
    with(&service, &ids[0], |mail| mail["attachments"][0]["filename"] = json!("../../b\u{1b}.pdf")).await;
    let dir = tempfile::tempdir().expect("directory");
    let outcome =
        service.run(&["read", &ids[0], "--attachment", "0", "-O", dir.path().to_str().expect("path")]).await.ok();
    assert!(dir.path().join("_.._b_.pdf").is_file(), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_of_a_long_name_is_saved_where_is_said() {
    let (service, ids) = service().await;
    let long = format!("{}\u{ad}.pdf", "a".repeat(249));
    with(&service, &ids[0], |mail| mail["attachments"][0]["filename"] = long.into()).await;
    let dir = tempfile::tempdir().expect("directory");
    let outcome = service.run(&["read", &ids[0], "--save-all", dir.path().to_str().expect("path")]).await;
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 1), "{}", outcome.stderr);
    assert_eq!(std::fs::read(outcome.stdout.trim_end()).expect("the file"), PDF);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_has_every_field() {
    let outcome = service().await.0.run(&["read", TO, "--latest", "--json"]).await;
    let detail: Value = outcome.json();
    assert_eq!((&detail["bodyText"], &detail["size"]), (&json!("line one\r\nline \u{1b}two"), &json!(100)));
    assert!(detail["envelope"].is_object(), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_of_a_later_server_are_kept() {
    let (service, ids) = service().await;
    let path = format!("/api/mail/messages/{}", ids[0]);
    let mut later = service.server.get(&path).await.json();
    later["later"] = json!({"helo": "h"});
    later["codes"] = json!([{"code": "1", "kind": "otp", "confidence": 0.9, "until": "t"}]);
    // With a parameter in its type the front does not compare it with the description, which has no such fields.
    let answer = Answer::of("application/json; charset=utf-8", later.to_string());
    service.answers(&format!("GET {path}"), answer);
    assert_eq!(service.run(&["read", &ids[0], "--json"]).await.stdout, format!("{later}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_exit_code_3() {
    let (service, ids) = service().await;
    for args in
        [&["read", &ids[0], "--attachment", "1"][..], &["read", UNKNOWN], &["read", "nobody@example.test", "--latest"]]
    {
        let outcome = service.run(args).await;
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{args:?}: {}", outcome.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_needs_latest_and_an_id_must_not_have_it() {
    let (service, ids) = service().await;
    let id = &ids[1];
    let address = service.run(&["read", TO]).await;
    assert_eq!(address.code, Some(2));
    assert!(address.stderr.contains("--latest"), "{}", address.stderr);
    assert_eq!(service.run(&["read", id, "--latest"]).await.code, Some(2));
    assert_eq!(service.run(&["read", id, "--raw", "--html"]).await.code, Some(2));
    for args in
        [&["--raw", "--json"][..], &["--attachment", "0", "--raw"], &["--attachment", "0", "--json"], &["-O", "x"]]
    {
        assert_eq!(service.run(&[&["read", id], args].concat()).await.code, Some(2), "{args:?}");
    }
    assert!(service.noted().requests.is_empty());
}

#[test]
fn an_end_of_no_id_names_the_address_and_how_many_mails_were_looked_at() {
    for (count, among) in [(3, format!("the mail of {TO}")), (1_000, format!("the newest 1000 mails of {TO}"))] {
        let front = Front::alone();
        let emails: Vec<Value> = (0..count).map(|number| json!({"id": format!("{number:032x}")})).collect();
        let page = json!({"emails": emails, "total": count, "nextCursor": null});
        front.answers("GET /api/mail/messages", Answer::of("text/plain", page.to_string()));
        let outcome = alone(&["--server", &front.url(), "read", TO, "beef"]);
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(outcome.stderr.contains(&format!("no id among {among} begins or ends with beef")), "{outcome:?}");
    }
}
