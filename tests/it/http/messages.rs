//! `GET /api/mail/messages`: the tables of the interface document, line by line.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::json;
use tempmail::config::{Config, Revision};
use tempmail::store::StoreError;
use tower::ServiceExt;

use super::{TestApi, public};

const INBOX: &str = "/api/mail/messages?to=ann@example.test";

#[tokio::test]
async fn an_email_has_exactly_the_six_fields() {
    let api = TestApi::new();
    let raw = "From: Bob <bob@sender.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
               Content-Type: text/html\r\n\r\n<p>Hello</p>";
    let ids = api.receive(&["Ann@EXAMPLE.test"], raw).await;
    let answer = api.get(INBOX).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json(),
        json!({
            "emails": [{
                "id": ids[0].to_string(),
                "recipient": "Ann@example.test",
                "from": "bob@sender.test",
                "subject": "Grüße",
                "message": "<p>Hello</p>",
                "receivedAt": "2023-11-14 22:13:20",
            }],
            "total": 1,
            "page": 1,
            "limit": 20,
            "pages": 1,
        })
    );
}

#[tokio::test]
async fn no_field_is_absent_or_null_in_a_mail_that_says_nothing() {
    let api = TestApi::new();
    api.receive(&["ann@example.test"], "").await;
    let email = &api.get(INBOX).await.json()["emails"][0];
    assert_eq!(email["from"], "bounces@sender.test", "the envelope's sender stands in");
    assert_eq!(email["subject"], "");
    assert_eq!(email["message"], "");
    assert_eq!(email.as_object().expect("object").len(), 6);
}

#[tokio::test]
async fn a_text_mail_brings_no_markup() {
    let api = TestApi::new();
    api.receive(&["ann@example.test"], "Subject: x\r\n\r\n<script>alert(1)</script>\r\nnext").await;
    let page = api.get(INBOX).await.json();
    assert_eq!(page["emails"][0]["message"], "&lt;script&gt;alert(1)&lt;/script&gt;<br>\nnext");
}

#[tokio::test]
async fn an_inbox_that_never_was_is_empty() {
    let answer = TestApi::new().get("/api/mail/messages?to=nobody@unregistered.example").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({ "emails": [], "total": 0, "page": 1, "limit": 20, "pages": 0 }));
}

#[tokio::test]
async fn pages_are_newest_first_and_counted_to_the_end() {
    let api = TestApi::new();
    for number in 0..7 {
        api.receive(&["ann@example.test"], &format!("Subject: {number}\r\n\r\n")).await;
    }
    for (page, subjects) in [(1, vec!["6", "5", "4"]), (2, vec!["3", "2", "1"]), (3, vec!["0"]), (4, vec![])] {
        let answer = api.get(&format!("{INBOX}&page={page}&limit=3")).await.json();
        let emails = answer["emails"].as_array().expect("array");
        let found: Vec<_> = emails.iter().map(|email| email["subject"].as_str().expect("text")).collect();
        assert_eq!(found, subjects);
        let counts = json!([answer["total"], answer["page"], answer["limit"], answer["pages"]]);
        assert_eq!(counts, json!([7, page, 3, 3]));
    }
}

#[tokio::test]
async fn the_limit_is_clamped_to_the_maximum_and_the_answer_says_so() {
    let api = TestApi::with(|config| (config.http.page_size_default, config.http.page_size_max) = (50, 300));
    assert_eq!(api.get(INBOX).await.json()["limit"], 50);
    assert_eq!(api.get(&format!("{INBOX}&limit=301")).await.json()["limit"], 300);
    assert_eq!(api.get(&format!("{INBOX}&limit=99999999999999999999999")).await.json()["limit"], 300);
    for revision in [Revision::One, Revision::Two] {
        let defaults = Config::of_revision(revision, "/nowhere".into());
        assert_eq!((defaults.http.page_size_default, defaults.http.page_size_max), (20, 100));
    }
}

#[tokio::test]
async fn a_page_beyond_all_numbers_is_empty() {
    let api = TestApi::new();
    api.receive(&["ann@example.test"], "").await;
    for page in ["18446744073709551615", "9223372036854775807"] {
        let answer = api.get(&format!("{INBOX}&limit=100&page={page}")).await.json();
        assert_eq!((answer["emails"].as_array().map(Vec::len), &answer["total"]), (Some(0), &json!(1)));
    }
}

#[tokio::test]
async fn bad_parameters_get_their_codes() {
    let api = TestApi::new();
    for (query, code) in [
        ("", "parameter_missing"),
        ("?to=", "address_invalid"),
        ("?to=ann", "address_invalid"),
        ("?to=ann@[127.0.0.1]", "address_invalid"),
        ("?to=a%20b@example.test", "address_invalid"),
        ("?to=a%0d%0a@example.test", "address_invalid"),
        ("?to=a@example.test&to=a@example.test", "parameter_repeated"),
        ("?to=a@example.test&page=0", "page_invalid"),
        ("?to=a@example.test&page=x", "page_invalid"),
        ("?to=a@example.test&page=99999999999999999999999", "page_invalid"),
        ("?to=a@example.test&page=1&page=1", "parameter_repeated"),
        ("?to=a@example.test&limit=0", "limit_invalid"),
        ("?to=a@example.test&limit=-1", "limit_invalid"),
        ("?to=a@example.test&limit=", "limit_invalid"),
        ("?to=%ff@example.test", "query_invalid"),
        ("?to=a@example.test&other=%", "query_invalid"),
    ] {
        let answer = api.get(&format!("/api/mail/messages{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (400, code), "{query}");
    }
    let long = api.get(&format!("{INBOX}{}", "&x=1".repeat(3000))).await;
    assert_eq!((long.status.as_u16(), long.problem().as_str()), (414, "query_too_long"));
    assert_eq!(api.get(&format!("{INBOX}&other=1&other=2")).await.status, 200, "unknown parameters are ignored");
}

#[tokio::test]
async fn a_plus_in_the_address_is_a_plus() {
    let api = TestApi::new();
    api.receive(&["ann+news@example.test"], "Subject: tagged\r\n\r\n").await;
    for target in ["/api/mail/messages?to=ann+news@example.test", "/api/mail/messages?to=Ann%2BNews%40example.test."] {
        assert_eq!(api.get(target).await.json()["total"], 1, "{target}");
    }
    assert_eq!(api.get(INBOX).await.json()["total"], 0);
    let blank = api.get("/api/mail/messages?to=%22ann%20news%22@example.test").await;
    assert_eq!(blank.json()["total"], 0);
}

#[tokio::test]
async fn role_addresses_are_the_administrators_except_under_reserved_names() {
    let api = TestApi::new();
    let target = "/api/mail/messages?to=Admin@example.com";
    let answer = api.get(target).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "role_address"));
    assert_eq!(api.administrator("GET", target, "").await.status, 200);
    assert_eq!(api.get("/api/mail/messages?to=admin@example.test").await.status, 200);
}

#[tokio::test]
async fn mail_to_postmaster_without_a_domain_is_the_administrators_whatever_the_hostname() {
    for hostname in ["localhost", "mx.example.test", "mx.example.com"] {
        let api = TestApi::with(|config| config.smtp.hostname = hostname.parse().expect("name"));
        let target = format!("/api/mail/messages?to=Postmaster@{hostname}");
        assert_eq!(api.get(&target).await.problem(), "role_address", "{hostname}");
        assert_eq!(api.administrator("GET", &target, "").await.status, 200);
    }
}

#[tokio::test]
async fn what_vanishes_or_is_damaged_is_left_out() {
    let api = TestApi::new();
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.extend(api.receive(&["ann@example.test"], &format!("Subject: {number}\r\n\r\n")).await);
    }
    api.store.fail_load(ids[3], None);
    api.store.fail_load(ids[1], Some(StoreError::Damaged { segment: 1, offset: 2 }));
    let page = api.get(INBOX).await.json();
    let subjects: Vec<_> = page["emails"].as_array().expect("array").iter().map(|email| &email["subject"]).collect();
    assert_eq!(subjects, ["2", "0"]);
    assert_eq!(page["total"], 4);
}

#[tokio::test]
async fn a_second_list_loads_only_what_is_new_and_never_shows_what_was_removed() {
    let api = TestApi::new();
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.extend(api.receive(&["ann@example.test"], &format!("Subject: {number}\r\n\r\n")).await);
    }
    let subjects = async || {
        let page = api.get(INBOX).await.json();
        let emails = page["emails"].as_array().expect("array");
        emails.iter().map(|email| email["subject"].as_str().expect("subject").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(subjects().await, ["2", "1", "0"]);
    // The other one must be loaded once more to be deleted.
    for id in [ids[0], ids[2]] {
        api.store.fail_load(id, Some(StoreError::Failed("an Email was loaded twice".into())));
    }
    api.receive(&["ann@example.test"], "Subject: 3\r\n\r\n").await;
    assert_eq!(subjects().await, ["3", "2", "1", "0"]);
    assert_eq!(api.call("DELETE", &format!("/api/mail/delete?id={}", ids[1])).await.status, 200);
    assert_eq!(subjects().await, ["3", "2", "0"]);
    api.clock.advance(Duration::from_hours(2));
    assert!(subjects().await.is_empty());
}

/// Two of these do not fit one batch.
fn large() -> String {
    format!("\r\n{}", "x".repeat(200_000))
}

#[tokio::test]
async fn a_store_that_fails_is_an_error_before_the_first_octet_and_breaks_off_after_it() {
    let api = TestApi::new();
    let first = api.receive(&["ann@example.test"], &large()).await[0];
    let second = api.receive(&["ann@example.test"], &large()).await[0];
    let failed = Some(StoreError::Failed("secret detail".into()));

    api.store.fail_load(first, failed.clone());
    let response = api.router.clone().oneshot(public("GET", INBOX).body(Body::empty()).expect("request"));
    let response = response.await.expect("infallible");
    assert_eq!(response.status(), 200);
    assert!(response.into_body().collect().await.is_err(), "the body must not look complete");

    api.store.fail_load(second, failed);
    let answer = api.get(INBOX).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (503, "store_unavailable"));
    assert!(!String::from_utf8_lossy(&answer.body).contains("secret"));
}

#[tokio::test]
async fn a_page_of_large_messages_is_written_in_pieces_and_one_of_small_messages_at_once() {
    for (mails, raw, expected) in [(5, large(), 5), (20, "\r\nx".to_owned(), 1)] {
        let api = TestApi::new();
        for _ in 0..mails {
            api.receive(&["ann@example.test"], &raw).await;
        }
        let request = public("GET", INBOX).body(Body::empty()).expect("request");
        let mut body = api.router.clone().oneshot(request).await.expect("infallible").into_body();
        let (mut frames, mut json) = (0, Vec::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.expect("frame").into_data().expect("data");
            assert!(frame.len() < 300_000, "{} octets in one piece", frame.len());
            json.extend_from_slice(&frame);
            frames += 1;
        }
        let page: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!((frames, page["emails"].as_array().expect("array").len()), (expected, mails));
    }
}

/// What vanishes from a batch must leave no stray comma behind.
#[tokio::test]
async fn batches_of_which_nothing_is_left_are_passed_over() {
    let gone: [&[usize]; 4] = [&[0, 1], &[1, 2], &[3], &[0, 1, 2, 3]];
    for gone in gone {
        let api = TestApi::new();
        let mut ids = Vec::new();
        for _ in 0..4 {
            ids.extend(api.receive(&["ann@example.test"], &large()).await);
        }
        for &number in gone {
            api.store.fail_load(ids[number], None);
        }
        let page = api.get(INBOX).await.json();
        assert_eq!(page["emails"].as_array().expect("array").len(), 4 - gone.len(), "without {gone:?}");
    }
}

#[tokio::test]
async fn an_unchanged_list_is_304_until_anything_changes() {
    let api = TestApi::new();
    let target = format!("{INBOX}&limit=1");
    let ask = async |etag: &str| {
        let request = public("GET", &target).header("if-none-match", etag).body(Body::empty()).expect("request");
        api.send(request).await
    };
    let mut known = Vec::<String>::new();
    // Each step changes the list, and no tag of an earlier one may come back.
    for step in ["nothing yet", "a message", "another", "one deleted", "a third", "expired", "all deleted"] {
        match step {
            "a message" | "another" | "a third" => drop(api.receive(&["ann@example.test"], step).await),
            "one deleted" => {
                let id = api.get(INBOX).await.json()["emails"][1]["id"].as_str().expect("id").to_owned();
                assert_eq!(api.call("DELETE", &format!("/api/mail/delete?id={id}")).await.status, 200);
            }
            "expired" => {
                api.clock.advance(Duration::from_hours(1));
                api.receive(&["ann@example.test"], step).await;
                api.clock.advance(Duration::from_mins(61));
            }
            "all deleted" => drop(api.call("DELETE", "/api/mail/delete?to=ann@example.test").await),
            _ => {}
        }
        for (age, etag) in known.iter().enumerate() {
            // A mailbox without mail is the same as before its first message.
            let expected = if step == "all deleted" && age == 0 { 304 } else { 200 };
            assert_eq!(ask(etag).await.status, expected, "{step}");
        }
        let etag = api.get(&target).await.header("etag").expect("a tag").to_owned();
        let unchanged = ask(&etag).await;
        assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0), "{step}");
        assert_eq!(unchanged.header("etag"), Some(etag.as_str()), "{step}");
        known.push(etag);
    }
}

#[tokio::test]
async fn a_tag_opens_no_mailbox_of_a_role_address() {
    let api = TestApi::new();
    let target = "/api/mail/messages?to=admin@example.com";
    let request = public("GET", target).header("if-none-match", "*").body(Body::empty()).expect("request");
    assert_eq!(api.send(request).await.status, 403);
}
