//! `/api/admin/messages` and `/api/admin/mailboxes`: all mail and all mailboxes, newest first, each once.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{TestServer, damage, refusal};
use crate::support::test_disk::TestDisk;

const DOMAINS: &str = "domain = ['example.test', 'example.com', 'other.test']";

/// The names of the entries of every page, by cursors.
async fn walked(api: &TestServer, target: &str, list: &str, name: &str) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), String::new());
    loop {
        let page = api.admin_get(&format!("{target}{after}")).await;
        names.extend(names_of(&page, list, name));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return names,
        }
    }
}

fn names_of(page: &Value, list: &str, name: &str) -> Vec<String> {
    let entries = page[list].as_array().expect("array");
    entries.iter().map(|entry| entry[name].as_str().expect("text").to_owned()).collect()
}

async fn receive(api: &TestServer, recipients: &[&str], subject: &str) {
    api.receive(recipients, &format!("From: a@sender.test\r\nSubject: {subject}\r\n\r\n")).await;
    api.clock.advance(Duration::from_millis(300));
}

#[tokio::test]
async fn the_newest_mail_of_all_addresses_is_listed_page_by_page() {
    let api = TestServer::with(DOMAINS).await;
    for number in 0..7 {
        receive(&api, &[&format!("box{}@example.test", number % 3)], &number.to_string()).await;
    }
    receive(&api, &["admin@example.com", "Ann@example.test"], "both").await;
    let newest = ["both", "both", "6", "5", "4", "3", "2", "1", "0"];

    let first = api.admin_get("/api/admin/messages?limit=4").await;
    assert_eq!(names_of(&first, "emails", "subject"), newest[..4]);
    assert_eq!((&first["total"], &first["limit"]), (&json!(9), &json!(4)));
    let email = &first["emails"][2];
    let fields: Vec<&String> = email.as_object().expect("object").keys().collect();
    assert_eq!(fields, ["id", "recipient", "from", "subject", "receivedAt", "size", "expiresAt"]);
    assert_eq!((&email["recipient"], &email["from"]), (&json!("box0@example.test"), &json!("a@sender.test")));
    for limit in 1..=10 {
        let target = format!("/api/admin/messages?limit={limit}");
        assert_eq!(walked(&api, &target, "emails", "subject").await, newest, "{limit}");
    }
    let of_domain = api.admin_get("/api/admin/messages?domain=example.com").await;
    assert_eq!(names_of(&of_domain, "emails", "recipient"), ["admin@example.com"]);
    assert_eq!(of_domain["total"], json!(null));
}

#[tokio::test]
async fn large_mail_is_read_piece_by_piece_and_damaged_mail_left_out() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let text = "x".repeat(200_000);
    for subject in ["first", "second", "third"] {
        receive(&api, &[&format!("{subject}@example.test")], &format!("{subject}\r\n\r\n{text}")).await;
    }
    damage(&disk, "Subject: third");
    for (target, list, name) in [("messages", "emails", "recipient"), ("mailboxes", "mailboxes", "address")] {
        let response = api.admin("GET", &format!("/api/admin/{target}")).send().await.expect("an answer");
        assert_eq!(response.content_length(), None, "the list is not made as a whole");
        let page = response.json().await.expect("JSON");
        assert_eq!(names_of(&page, list, name), ["second@example.test", "first@example.test"]);
    }
}

#[tokio::test]
async fn mailboxes_are_listed_by_their_newest_mail_with_their_counts() {
    let api = TestServer::with(DOMAINS).await;
    for number in 0..6 {
        receive(&api, &[&format!("box{}@example.test", number % 3)], "s").await;
    }
    receive(&api, &["Box1@example.test"], "newest").await;
    receive(&api, &["ann@other.test"], "s").await;
    let by_newest = ["ann@other.test", "Box1@example.test", "box2@example.test", "box0@example.test"];
    let page = api.admin_get("/api/admin/mailboxes").await;
    assert_eq!(names_of(&page, "mailboxes", "address"), by_newest);
    assert_eq!(page["total"], 4);
    let octets = |subject: &str| format!("From: a@sender.test\r\nSubject: {subject}\r\n\r\n").len();
    let counts = |at: usize| (page["mailboxes"][at]["messages"].clone(), page["mailboxes"][at]["octets"].clone());
    assert_eq!(counts(1), (json!(3), json!(2 * octets("s") + octets("newest"))));
    assert_eq!(counts(3), (json!(2), json!(2 * octets("s"))));
    for limit in 1..=5 {
        let target = format!("/api/admin/mailboxes?limit={limit}");
        assert_eq!(walked(&api, &target, "mailboxes", "address").await, by_newest, "{limit}");
    }
    let of_domain = walked(&api, "/api/admin/mailboxes?domain=example.test&limit=1", "mailboxes", "address").await;
    assert_eq!(of_domain, by_newest[1..]);
}

#[tokio::test]
async fn what_is_deleted_or_expired_is_not_listed_and_counts_no_octets() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    receive(&api, &["ann@example.test"], "old").await;
    api.clock.advance(Duration::from_hours(1));
    let kept = api.receive(&["ann@example.test"], "Subject: kept\r\n\r\n").await.remove(0);
    let deleted = api.receive(&["ann@example.test", "bob@example.test"], "Subject: deleted\r\n\r\n").await;
    for id in deleted {
        assert_eq!(api.delete(&format!("/api/mail/delete?id={id}")).await.json()["deleted"], 1);
    }
    api.clock.advance(Duration::from_mins(61));
    let messages = api.admin_get("/api/admin/messages").await;
    assert_eq!(names_of(&messages, "emails", "id"), [kept]);
    api.in_time(|stats| stats.emails == 1).await;
    let mailboxes = api.admin_get("/api/admin/mailboxes").await;
    let entry = json!({
        "address": "ann@example.test", "messages": 1, "newest": messages["emails"][0]["receivedAt"],
        "octets": "Subject: kept\r\n\r\n".len(),
    });
    assert_eq!((&mailboxes["mailboxes"], &mailboxes["total"]), (&json!([entry]), &json!(1)));
    api.deliver("ann@example.test", "Subject: unreadable").await;
    damage(&disk, "unreadable");
    let after = api.admin_get("/api/admin/messages").await;
    assert_eq!(after["emails"], messages["emails"], "what is damaged is left out");
}

#[tokio::test]
async fn bad_parameters_get_their_codes() {
    let api = TestServer::start().await;
    for (query, code) in [
        ("?page=1", "parameter_invalid"),
        ("?limit=0", "parameter_invalid"),
        ("?after=x", "parameter_invalid"),
        ("?after=1-2", "parameter_invalid"),
        ("?after=+1-2-3", "parameter_invalid"),
        ("?after=1-2-99999999999999999999", "parameter_invalid"),
        ("?domain=", "domain_invalid"),
    ] {
        for list in ["messages", "mailboxes"] {
            let answer = api.administrator("GET", &format!("/api/admin/{list}{query}"), "").await;
            assert_eq!(refusal(&answer), (400, code.into()), "{list}{query}");
        }
    }
}
