//! The interface of MailHog: its fields, searches and deletions.
//! Mechanism: it goes with MailHog's interface.

use serde_json::{Value, json};

use super::{Answer, MAIL, delete, receive, with};

/// The JSON of an answer of MailHog.
fn of_mailhog(answer: &Answer) -> Value {
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("text/json")), "{answer:?}");
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[tokio::test]
async fn a_message_of_mailhog_has_its_fields() {
    let api = with("mailhog", "").await;
    api.receive(&["Ann@example.test", "bob@example.test"], MAIL).await;
    let page = of_mailhog(&api.get("/api/v2/messages?start=0&limit=9").await);
    assert_eq!((&page["total"], &page["count"], &page["start"]), (&json!(1), &json!(1), &json!(0)));
    let message = &page["items"][0];
    let path =
        |mailbox: &str, domain: &str| json!({ "Relays": null, "Mailbox": mailbox, "Domain": domain, "Params": "" });
    assert_eq!(message["From"], path("bounces", "sender.test"));
    assert_eq!(message["To"], json!([path("Ann", "example.test"), path("bob", "example.test")]));
    assert_eq!(message["Created"], "2023-11-14T22:13:20.000Z");
    let (_, body) = MAIL.split_once("\r\n\r\n").expect("a body");
    assert_eq!((&message["Content"]["Body"], &message["Content"]["Size"]), (&json!(body), &json!(MAIL.len())));
    assert_eq!(message["Content"]["MIME"], Value::Null);
    let headers = &message["Content"]["Headers"];
    assert_eq!(headers["Subject"], json!(["Your =?utf-8?q?c=C3=B6de?="]));
    assert_eq!(headers["Return-Path"], json!(["<bounces@sender.test>"]));
    let parts = message["MIME"]["Parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 3);
    assert_eq!(
        parts[1],
        json!({
            "Headers": { "Content-Type": ["application/pdf; name=a.pdf"], "Content-Disposition": ["attachment"] },
            "Body": "PDF", "Size": 81, "MIME": null,
        })
    );
    let raw = json!({
        "From": "bounces@sender.test", "To": ["Ann@example.test", "bob@example.test"], "Data": MAIL, "Helo": "client.test",
    });
    assert_eq!(message["Raw"], raw);
    let id = message["ID"].as_str().expect("an id");
    assert_eq!(&of_mailhog(&api.get(&format!("/api/v1/messages/{id}")).await), message);
    assert_eq!(of_mailhog(&api.get("/api/v1/messages").await), page["items"]);
    let download = api.get(&format!("/api/v1/messages/{id}/download")).await;
    assert!(download.body.ends_with(MAIL.as_bytes()), "{download:?}");
}

#[tokio::test]
async fn mailhog_searches_and_deletes() {
    let api = with("mailhog", "").await;
    let first = receive(&api, &["ann@example.test", "bob@example.test"], "first").await;
    receive(&api, &["ann@example.test"], "second").await;
    for (search, expected) in [
        ("kind=to&query=BOB@", 1),
        ("kind=to&query=example.test", 2),
        ("kind=from&query=bounces@sender", 2),
        ("kind=from&query=a@sender", 2),
        ("kind=containing&query=first", 1),
        ("kind=containing&query=nothing", 0),
    ] {
        let page = of_mailhog(&api.get(&format!("/api/v2/search?{search}")).await);
        assert_eq!(
            (&page["total"], page["items"].as_array().expect("items").len()),
            (&json!(expected), expected),
            "{search}"
        );
    }
    for search in ["kind=subject&query=x", "kind=to&query=", "query=x"] {
        let answer = api.get(&format!("/api/v2/search?{search}")).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (400, 0), "{search}");
    }
    assert_eq!(of_mailhog(&api.get("/api/v1/messages/no-id").await), Value::Null);
    delete(&api, "/api/v1/messages/no-id", "").await;
    assert_eq!(of_mailhog(&api.get("/api/v2/messages").await)["total"], 2);
    let answer = delete(&api, &format!("/api/v1/messages/{first}"), "").await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 0));
    assert_eq!(of_mailhog(&api.get(&format!("/api/v1/messages/{first}")).await), Value::Null);
    assert_eq!(api.get("/api/mail/messages?to=bob@example.test").await.json()["total"], 0);
    assert_eq!(delete(&api, "/api/v1/messages", "").await.status, 200);
    assert_eq!(of_mailhog(&api.get("/api/v1/messages").await), json!([]));
}

#[tokio::test]
async fn mail_whose_parts_would_take_too_much_room_is_shown_without_them() {
    let api = with("mailhog", "").await;
    // A control character has six octets in JSON, and each level of parts repeats those below it.
    let begin = |n| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n");
    let controls = format!("\r\n{}", "\u{1}".repeat(100_000));
    let end = |n| format!("\r\n--b{n}--\r\n");
    let raw: Vec<String> = (0..4).map(begin).chain([controls]).chain((0..4).rev().map(end)).collect();
    api.receive(&["ann@example.test"], &raw.concat()).await;
    let page = of_mailhog(&api.get("/api/v2/messages").await);
    assert_eq!((&page["count"], &page["items"][0]["MIME"]), (&json!(1), &Value::Null));
    assert!(page["items"][0]["Raw"]["Data"].as_str().expect("data").len() > 100_000);
}
