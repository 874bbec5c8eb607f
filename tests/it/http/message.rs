//! `GET /api/mail/messages/{id}` and its raw form: all that is known of a message, and nothing of other recipients.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::json;

use super::{TestServer, damage};
use crate::support::test_disk::TestDisk;

const RAW: &str = "From: bob@sender.test\r\nTo: ann@example.test\r\nSubject: s\r\n\
                   Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\ntext & more\r\n--m\r\n\
                   Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--m--\r\n";

#[tokio::test]
async fn a_message_shows_all_that_is_known() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], RAW).await.remove(0);
    let answer = api.get(&format!("/api/mail/messages/{id}")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json(),
        json!({
            "id": id,
            "recipient": "ann@example.test",
            "from": "bob@sender.test",
            "subject": "s",
            "message": "text &amp; more",
            "receivedAt": "2023-11-14 22:13:20",
            "bodyText": "text & more",
            "header": {
                "from": [{ "name": "", "address": "bob@sender.test" }],
                "to": [{ "name": "", "address": "ann@example.test" }],
                "cc": [],
                "replyTo": [],
                "messageId": "",
                "date": "",
            },
            "headers": [
                { "name": "From", "value": "bob@sender.test" },
                { "name": "To", "value": "ann@example.test" },
                { "name": "Subject", "value": "s" },
                { "name": "Content-Type", "value": "multipart/mixed; boundary=m" },
            ],
            "attachments": [{ "index": 0, "filename": "a.pdf", "contentType": "application/pdf", "size": 5 }],
            "codes": [],
            "links": [],
            "size": RAW.len(),
            "expiresAt": "2023-11-15 00:13:20",
            "envelope": {
                "reversePath": "bounces@sender.test",
                "client": "127.0.0.1",
                "helo": "client.test",
                "protocol": "ESMTP",
            },
        })
    );
}

#[tokio::test]
async fn raw_is_the_trace_and_then_the_octets() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], RAW).await.remove(0);
    let answer = api.get(&format!("/api/mail/messages/{id}/raw")).await;
    assert_eq!(answer.header("content-type"), Some("message/rfc822"));
    assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
    let text = String::from_utf8(answer.body.to_vec()).expect("text");
    let trace = text.strip_suffix(RAW).expect("the octets as received");
    assert!(trace.starts_with("Return-Path: <bounces@sender.test>\r\nReceived: from client.test ([127.0.0.1])\r\n"));
    assert!(trace.contains("for <ann@example.test>;"));
}

#[tokio::test]
async fn a_message_shows_its_codes_and_links() {
    let api = TestServer::start().await;
    let raw = "Subject: Your login code\r\nList-Unsubscribe: <https://x.test/u>\r\nContent-Type: text/html\r\n\r\n\
               <p>Your login code is</p><h1>482 913</h1><p>or <a href=\"https://x.test/login?t=a1b2c3d4&amp;u=1\">log in</a></p>";
    let id = api.receive(&["ann@example.test"], raw).await.remove(0);
    let json = api.get(&format!("/api/mail/messages/{id}")).await.json();
    assert_eq!(
        json["codes"],
        json!([{ "code": "482913", "kind": "otp", "confidence": json["codes"][0]["confidence"] }])
    );
    let links = json["links"].as_array().expect("links");
    assert_eq!(links.len(), 2);
    assert_eq!(
        (&links[0]["url"], &links[0]["text"]),
        (&json!("https://x.test/login?t=a1b2c3d4&u=1"), &json!("log in"))
    );
    assert_eq!((&links[0]["kind"], &links[1]["kind"]), (&json!("sign_in"), &json!("unsubscribe")));
    for finding in [&json["codes"][0], &links[0], &links[1]] {
        assert!(finding["confidence"].as_f64().is_some_and(|it| (0.5..=1.0).contains(&it)), "{finding}");
    }
}

#[tokio::test]
async fn one_recipient_never_learns_of_another() {
    let api = TestServer::start().await;
    let ids = api.receive(&["ann@example.test", "secret@example.test"], "Subject: s\r\n\r\n").await;
    for target in [format!("/api/mail/messages/{}", ids[0]), format!("/api/mail/messages/{}/raw", ids[0])] {
        let body = api.get(&target).await.body;
        let text = String::from_utf8_lossy(&body);
        assert!(!text.contains("secret") && !text.contains(&ids[1]), "{text}");
    }
}

#[tokio::test]
async fn unknown_and_invalid_ids_get_different_errors() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], "").await.remove(0);
    for tail in ["", "/raw", "/html", "/text", "/attachments/0"] {
        for bad in ["1", "%ff", "0190b6a57c3e7d2f8a4b1c5d9e0f2a3b", "..%2f..%2fetc"] {
            let answer = api.get(&format!("/api/mail/messages/{bad}{tail}")).await;
            assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, "id_invalid"), "{bad}");
        }
        let unknown = api.get(&format!("/api/mail/messages/0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b{tail}")).await;
        assert_eq!((unknown.status.as_u16(), unknown.problem().as_str()), (404, "not_found"));
        let status = api.get(&format!("/api/mail/messages/{}{tail}", id.to_uppercase())).await.status;
        assert_eq!(status, if tail == "/attachments/0" { 404 } else { 200 });
    }
    api.clock.advance(Duration::from_hours(2));
    assert_eq!(api.get(&format!("/api/mail/messages/{id}")).await.problem(), "not_found", "it has expired");
}

#[tokio::test]
async fn an_id_opens_no_role_address() {
    let api = TestServer::with("domain = ['example.com']").await;
    let id = api.receive(&["postmaster@example.com"], "Content-Type: image/png\r\n\r\nx").await.remove(0);
    for tail in ["", "/raw", "/html", "/text", "/attachments/0"] {
        let target = format!("/api/mail/messages/{id}{tail}");
        assert_eq!(api.get(&target).await.problem(), "role_address");
        assert_eq!(api.administrator("GET", &target, "").await.status, 200);
    }
}

#[tokio::test]
async fn damaged_octets_are_named() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let id = api.receive(&["ann@example.test"], "the text of the mail").await.remove(0);
    damage(&disk, "the text of the mail");
    let answer = api.get(&format!("/api/mail/messages/{id}")).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (500, "email_damaged"));
    assert!(!String::from_utf8_lossy(&answer.body).contains("segment"));
    api.receive(&["ann@example.test"], "Subject: after it\r\n\r\n").await;
    let waited = api.get("/api/mail/wait?to=ann@example.test&timeout=0").await;
    assert_eq!(waited.json()["subject"], "after it", "whoever waits is not kept by it");
}

#[tokio::test]
async fn head_works_where_get_does() {
    let api = TestServer::start().await;
    let id = api.receive(&["ann@example.test"], RAW).await.remove(0);
    for target in [
        "/".to_owned(),
        "/healthz".to_owned(),
        format!("/api/mail/messages/{id}"),
        format!("/api/mail/messages/{id}/raw"),
        format!("/api/mail/messages/{id}/html"),
        format!("/api/mail/messages/{id}/text"),
        format!("/api/mail/messages/{id}/attachments/0"),
    ] {
        let (head, get) = (api.call("HEAD", &target).await, api.get(&target).await);
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{target}");
        assert_eq!(head.header("content-type"), get.header("content-type"));
    }
}
