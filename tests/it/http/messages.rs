//! `GET /api/mail/messages`: the fields, pages and errors of a list, and what it leaves out.
//! Promise: it outlives the code below it.

use std::time::Duration;

use std::io::ErrorKind;

use serde_json::{Value, json};
use tempmail::store::disk::Disk;

use super::{TestServer, damage, place};
use crate::support::test_disk::{Call, TestDisk};
use crate::support::until::until;

const INBOX: &str = "/api/mail/messages?to=ann@example.test";

#[tokio::test]
async fn an_email_has_exactly_the_six_fields() {
    let api = TestServer::start().await;
    let raw = "From: Bob <bob@sender.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
               Content-Type: text/html\r\n\r\n<p>Hello</p>";
    let ids = api.receive(&["Ann@EXAMPLE.test"], raw).await;
    let answer = api.get(INBOX).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json(),
        json!({
            "emails": [{
                "id": ids[0],
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
    let api = TestServer::start().await;
    api.receive(&["ann@example.test"], "").await;
    let email = &api.get(INBOX).await.json()["emails"][0];
    assert_eq!(email["from"], "bounces@sender.test", "the envelope's sender stands in");
    assert_eq!(email["subject"], "");
    assert_eq!(email["message"], "");
    assert_eq!(email.as_object().expect("object").len(), 6);
}

#[tokio::test]
async fn a_text_mail_brings_no_markup() {
    let api = TestServer::start().await;
    api.receive(&["ann@example.test"], "Subject: x\r\n\r\n<script>alert(1)</script>\r\nnext").await;
    let page = api.get(INBOX).await.json();
    assert_eq!(page["emails"][0]["message"], "&lt;script&gt;alert(1)&lt;/script&gt;<br>\nnext");
}

#[tokio::test]
async fn an_inbox_that_never_was_is_empty() {
    let answer = TestServer::start().await.get("/api/mail/messages?to=nobody@unregistered.example").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({ "emails": [], "total": 0, "page": 1, "limit": 20, "pages": 0 }));
}

#[tokio::test]
async fn pages_are_newest_first_and_counted_to_the_end() {
    let api = TestServer::start().await;
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
    let api = TestServer::with("page-size-default = 50\npage-size-max = 300").await;
    assert_eq!(api.get(INBOX).await.json()["limit"], 50);
    assert_eq!(api.get(&format!("{INBOX}&limit=301")).await.json()["limit"], 300);
    assert_eq!(api.get(&format!("{INBOX}&limit=99999999999999999999999")).await.json()["limit"], 300);
    for revision in [1, 2] {
        let api = TestServer::with(&format!("revision = {revision}")).await;
        assert_eq!(api.get(INBOX).await.json()["limit"], 20);
        assert_eq!(api.get(&format!("{INBOX}&limit=101")).await.json()["limit"], 100);
    }
}

#[tokio::test]
async fn a_page_beyond_all_numbers_is_empty() {
    let api = TestServer::start().await;
    api.receive(&["ann@example.test"], "").await;
    for page in ["18446744073709551615", "9223372036854775807"] {
        let answer = api.get(&format!("{INBOX}&limit=100&page={page}")).await.json();
        assert_eq!((answer["emails"].as_array().map(Vec::len), &answer["total"]), (Some(0), &json!(1)));
    }
}

#[tokio::test]
async fn bad_parameters_get_their_codes() {
    let api = TestServer::start().await;
    for (query, code) in [
        ("", "parameter_missing"),
        ("?to=", "address_invalid"),
        ("?to=ann", "address_invalid"),
        ("?to=ann@[127.0.0.1]", "address_invalid"),
        ("?to=a%20b@example.test", "address_invalid"),
        ("?to=a%0d%0a@example.test", "address_invalid"),
        ("?to=a@example.test&to=a@example.test", "parameter_invalid"),
        ("?to=a@example.test&page=0", "parameter_invalid"),
        ("?to=a@example.test&page=x", "parameter_invalid"),
        ("?to=a@example.test&page=99999999999999999999999", "parameter_invalid"),
        ("?to=a@example.test&page=1&page=1", "parameter_invalid"),
        ("?to=a@example.test&limit=0", "parameter_invalid"),
        ("?to=a@example.test&limit=-1", "parameter_invalid"),
        ("?to=a@example.test&limit=", "parameter_invalid"),
        ("?to=%ff@example.test", "parameter_invalid"),
        ("?to=a@example.test&other=%", "parameter_invalid"),
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
    let api = TestServer::start().await;
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
    let api = TestServer::with("domain = ['example.com']").await;
    let target = "/api/mail/messages?to=Admin@example.com";
    let answer = api.get(target).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (403, "role_address"));
    assert_eq!(api.administrator("GET", target, "").await.status, 200);
    assert_eq!(api.get("/api/mail/messages?to=admin@example.test").await.status, 200);
}

#[tokio::test]
async fn mail_to_postmaster_without_a_domain_is_the_administrators_whatever_the_hostname() {
    for hostname in ["localhost", "mx.example.test", "mx.example.com"] {
        let api = TestServer::with(&format!("hostname = '{hostname}'")).await;
        let target = format!("/api/mail/messages?to=Postmaster@{hostname}");
        assert_eq!(api.get(&target).await.problem(), "role_address", "{hostname}");
        assert_eq!(api.administrator("GET", &target, "").await.status, 200);
    }
}

fn subjects(page: &Value) -> Vec<&str> {
    let emails = page["emails"].as_array().expect("array");
    emails.iter().map(|email| email["subject"].as_str().expect("subject")).collect()
}

/// Two of these do not fit one batch.
fn large(subject: &str) -> String {
    format!("Subject: {subject}\r\n\r\n{}", "x".repeat(200_000))
}

/// What is left out, also all of a batch, must leave no stray comma behind.
#[tokio::test]
async fn what_is_damaged_is_left_out() {
    let damaged: [&[usize]; 5] = [&[1, 3], &[0, 1], &[1, 2], &[3], &[0, 1, 2, 3]];
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    for (case, damaged) in damaged.into_iter().enumerate() {
        for raw in [|subject: &str| format!("Subject: {subject}\r\n\r\n"), large] {
            assert_eq!(api.delete("/api/mail/delete?to=ann@example.test").await.status, 200);
            let names: Vec<_> = (0..4).map(|number| format!("mail {number} of {case}")).collect();
            api.receive_all("ann@example.test", names.iter().map(|name| raw(name))).await;
            for &number in damaged {
                damage(&disk, &names[number]);
            }
            let page = api.get(INBOX).await.json();
            let left = names.iter().enumerate().rev().filter(|(number, _)| !damaged.contains(number));
            assert_eq!(subjects(&page), left.map(|(_, name)| name).collect::<Vec<_>>(), "without {damaged:?}");
            assert_eq!(page["total"], 4);
        }
    }
}

/// The runtime of this test has one thread, which reads what is in the page cache and never waits for the disk.
#[tokio::test]
async fn a_list_that_waits_for_the_disk_keeps_nobody_waiting() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let names = ["mail 0", "mail 1", "mail 2", "mail 3"];
    api.receive_all("ann@example.test", names.map(|name| format!("Subject: {name}\r\n\r\n"))).await;
    let (_, amid_second) = place(&disk, "mail 1");
    disk.cache_from(amid_second);
    let is_read = |call: &Call| call.is_by_reader_of("journal-");
    let before = disk.count(is_read);
    let held = disk.hold(is_read);
    let list = api.get(INBOX);
    let meanwhile = async {
        until("the disk is asked", async || held.waiting() > 0).await;
        assert_eq!(subjects(&api.get(&format!("{INBOX}&limit=2&fields=subject")).await.json()), ["mail 3", "mail 2"]);
        drop(held);
    };
    let (answer, ()) = tokio::join!(list, meanwhile);
    assert_eq!(subjects(&answer.json()), ["mail 3", "mail 2", "mail 1", "mail 0"]);
    assert_eq!(disk.count(is_read), before + 2, "only what is not in the page cache");
}

/// The pages and deletions meet in another way each time.
#[tokio::test]
async fn what_vanishes_while_a_list_is_written_is_left_out() {
    let api = TestServer::start().await;
    for _ in 0..20 {
        api.receive_all("ann@example.test", ["0", "1", "2", "3"].map(large)).await;
        let lists = async { while api.get(INBOX).await.json()["total"] != 0 {} };
        let deletions = async {
            for subject in ["1", "3", "0", "2"] {
                let target = format!("/api/mail/delete?to=ann@example.test&subject={subject}");
                assert_eq!(api.delete(&target).await.json()["deleted"], 1);
            }
        };
        tokio::join!(lists, deletions);
    }
}

#[tokio::test]
async fn a_second_list_shows_what_is_new_and_never_what_was_removed() {
    let api = TestServer::start().await;
    api.receive_all("ann@example.test", ["0", "1", "2"].map(|subject| format!("Subject: {subject}\r\n\r\n"))).await;
    let page = api.get(INBOX).await.json();
    assert_eq!(subjects(&page), ["2", "1", "0"]);
    api.receive(&["ann@example.test"], "Subject: 3\r\n\r\n").await;
    assert_eq!(subjects(&api.get(INBOX).await.json()), ["3", "2", "1", "0"]);
    let target = format!("/api/mail/delete?id={}", page["emails"][1]["id"].as_str().expect("id"));
    assert_eq!(api.delete(&target).await.status, 200);
    assert_eq!(subjects(&api.get(INBOX).await.json()), ["3", "2", "0"]);
    api.clock.advance(Duration::from_hours(2));
    assert!(subjects(&api.get(INBOX).await.json()).is_empty());
}

#[tokio::test]
async fn fields_without_bodies_are_read_from_the_disk_once() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    api.receive_all("ann@example.test", ["first", "second"].map(large)).await;
    let fields = format!("{INBOX}&fields=id,subject,preview,codes");
    let page = api.get(&fields).await.json();
    let _failing = disk.fail(|call| call.is_by_reader_of("journal-").then_some(ErrorKind::PermissionDenied));
    assert_eq!(api.get(&fields).await.json(), page);
    assert_eq!(api.get(INBOX).await.problem(), "store_unavailable", "bodies are not kept");
}

/// Mail whose JSON with its body is too long to be kept, and where the body begins. In its record the envelope comes first.
async fn listed_once(api: &TestServer, disk: &TestDisk, raw: &str, body: &str) -> (String, String, u64) {
    api.delete("/api/mail/delete?to=ann@example.test").await;
    api.receive(&["ann@example.test"], raw).await;
    let (name, at) = place(disk, body);
    (api.get(INBOX).await.text().to_owned(), name, at)
}

#[tokio::test]
async fn of_a_mail_that_was_listed_only_the_body_is_read_again() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let html = "Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n";
    let base64 = "Content-Transfer-Encoding: base64\r\n\r\n";
    let parts = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n";
    for (number, (head, line)) in [
        ("Subject: \"s\"\r\n\r\n", "It's <plain> & \"simple\".\r\n"),
        (html, "<p class=3D\"x\">gr=FCn</p>=\r\n\r\n"),
        (base64, "Z3LDvG4hZ3LDvG4hZ3LDvG4hZ3LDvG4h\r\n"),
        (parts, "a part\r\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!("{number}{number}{number}{number}\r\n{}", line.repeat(28_000 / line.len()));
        let (list, _, at) = listed_once(&api, &disk, &format!("{head}{body}"), &body).await;
        assert!(list.len() > 16 * 1024, "{number}");
        disk.cache_from(at);
        let is_read = |call: &Call| call.is_by_reader_of("journal-");
        let before = disk.count(is_read);
        assert_eq!(api.get(INBOX).await.text(), list, "{number}");
        assert_eq!(disk.count(is_read), before, "what is before the body of {number} is not read");
    }
}

#[tokio::test]
async fn a_body_that_is_damaged_after_its_mail_was_listed_is_never_shown() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    let body = "It is whole.\r\n".repeat(1500);
    let (list, name, at) = listed_once(&api, &disk, &format!("Subject: s\r\n\r\n{body}"), &body).await;
    for cached_from in [u64::MAX, at, 0] {
        disk.cache_from(cached_from);
        for within in [0, body.len() - 1] {
            let write = |octets: &str| {
                disk.open(&name).expect("the file").write_at(at + within as u64, octets.as_bytes()).expect("a write");
            };
            write("~");
            let page = api.get(INBOX).await.json();
            assert_eq!((subjects(&page), &page["total"]), (vec![], &json!(1)));
            write(&body[within..=within]);
            assert_eq!(api.get(INBOX).await.text(), list);
        }
    }
    assert_eq!(api.delete("/api/mail/delete?to=ann@example.test").await.status, 200);
    assert!(subjects(&api.get(INBOX).await.json()).is_empty());
}

#[tokio::test]
async fn a_store_that_fails_is_an_error_before_the_first_octet_and_breaks_off_after_it() {
    let disk = TestDisk::default();
    let api = TestServer::on(disk.clone(), "").await;
    api.receive_all("ann@example.test", ["first", "second"].map(large)).await;
    let unreadable = |subject: &str| {
        let (name, at) = place(&disk, subject);
        disk.fail(move |call| {
            let is_in = (call.offset..call.offset + call.octets).contains(&at);
            (call.is_by_reader_of(&name) && is_in).then_some(ErrorKind::PermissionDenied)
        })
    };
    let failing = unreadable("first");
    let response = api.request("GET", INBOX).send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.is_err(), "the body must not look complete");
    assert!(failing.failed() > 0);

    let _failing = unreadable("second");
    let answer = api.get(INBOX).await;
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (503, "store_unavailable"));
    assert!(!answer.text().contains("permission denied"));
}
