//! `tempmail read`
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::service::{Service, email, id_of};
use crate::support::command::output;

const TO: &str = "hello@example.test";

fn service() -> Service {
    let service = Service::start();
    let mut newest = email(2, TO, "newest");
    newest["bodyText"] = json!("line one\r\nline \u{1b}two");
    newest["message"] = json!("<b>html</b>");
    newest["attachments"] = json!([{"index": 0, "filename": "a.pdf", "contentType": "application/pdf", "size": 2048}]);
    service.contents().emails = vec![newest, email(1, TO, "first")];
    service
}

#[test]
fn the_newest_mail_of_an_address_is_shown_for_people() {
    let outcome = service().run(&["read", TO, "--latest"]);
    let expected = format!(
        "From: Ann <ann@sender.test>\nSubject: newest\nDelivered-To: {TO}\nReceived: 2023-11-14T22:13:20Z\n\
         Expires: 2023-11-15T00:13:20Z\nId: {}\n\nline one\nline ␛two\n\nAttachments:\n  0  a.pdf  application/pdf  2 KB\n",
        id_of(2)
    );
    assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (Some(0), expected, String::new()));
}

#[test]
fn codes_and_links_are_shown_above_the_text() {
    let service = service();
    service.contents().emails[0]["codes"] = json!([{"code": "482913", "kind": "otp", "confidence": 0.9}]);
    service.contents().emails[0]["links"] =
        json!([{"url": "https://x.test/v\u{1b}", "kind": "verification", "confidence": 0.9, "text": "Go"}]);
    let outcome = service.run(&["read", TO, "--latest"]);
    let lines = "\nCode: 482913\nLink: https://x.test/v\u{241b} (verification)\n\n";
    assert!(outcome.stdout.contains(lines), "{}", outcome.stdout);
}

#[test]
fn a_mail_with_only_html_is_shown_as_text() {
    let outcome = service().run(&["read", &id_of(1)]);
    assert!(outcome.stdout.ends_with("\n\nHello\n"), "{}", outcome.stdout);
}

#[test]
fn html_and_raw_are_given_as_they_are() {
    let service = service();
    assert_eq!(service.run(&["read", &id_of(2), "--html"]).stdout, "<b>html</b>");
    let raw = output(&mut service.command(&["read", &id_of(2), "--raw"]));
    assert_eq!(raw.stdout, b"Return-Path: <>\r\nSubject: \x1b\xff\r\n\r\nx\r\n");
}

#[test]
fn an_attachment_goes_into_a_pipe_or_a_file_and_replaces_none() {
    let service = service();
    let id = id_of(2);
    let piped = output(&mut service.command(&["read", &id, "--attachment", "0"]));
    assert_eq!(piped.stdout, b"%PDF\0\xff");

    let dir = tempfile::tempdir().expect("directory");
    let (whole, named) = (dir.path().to_str().expect("path"), dir.path().join("a.pdf"));
    let args = ["read", &id, "--attachment", "0", "-O", whole];
    let outcome = service.run(&args);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{}", outcome.stderr);
    assert_eq!(std::fs::read(&named).expect("the file"), b"%PDF\0\xff");

    std::fs::write(&named, "mine, and longer").expect("write");
    let refused = service.run(&args);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&named).expect("the file"), b"mine, and longer");
    assert_eq!(service.run(&[&args[..], &["--yes"]].concat()).code, Some(0));
    assert_eq!(std::fs::read(&named).expect("the file"), b"%PDF\0\xff");
}

#[test]
fn an_attachment_never_leaves_the_directory() {
    let service = service();
    service.contents().emails[0]["attachments"][0]["filename"] = json!("../../b\u{1b}.pdf");
    let dir = tempfile::tempdir().expect("directory");
    let outcome = service.run(&["read", &id_of(2), "--attachment", "0", "-O", dir.path().to_str().expect("path")]).ok();
    assert!(dir.path().join("_.._b_.pdf").is_file(), "{}", outcome.stderr);
}

#[test]
fn an_attachment_of_a_long_name_is_saved_where_is_said() {
    let service = service();
    let long = format!("{}\u{ad}.pdf", "a".repeat(249));
    service.contents().emails[0]["attachments"][0]["filename"] = long.into();
    let dir = tempfile::tempdir().expect("directory");
    let outcome = service.run(&["read", &id_of(2), "--save-all", dir.path().to_str().expect("path")]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 1), "{}", outcome.stderr);
    assert_eq!(std::fs::read(outcome.stdout.trim_end()).expect("the file"), b"%PDF\0\xff");
}

#[test]
fn json_has_every_field() {
    let outcome = service().run(&["read", TO, "--latest", "--json"]);
    let detail: Value = outcome.json();
    assert_eq!((&detail["bodyText"], &detail["size"]), (&json!("line one\r\nline \u{1b}two"), &json!(100)));
}

#[test]
fn what_is_not_there_is_exit_code_3() {
    let service = service();
    for args in [
        &["read", &id_of(2), "--attachment", "1"][..],
        &["read", &id_of(9)],
        &["read", "nobody@example.test", "--latest"],
    ] {
        let outcome = service.run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn an_address_needs_latest_and_an_id_must_not_have_it() {
    let service = service();
    let id = id_of(1);
    let address = service.run(&["read", TO]);
    assert_eq!(address.code, Some(2));
    assert!(address.stderr.contains("--latest"), "{}", address.stderr);
    assert_eq!(service.run(&["read", &id, "--latest"]).code, Some(2));
    assert_eq!(service.run(&["read", &id, "--raw", "--html"]).code, Some(2));
    for args in
        [&["--raw", "--json"][..], &["--attachment", "0", "--raw"], &["--attachment", "0", "--json"], &["-O", "x"]]
    {
        assert_eq!(service.run(&[&["read", &id], args].concat()).code, Some(2), "{args:?}");
    }
    assert!(service.contents().requests.is_empty());
}
