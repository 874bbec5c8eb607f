//! Lists by filter, by cursor, and with chosen fields; deletions by filter.
//! Promise: it outlives the code below it.

use std::iter;
use std::time::Duration;

use serde_json::Value;

use super::TestServer;

const INBOX: &str = "/api/mail/messages?to=ann@example.test";

fn mail(from: &str, subject: &str, has_attachment: bool) -> String {
    let head = format!("From: {from}\r\nSubject: {subject}\r\n");
    if has_attachment {
        format!(
            "{head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n\
             --b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\noctets\r\n--b--\r\n"
        )
    } else {
        format!("{head}\r\ntext")
    }
}

fn subjects(page: &Value) -> Vec<&str> {
    page["emails"].as_array().expect("array").iter().map(|email| email["subject"].as_str().expect("subject")).collect()
}

/// Four mails, a minute apart from the test's start on.
async fn filled() -> TestServer {
    let api = TestServer::start().await;
    for (from, subject, has_attachment) in [
        ("Bob <bob@one.test>", "Your code 1", false),
        ("carol@two.test", "Invoice", true),
        ("bob@ONE.test", "=?utf-8?q?Best=C3=A4tigung?=", false),
        ("", "your CODE 2", true),
    ] {
        api.receive(&["ann@example.test"], &mail(from, subject, has_attachment)).await;
        api.clock.advance(Duration::from_mins(1));
    }
    api
}

#[tokio::test]
async fn each_filter_keeps_what_passes_it_and_all_must_pass() {
    let api = filled().await;
    for (filter, expected) in [
        ("from=BOB".to_owned(), vec!["Bestätigung", "Your code 1"]),
        ("from=bounces@".into(), vec!["your CODE 2"]),
        ("subject=code".into(), vec!["your CODE 2", "Your code 1"]),
        ("subject=BEST%C3%84T".into(), vec!["Bestätigung"]),
        ("has=attachment".into(), vec!["your CODE 2", "Invoice"]),
        ("has=attachment&subject=code".into(), vec!["your CODE 2"]),
        ("since=2023-11-14T22:15:20Z".into(), vec!["your CODE 2", "Bestätigung"]),
        ("until=2023-11-14T22:15:20Z".into(), vec!["Invoice", "Your code 1"]),
        ("since=2023-11-14T22:14:20Z&until=2023-11-14T22:15:20Z".into(), vec!["Invoice"]),
        ("subject=nothing".into(), vec![]),
    ] {
        let page = api.get(&format!("{INBOX}&{filter}")).await.json();
        assert_eq!(subjects(&page), expected, "{filter}");
        assert_eq!(page["total"], expected.len(), "{filter}");
        assert_eq!((&page["complete"], &page["scanned"]), (&Value::Bool(true), &4.into()), "{filter}");
    }
    let second = api.get(&format!("{INBOX}&subject=code&limit=1&page=2")).await.json();
    assert_eq!(subjects(&second), ["Your code 1"]);
    assert_eq!((&second["total"], &second["pages"]), (&2.into(), &2.into()));
}

#[tokio::test]
async fn mail_with_a_code_or_with_a_link_is_found() {
    let api = TestServer::start().await;
    for (subject, body) in [
        ("order 482913", "Your order 482913 was shipped. Code of the coupon: SAVE20"),
        ("code", "Your login code is 482913."),
        ("link", "Verify your address: https://x.test/verify?t=a1b2c3d4"),
        ("news", "No more mail: https://x.test/unsubscribe?t=a1b2c3d4"),
    ] {
        api.receive(&["ann@example.test"], &format!("Subject: {subject}\r\n\r\n{body}")).await;
    }
    for (has, expected) in [("code", "code"), ("link", "link")] {
        let page = api.get(&format!("{INBOX}&has={has}")).await.json();
        assert_eq!(subjects(&page), [expected], "{has}");
    }
    let answer = api.get(&format!("{INBOX}&has=money")).await;
    let detail = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(["attachment", "code", "link"].iter().all(|word| detail.contains(word)), "{detail}");
}

#[tokio::test]
async fn what_is_no_filter_is_refused() {
    let api = TestServer::start().await;
    for (query, code) in [
        ("has=money", "parameter_invalid"),
        ("since=yesterday", "parameter_invalid"),
        ("until=1", "parameter_invalid"),
        ("fields=id,secret", "parameter_invalid"),
        ("fields=", "parameter_invalid"),
        ("cursor=x", "parameter_invalid"),
        ("cursor=-1", "parameter_invalid"),
        ("cursor=+5", "parameter_invalid"),
        ("cursor=&page=1", "parameter_invalid"),
        ("from=a&from=b", "parameter_invalid"),
    ] {
        let answer = api.get(&format!("{INBOX}&{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
}

#[tokio::test]
async fn pages_by_cursor_show_each_email_once_whatever_arrives() {
    let api = TestServer::start().await;
    for number in 0..5 {
        api.receive(&["ann@example.test"], &mail("a@b.test", &number.to_string(), false)).await;
    }
    for (filter, others) in [("", "a@b.test"), ("&from=a@b", "c@d.test")] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = api.get(&format!("{INBOX}&limit=2&cursor={cursor}{filter}")).await.json();
            seen.extend(subjects(&page).into_iter().map(str::to_owned));
            assert!(page.get("page").is_none(), "{page}");
            api.receive(&["ann@example.test"], &mail(others, "new", false)).await;
            match page.get("nextCursor") {
                Some(next) => cursor = next.as_str().expect("cursor").to_owned(),
                None => break,
            }
        }
        let old: Vec<_> = seen.iter().filter(|subject| *subject != "new").collect();
        assert_eq!(old, ["4", "3", "2", "1", "0"], "{filter}");
    }
}

#[tokio::test]
async fn only_the_chosen_fields_are_there_in_their_order() {
    let api = filled().await;
    let answer = api.get(&format!("{INBOX}&limit=1&fields=attachmentCount,subject,id,size,expiresAt")).await;
    let text = String::from_utf8(answer.body.to_vec()).expect("text");
    let email = &answer.json()["emails"][0];
    assert_eq!((&email["attachmentCount"], &email["subject"]), (&1.into(), &"your CODE 2".into()));
    assert!(email["size"].as_u64().is_some_and(|size| size > 100), "{email}");
    let mut from = 0;
    for field in ["\"id\":", "\"subject\":", "\"size\":", "\"expiresAt\":", "\"attachmentCount\":"] {
        from += text[from..].find(field).unwrap_or_else(|| panic!("{field} is not in its place: {text}"));
    }
    assert_eq!(email.as_object().expect("object").len(), 5);
    let six = api.get(INBOX).await.json();
    assert_eq!(six["emails"][0].as_object().expect("object").len(), 6);
    assert!(six.get("complete").is_none() && six.get("nextCursor").is_none(), "{six}");
}

/// A filter that looks at everything would let one caller read the whole store again and again.
#[tokio::test]
async fn a_filter_stops_after_a_thousand_emails_and_says_so() {
    let api = TestServer::start().await;
    let subjects_sent = iter::once("the oldest").chain(iter::repeat_n("other", 1000));
    api.receive_all("ann@example.test", subjects_sent.map(|subject| mail("a@b.test", subject, false))).await;
    let target = format!("{INBOX}&subject=oldest");
    let page = api.get(&target).await.json();
    assert_eq!((&page["total"], &page["scanned"], &page["complete"]), (&0.into(), &1000.into(), &false.into()));
    let first = api.get(&format!("{target}&cursor=")).await.json();
    assert!(subjects(&first).is_empty());
    let next = first["nextCursor"].as_str().expect("there is more");
    let second = api.get(&format!("{target}&cursor={next}")).await.json();
    assert_eq!(subjects(&second), ["the oldest"]);
    assert!(second.get("nextCursor").is_none(), "{second}");
}

#[tokio::test]
async fn only_what_passes_the_filter_is_deleted() {
    let api = filled().await;
    let delete = "/api/mail/delete?to=ann@example.test";
    let answer = api.delete(&format!("{delete}&from=bob&subject=code")).await.json();
    assert_eq!(answer, serde_json::json!({"deleted": 1, "complete": true}));
    assert_eq!(subjects(&api.get(INBOX).await.json()), ["your CODE 2", "Bestätigung", "Invoice"]);
    let invalid = api.delete(&format!("{delete}&has=money")).await;
    assert_eq!(invalid.problem(), "parameter_invalid");
    assert_eq!(api.get(INBOX).await.json()["total"], 3);
    let rest = api.delete(delete).await.json();
    assert_eq!(rest, serde_json::json!({"deleted": 3}));
}

#[tokio::test]
async fn several_ids_are_deleted_at_once() {
    let api = TestServer::start().await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.extend(api.receive(&["ann@example.test"], "\r\n").await);
    }
    let query = format!("id={}&id={}&id={}", ids[0], ids[2], ids[0]);
    let answer = api.delete(&format!("/api/mail/delete?{query}")).await.json();
    assert_eq!(answer, serde_json::json!({"deleted": 2}));
    assert_eq!(api.get(INBOX).await.json()["emails"][0]["id"], ids[1]);
    let many = vec![format!("id={}", ids[1]); 101].join("&");
    assert_eq!(api.delete(&format!("/api/mail/delete?{many}")).await.status, 400);
}
