//! Messages that the administrator, and nobody else, puts into inboxes over HTTP.
//! Promise: it outlives the code below it.

use serde_json::{Value, json};

use super::{Answer, TestServer};

const TARGET: &str = "/api/mail/messages?to=ann@example.test";
const RAW: &str = "From: Bob <bob@sender.test>\r\nSubject: put\r\n\r\ntext\r\n";

async fn submit(api: &TestServer, target: &str, content_type: &str, raw: &str) -> Answer {
    Answer::to(api.admin("POST", target).header("content-type", content_type).body(raw.to_owned())).await
}

#[tokio::test]
async fn a_message_is_in_the_inboxes_when_it_is_answered() {
    let api = TestServer::start().await;
    let target = format!("{TARGET}&to=bob@example.test&to=Ann@example.test&from=bounces@sender.test");
    let answer = submit(&api, &target, "message/rfc822", RAW).await;
    assert_eq!(answer.status, 201);
    let emails = answer.json()["emails"].clone();
    let recipients: Vec<_> = emails.as_array().expect("array").iter().map(|email| &email["recipient"]).collect();
    assert_eq!(recipients, ["ann@example.test", "bob@example.test"]);
    let id = emails[0]["id"].as_str().expect("id");
    let email = api.get(&format!("/api/mail/messages/{id}")).await.json();
    assert_eq!(email["subject"], "put");
    assert_eq!(email["envelope"]["reversePath"], "bounces@sender.test");
    assert_eq!(email["envelope"]["protocol"], "HTTP");
    let raw = api.get(&format!("/api/mail/messages/{id}/raw")).await;
    assert!(raw.body.ends_with(RAW.as_bytes()));
    assert_eq!(api.get("/api/mail/messages?to=bob@example.test").await.json()["total"], 1);
}

#[tokio::test]
async fn nobody_else_may_and_nothing_else_is_taken() {
    let api = TestServer::start().await;
    let mail = "message/rfc822";
    let of_public = Answer::to(api.request("POST", TARGET).header("content-type", mail).body(RAW)).await;
    assert_eq!((of_public.status.as_u16(), of_public.problem().as_str()), (401, "token_required"));
    for (target, content_type, status, code) in [
        ("/api/mail/messages", mail, 400, "parameter_missing"),
        ("/api/mail/messages?to=ann", mail, 400, "address_invalid"),
        ("/api/mail/messages?to=ann@unknown.test", mail, 422, "domain_unknown"),
        ("/api/mail/messages?to=ann@example.test&from=x", mail, 400, "address_invalid"),
        (TARGET, "text/plain", 415, "content_type_unsupported"),
    ] {
        let answer = submit(&api, target, content_type, RAW).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (status, code), "{target}");
    }
    let large = "x".repeat(300 * 1024 + 1);
    let answer = submit(&api, TARGET, mail, &large).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (413, "body_too_large"));
    assert_eq!(api.get(TARGET).await.json()["total"], 0);
}

#[tokio::test]
async fn the_header_says_who_wrote_to_whom_and_when() {
    let api = TestServer::start().await;
    let raw = "From: =?utf-8?q?J=C3=BCrgen?= <j@sender.test>\r\nTo: \"Ann, Lee\" <ann@example.test>, bob@example.test\r\n\
               Cc: Team: c@example.test;\r\nReply-To: r@sender.test\r\nMessage-ID: <1.2@sender.test>\r\n\
               Date: Tue, 14 Nov 2023 23:13:20 +0100\r\n\r\n";
    let id = api.receive(&["ann@example.test"], raw).await.remove(0);
    let header = api.get(&format!("/api/mail/messages/{id}")).await.json()["header"].clone();
    let named = |name: &str, address: &str| json!({"name": name, "address": address});
    let expected = json!({
        "from": [named("Jürgen", "j@sender.test")],
        "to": [named("Ann, Lee", "ann@example.test"), named("", "bob@example.test")],
        "cc": [named("", "c@example.test")],
        "replyTo": [named("", "r@sender.test")],
        "messageId": "1.2@sender.test",
        "date": "2023-11-14 22:13:20",
    });
    assert_eq!(header, expected);
    let id = api.receive(&["ann@example.test"], "Date: yesterday\r\n\r\n").await.remove(0);
    let header = api.get(&format!("/api/mail/messages/{id}")).await.json()["header"].clone();
    let empty: Value = json!({"from": [], "to": [], "cc": [], "replyTo": [], "messageId": "", "date": ""});
    assert_eq!(header, empty);
}
