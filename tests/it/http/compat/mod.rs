//! The interface of Mailpit. Its own clients use it in `tests/compat`.
//! Promise: it outlives the code below it.

mod access;
mod private;

use std::time::Duration;

use serde_json::{Value, json};

use super::{Answer, TestServer};
use crate::support::test_disk::TestDisk;

const MAIL: &str = "From: Shop <shop@sender.test>\r\nTo: Ann <Ann@example.test>, list@other.test\r\nCc: c@example.test\r\n\
    Reply-To: r@sender.test\r\nSubject: Your =?utf-8?q?c=C3=B6de?=\r\nMessage-ID: <1@sender.test>\r\n\
    Date: Tue, 14 Nov 2023 23:13:20 +0100\r\nList-Unsubscribe: <https://x.test/u>, <mailto:u@x.test>\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\none\r\ntwo\r\n--m\r\n\
    Content-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment\r\n\r\nPDF\r\n--m\r\n\
    Content-Type: image/png\r\nContent-ID: <i@x>\r\n\r\npng\r\n--m--\r\n";

async fn mailpit() -> TestServer {
    with("mailpit", "").await
}

async fn with(compat_api: &str, settings: &str) -> TestServer {
    let domains = "domain = ['example.test', 'example.com']";
    TestServer::with(&format!("compat-api = '{compat_api}'\n{domains}\n{settings}")).await
}

async fn receive(api: &TestServer, recipients: &[&str], subject: &str) -> String {
    let to = recipients.join(", ");
    let raw = format!("From: a@sender.test\r\nTo: {to}\r\nSubject: {subject}\r\n\r\n{subject}");
    let id = api.receive(recipients, &raw).await.remove(0);
    api.clock.advance(Duration::from_millis(300));
    id
}

async fn delete(api: &TestServer, target: &str, body: &str) -> Answer {
    Answer::to(api.request("DELETE", target).body(body.to_owned())).await
}

/// The subjects in a list of Mailpit.
fn subjects(page: &Value) -> Vec<&str> {
    page["messages"].as_array().expect("list").iter().map(|mail| mail["Subject"].as_str().expect("text")).collect()
}

/// The subjects of all mail, newest first.
async fn listed(api: &TestServer) -> Vec<String> {
    let page = api.get("/api/v1/messages").await.json();
    subjects(&page).into_iter().map(str::to_owned).collect()
}

fn text(answer: &Answer) -> (u16, &str) {
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"), "{answer:?}");
    (answer.status.as_u16(), str::from_utf8(&answer.body).expect("UTF-8"))
}

#[tokio::test]
async fn without_the_setting_there_is_no_such_path() {
    for (compat_api, target) in
        [("off", "/api/v1/messages"), ("off", "/view/latest.html"), ("mailpit", "/api/v2/messages")]
    {
        let api = with(compat_api, "").await;
        assert_eq!(api.get(target).await.problem(), "unknown_path", "{compat_api} {target}");
    }
}

#[tokio::test]
async fn a_list_of_mailpit_has_its_fields_and_a_message_once() {
    let api = mailpit().await;
    let ids = api.receive(&["Ann@example.test", "hidden@example.test", "C@example.test"], MAIL).await;
    let mut page = api.get("/api/v1/messages?start=0&limit=5").await.json();
    let id = page["messages"][0]["ID"].as_str().expect("an id").to_owned();
    assert!(ids.contains(&id));
    let raw = api.get(&format!("/api/v1/message/{id}/raw")).await;
    page["messages"][0]["ID"] = "ID".into();
    let address = |name: &str, address: &str| json!({ "Name": name, "Address": address });
    let expected = json!({
        "total": 1, "unread": 1, "count": 1, "messages_count": 1, "messages_unread": 1, "start": 0, "tags": [],
        "messages": [{
            "ID": "ID", "MessageID": "1@sender.test", "Read": false, "From": address("Shop", "shop@sender.test"),
            "To": [address("Ann", "Ann@example.test"), address("", "list@other.test")],
            "Cc": [address("", "c@example.test")], "Bcc": [address("", "hidden@example.test")],
            "ReplyTo": [address("", "r@sender.test")], "Subject": "Your cöde", "Created": "2023-11-14T22:13:20.000Z",
            "Username": "", "Tags": [], "Size": raw.body.len(), "Attachments": 1, "Snippet": "one two",
        }],
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn a_message_of_mailpit_has_its_fields() {
    let api = mailpit().await;
    let id = api.receive(&["Ann@example.test"], MAIL).await.remove(0);
    let message = api.get(&format!("/api/v1/message/{id}")).await.json();
    for (field, expected) in [
        ("ID", json!(id)),
        ("ReturnPath", json!("bounces@sender.test")),
        ("Date", json!("2023-11-14T22:13:20.000Z")),
        ("Text", json!("one\r\ntwo")),
        ("HTML", json!("")),
        ("Bcc", json!([])),
        (
            "Attachments",
            json!([{ "PartID": "2", "FileName": "a.pdf", "ContentType": "application/pdf", "ContentID": "", "Size": 3 }]),
        ),
        (
            "Inline",
            json!([{ "PartID": "3", "FileName": "attachment-1.png", "ContentType": "image/png", "ContentID": "i@x", "Size": 3 }]),
        ),
        (
            "ListUnsubscribe",
            json!({
                "Header": "<https://x.test/u>, <mailto:u@x.test>", "Links": ["https://x.test/u", "mailto:u@x.test"],
                "Errors": "", "HeaderPost": "",
            }),
        ),
    ] {
        assert_eq!(message[field], expected, "{field}");
    }
    assert_eq!(api.get("/api/v1/message/latest").await.json(), message);
    let headers = api.get("/api/v1/message/latest/headers").await.json();
    assert_eq!(headers["Message-Id"], json!(["<1@sender.test>"]));
    assert_eq!(headers["Subject"], json!(["Your =?utf-8?q?c=C3=B6de?="]));
    assert_eq!(headers["Return-Path"], json!(["<bounces@sender.test>"]));
    assert!(headers["Received"][0].as_str().is_some_and(|trace| trace.starts_with("from ")), "{headers}");
    let raw = api.get(&format!("/api/v1/message/{id}/raw")).await;
    assert!(text(&raw).1.ends_with(MAIL), "{raw:?}");
    assert_eq!(message["Size"], raw.body.len());
    assert_eq!(api.get("/api/v1/messages").await.json()["messages"][0]["Size"], raw.body.len());
    let part = api.get(&format!("/api/v1/message/{id}/part/2")).await;
    assert_eq!((part.header("content-type"), &part.body[..]), (Some("application/pdf"), &b"PDF"[..]));
    for body_or_nothing in ["0", "1", "4", "2.1"] {
        assert_eq!(api.get(&format!("/api/v1/message/{id}/part/{body_or_nothing}")).await.status, 404);
    }
    assert_eq!(text(&api.get(&format!("/view/{id}.txt")).await), (200, "one\ntwo"));
    let page = api.get("/view/latest.html").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let info = api.get("/api/v1/info").await.json();
    assert_eq!((&info["Messages"], &info["Version"]), (&json!(1), &json!(concat!("v", env!("CARGO_PKG_VERSION")))));
    assert_eq!(api.get("/livez").await.status, 200);
}

#[tokio::test]
async fn an_attachment_without_a_body_is_part_0() {
    let api = mailpit().await;
    api.receive(&["ann@example.test"], "Content-Type: application/pdf; name=a.pdf\r\n\r\nPDF").await;
    let message = api.get("/api/v1/message/latest").await.json();
    assert_eq!((&message["Attachments"][0]["PartID"], &message["Inline"]), (&json!("0"), &json!([])));
    assert_eq!(&api.get("/api/v1/message/latest/part/0").await.body[..], b"PDF");
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_in_words() {
    let api = mailpit().await;
    receive(&api, &["ann@example.test"], "unread").await;
    let answer = Answer::to(api.request("PUT", "/api/v1/messages").body("{\"Read\":true}")).await;
    assert!(matches!(text(&answer), (400, detail) if detail.contains("marked as read")), "{answer:?}");
    for field in ["https://x.test/u", "<ftp://x.test/u>"] {
        api.receive(&["ann@example.test"], &format!("List-Unsubscribe: {field}\r\n\r\nx")).await;
        api.clock.advance(Duration::from_millis(300));
        let list = api.get("/api/v1/message/latest").await.json()["ListUnsubscribe"].clone();
        let errors = format!("\"{field}\" no valid unsubscribe links found");
        assert_eq!((&list["Links"], &list["Errors"]), (&json!([]), &json!(errors)));
    }
}

#[tokio::test]
async fn html_is_there_where_the_mail_has_html() {
    let api = mailpit().await;
    api.receive(&["ann@example.test"], "Content-Type: text/html\r\n\r\n<b>x</b>").await;
    let message = api.get("/api/v1/message/latest").await.json();
    assert_eq!((message["HTML"].as_str(), message["Text"].as_str().map(str::trim)), (Some("<b>x</b>"), Some("x")));
    assert_eq!(message["From"], json!({ "Name": "", "Address": "" }));
}

#[tokio::test]
async fn lists_have_parts_and_limits() {
    let api = mailpit().await;
    for number in 0..7 {
        receive(&api, &["ann@example.test", "bob@example.test"], &number.to_string()).await;
    }
    let page = api.get("/api/v1/messages?start=2&limit=3").await.json();
    assert_eq!(subjects(&page), ["4", "3", "2"]);
    assert_eq!((&page["total"], &page["count"], &page["start"]), (&json!(7), &json!(3), &json!(2)));
    assert_eq!(subjects(&api.get("/api/v1/messages?start=9").await.json()), [""; 0]);
    let deep = api.get("/api/v1/messages?start=10000&limit=1").await;
    assert!(matches!(text(&deep), (400, detail) if detail.contains("10000")), "{deep:?}");
}

#[tokio::test]
async fn a_search_of_mailpit_takes_filters_words_and_quotes() {
    let api = mailpit().await;
    api.receive(&["Ann@example.test", "hidden@example.test"], MAIL).await;
    receive(&api, &["bob@example.test"], "Two words").await;
    for (query, expected) in [
        ("to:ann@example.test", vec!["Your cöde"]),
        ("to:ANN", vec!["Your cöde"]),
        ("from:shop", vec!["Your cöde"]),
        ("cc:c@example", vec!["Your cöde"]),
        ("bcc:hidden", vec!["Your cöde"]),
        ("reply-to:r@", vec!["Your cöde"]),
        ("addressed:hidden", vec!["Your cöde"]),
        ("message-id:1@sender.test", vec!["Your cöde"]),
        ("has:attachment", vec!["Your cöde"]),
        ("a.pdf", vec!["Your cöde"]),
        ("subject:%22Your%20C%C3%B6de%22", vec!["Your cöde"]),
        ("subject:%22two+words%22", vec!["Two words"]),
        ("%22one+two%22", vec!["Your cöde"]),
        ("sender.test", vec!["Two words", "Your cöde"]),
        ("sender.test+-has:attachment", vec!["Two words"]),
        ("sender.test+!to:bob", vec!["Your cöde"]),
        ("to:hidden", vec![]),
        ("to:ann+to:bob", vec![]),
    ] {
        let page = api.get(&format!("/api/v1/search?query={query}")).await.json();
        assert_eq!(subjects(&page), expected, "{query}");
        assert_eq!((&page["messages_count"], &page["total"]), (&json!(expected.len()), &json!(2)), "{query}");
    }
    let latest = api.get("/api/v1/message/latest?query=to:ann").await.json();
    assert_eq!(latest["Subject"], "Your cöde");
    for (query, reason) in [("", "no search query"), ("tag:x", "'tag:' is not supported"), ("is:unread", "'is:'")] {
        for method in ["GET", "DELETE"] {
            let answer = api.call(method, &format!("/api/v1/search?query={query}")).await;
            assert!(matches!(text(&answer), (400, detail) if detail.contains(reason)), "{method} {query} {answer:?}");
        }
    }
    assert_eq!(listed(&api).await.len(), 2);
}

#[tokio::test]
async fn a_search_looks_at_the_newest_thousand_messages() {
    let api = mailpit().await;
    receive(&api, &["ann@example.test"], "oldest").await;
    api.receive_all("ann@example.test", std::iter::repeat_n("Subject: newer\r\n\r\n", 1000)).await;
    let count = |page: Value| page["messages_count"].clone();
    assert_eq!(count(api.get("/api/v1/search?query=oldest").await.json()), 0);
    assert_eq!(count(api.get("/api/v1/search?query=newer&limit=1").await.json()), 1000);
    let page = api.get("/api/v1/messages?start=1000&limit=1").await.json();
    assert_eq!((subjects(&page), &page["total"]), (vec!["oldest"], &json!(1001)));
}

#[tokio::test]
async fn deleting_a_message_deletes_it_for_all_its_recipients() {
    let api = mailpit().await;
    let first = receive(&api, &["ann@example.test", "bob@example.test"], "first").await;
    receive(&api, &["ann@example.test"], "second").await;
    receive(&api, &["ann@example.test"], "third").await;
    for body in ["x", "{\"IDs\":\"all\"}"] {
        assert_eq!(text(&delete(&api, "/api/v1/messages", body).await).0, 400, "{body}");
    }
    delete(&api, "/api/v1/messages", "{\"IDs\":[\"no-id\",\"0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a3b\"]}").await;
    assert_eq!(listed(&api).await, ["third", "second", "first"]);
    let answer = delete(&api, "/api/v1/messages", &json!({ "IDs": [first] }).to_string()).await;
    assert_eq!((answer.header("content-type"), &answer.body[..]), (Some("text/plain"), &b"ok"[..]));
    assert_eq!(listed(&api).await, ["third", "second"]);
    assert_eq!(api.get("/api/mail/messages?to=bob@example.test").await.json()["total"], 0);
    assert_eq!(delete(&api, "/api/v1/search?query=subject:third", "").await.status, 200);
    assert_eq!(listed(&api).await, ["second"]);
    assert_eq!(delete(&api, "/api/v1/messages", "").await.status, 200);
    assert_eq!(listed(&api).await, [""; 0]);
    assert_eq!(text(&api.get("/api/v1/message/latest").await), (404, "404 page not found"));
    assert_eq!(text(&api.get(&format!("/api/v1/message/{first}")).await), (404, "404 page not found"));
}

/// A regression: each message of a request waited for a sync of its own.
#[tokio::test]
async fn many_messages_are_made_durable_together() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "compat-api = 'mailpit'\ndomain = ['example.test']").await;
    for target in ["/api/v1/messages", "/api/v1/search?query=mail"] {
        let mut ids = Vec::new();
        for _ in 0..64 {
            ids.push(receive(&api, &["ann@example.test", "bob@example.test"], "mail").await);
        }
        disk.slow_syncs(Duration::from_millis(20));
        let before = disk.syncs().len();
        assert_eq!(delete(&api, target, &json!({ "IDs": ids }).to_string()).await.status, 200);
        let syncs = disk.syncs().len() - before;
        assert!(syncs <= 40, "{target}: {syncs}");
        assert_eq!(listed(&api).await, [""; 0]);
    }
}

#[tokio::test]
async fn mail_of_role_addresses_is_only_for_the_administrator() {
    let api = mailpit().await;
    let role = receive(&api, &["admin@example.com"], "proof").await;
    receive(&api, &["ann@example.com"], "other").await;
    assert_eq!(listed(&api).await, ["other"]);
    receive(&api, &["admin@example.com"], "newest").await;
    let found = api.get("/api/v1/search?query=sender.test").await.json();
    assert_eq!((subjects(&found), &found["messages_count"]), (vec!["other"], &json!(1)));
    assert_eq!(api.get("/api/v1/message/latest").await.json()["Subject"], "other");
    assert_eq!(api.get(&format!("/api/v1/message/{role}")).await.status, 404);
    delete(&api, "/api/v1/messages", &json!({ "IDs": [role] }).to_string()).await;
    delete(&api, "/api/v1/messages", "").await;
    let page = api.administrator("GET", "/api/v1/messages", "").await.json();
    assert_eq!(subjects(&page), ["newest", "proof"]);
    assert_eq!(api.administrator("DELETE", "/api/v1/messages", "").await.status, 200);
    assert_eq!(subjects(&api.administrator("GET", "/api/v1/messages", "").await.json()), [""; 0]);
}

/// A regression: a list knew a message by its newest Email alone, and left it out where that one was hidden.
#[tokio::test]
async fn a_message_is_shown_if_any_of_its_emails_may_be_read() {
    for recipients in [["ann@example.com", "admin@example.com"], ["admin@example.com", "ann@example.com"]] {
        let api = mailpit().await;
        receive(&api, &recipients, "both").await;
        assert_eq!(listed(&api).await, ["both"], "{recipients:?}");
        let found = api.get("/api/v1/search?query=both").await.json();
        assert_eq!((subjects(&found), &found["messages_count"]), (vec!["both"], &json!(1)));
        let id = api.get("/api/v1/messages").await.json()["messages"][0]["ID"].as_str().expect("an id").to_owned();
        assert_eq!(api.get(&format!("/api/v1/message/{id}")).await.json()["Subject"], "both");
        assert_eq!(api.get("/api/v1/message/latest").await.json()["ID"], id);
        assert_eq!(api.delete(&format!("/api/mail/delete?id={id}")).await.json()["deleted"], 1);
        assert_eq!(listed(&api).await, [""; 0], "only the hidden one is left: {recipients:?}");
    }
}
