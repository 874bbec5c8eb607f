//! The interfaces of Mailpit and MailHog. Their own clients use them in `tests/compat`.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempmail::clock::Clock as _;
use tempmail::config::{CompatApi, Config, PublicAccess};
use tempmail::http::Peer;
use tempmail::model::Scope;
use tempmail::tokens::NewToken;

use super::{Answer, TestApi, public};

const MAIL: &str = "From: Shop <shop@sender.test>\r\nTo: Ann <Ann@example.test>, list@other.test\r\nCc: c@example.test\r\n\
    Reply-To: r@sender.test\r\nSubject: Your =?utf-8?q?c=C3=B6de?=\r\nMessage-ID: <1@sender.test>\r\n\
    Date: Tue, 14 Nov 2023 23:13:20 +0100\r\nList-Unsubscribe: <https://x.test/u>, <mailto:u@x.test>\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\none\r\ntwo\r\n--m\r\n\
    Content-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment\r\n\r\nPDF\r\n--m\r\n\
    Content-Type: image/png\r\nContent-ID: <i@x>\r\n\r\npng\r\n--m--\r\n";

fn mailpit() -> TestApi {
    with(CompatApi::Mailpit, |_| {})
}

fn with(compat_api: CompatApi, configure: impl FnOnce(&mut Config)) -> TestApi {
    TestApi::with(|config| {
        config.http.compat_api = compat_api;
        configure(config);
    })
}

async fn receive(api: &TestApi, recipients: &[&str], subject: &str) -> String {
    let to = recipients.join(", ");
    let ids = api
        .receive(recipients, &format!("From: a@sender.test\r\nTo: {to}\r\nSubject: {subject}\r\n\r\n{subject}"))
        .await;
    api.clock.advance(Duration::from_millis(300));
    ids[0].to_string()
}

async fn delete(api: &TestApi, target: &str, body: &str) -> Answer {
    api.send(public("DELETE", target).body(Body::from(body.to_owned())).expect("request")).await
}

/// The subjects in a list of Mailpit.
fn subjects(page: &Value) -> Vec<&str> {
    page["messages"].as_array().expect("list").iter().map(|mail| mail["Subject"].as_str().expect("text")).collect()
}

/// The subjects of all mail, newest first.
async fn listed(api: &TestApi) -> Vec<String> {
    let page = api.get("/api/v1/messages").await.json();
    subjects(&page).into_iter().map(str::to_owned).collect()
}

fn text(answer: &Answer) -> (u16, &str) {
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"), "{answer:?}");
    (answer.status.as_u16(), str::from_utf8(&answer.body).expect("UTF-8"))
}

#[tokio::test]
async fn without_the_setting_there_is_no_such_path() {
    for (compat_api, target) in [
        (CompatApi::Off, "/api/v1/messages"),
        (CompatApi::Off, "/api/v2/messages"),
        (CompatApi::Mailpit, "/api/v2/messages"),
        (CompatApi::MailHog, "/api/v1/search?query=x"),
    ] {
        let api = with(compat_api, |_| {});
        assert_eq!(api.get(target).await.problem(), "unknown_path", "{compat_api} {target}");
    }
}

#[tokio::test]
async fn a_list_of_mailpit_has_its_fields_and_a_message_once() {
    let api = mailpit();
    let ids = api.receive(&["Ann@example.test", "hidden@example.test", "C@example.test"], MAIL).await;
    let mut page = api.get("/api/v1/messages?start=0&limit=5").await.json();
    let id = page["messages"][0]["ID"].as_str().expect("an id").to_owned();
    assert!(ids.iter().any(|known| known.to_string() == id));
    page["messages"][0]["ID"] = "ID".into();
    let address = |name: &str, address: &str| json!({ "Name": name, "Address": address });
    let expected = json!({
        "total": 1, "unread": 1, "count": 1, "messages_count": 1, "messages_unread": 1, "start": 0, "tags": [],
        "messages": [{
            "ID": "ID", "MessageID": "1@sender.test", "Read": false, "From": address("Shop", "shop@sender.test"),
            "To": [address("Ann", "Ann@example.test"), address("", "list@other.test")],
            "Cc": [address("", "c@example.test")], "Bcc": [address("", "hidden@example.test")],
            "ReplyTo": [address("", "r@sender.test")], "Subject": "Your cöde", "Created": "2023-11-14T22:13:20.000Z",
            "Username": "", "Tags": [], "Size": MAIL.len(), "Attachments": 1, "Snippet": "one two",
        }],
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn a_message_of_mailpit_has_its_fields() {
    let api = mailpit();
    let id = api.receive(&["Ann@example.test"], MAIL).await[0].to_string();
    let message = api.get(&format!("/api/v1/message/{id}")).await.json();
    for (field, expected) in [
        ("ID", json!(id)),
        ("ReturnPath", json!("bounces@sender.test")),
        ("Date", json!("2023-11-14T22:13:20.000Z")),
        ("Text", json!("one\ntwo")),
        ("HTML", json!("")),
        ("Bcc", json!([])),
        ("Size", json!(MAIL.len())),
        (
            "Attachments",
            json!([{ "PartID": "0", "FileName": "a.pdf", "ContentType": "application/pdf", "ContentID": "", "Size": 3 }]),
        ),
        (
            "Inline",
            json!([{ "PartID": "1", "FileName": "attachment-1.png", "ContentType": "image/png", "ContentID": "i@x", "Size": 3 }]),
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
    let raw = api.get(&format!("/api/v1/message/{id}/raw")).await;
    assert!(text(&raw).1.ends_with(MAIL), "{raw:?}");
    let part = api.get(&format!("/api/v1/message/{id}/part/0")).await;
    assert_eq!((part.header("content-type"), &part.body[..]), (Some("application/pdf"), &b"PDF"[..]));
    assert_eq!(text(&api.get(&format!("/view/{id}.txt")).await), (200, "one\ntwo"));
    let page = api.get("/view/latest.html").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(api.get("/api/v1/info").await.json()["Messages"], 1);
}

#[tokio::test]
async fn html_is_there_where_the_mail_has_html() {
    let api = mailpit();
    api.receive(&["ann@example.test"], "Content-Type: text/html\r\n\r\n<b>x</b>").await;
    let message = api.get("/api/v1/message/latest").await.json();
    assert_eq!((message["HTML"].as_str(), message["Text"].as_str().map(str::trim)), (Some("<b>x</b>"), Some("x")));
    assert_eq!(message["From"], json!({ "Name": "", "Address": "" }));
}

#[tokio::test]
async fn lists_have_parts_and_limits() {
    let api = mailpit();
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
    let api = mailpit();
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
    let api = mailpit();
    receive(&api, &["ann@example.test"], "oldest").await;
    for _ in 0..1000 {
        api.receive(&["ann@example.test"], "Subject: newer\r\n\r\n").await;
    }
    let count = |page: Value| page["messages_count"].clone();
    assert_eq!(count(api.get("/api/v1/search?query=oldest").await.json()), 0);
    assert_eq!(count(api.get("/api/v1/search?query=newer&limit=1").await.json()), 1000);
    let page = api.get("/api/v1/messages?start=1000&limit=1").await.json();
    assert_eq!((subjects(&page), &page["total"]), (vec!["oldest"], &json!(1001)));
}

#[tokio::test]
async fn deleting_a_message_deletes_it_for_all_its_recipients() {
    let api = mailpit();
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

#[tokio::test]
async fn mail_of_role_addresses_is_only_for_the_administrator() {
    let api = mailpit();
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

/// The statuses of reading and of deleting, with these header fields and from this address.
async fn statuses(api: &TestApi, peer: &str, fields: &[(&str, &str)]) -> [u16; 2] {
    let mut statuses = [0; 2];
    for (status, method) in statuses.iter_mut().zip(["GET", "DELETE"]) {
        let peer: SocketAddr = peer.parse().expect("address");
        let request = Request::builder().method(method).uri("/api/v1/messages").header(header::HOST, "localhost");
        let request =
            fields.iter().fold(request.extension(Peer(peer)), |request, (name, value)| request.header(*name, *value));
        *status = api.send(request.body(Body::empty()).expect("request")).await.status.as_u16();
    }
    statuses
}

#[tokio::test]
async fn only_programs_of_this_machine_need_no_token() {
    type Configure = fn(&mut Config);
    let configurations: [(&str, Configure, [u16; 2]); 6] = [
        ("loopback", |_| {}, [200, 200]),
        ("beyond loopback", |config| config.http.listen = vec!["0.0.0.0:8080".parse().expect("address")], [401, 401]),
        ("any origin", |config| config.http.allowed_origins = Some(vec!["*".to_owned()]), [401, 401]),
        ("closed to readers", |config| config.public.read = PublicAccess::Token, [401, 401]),
        ("closed to deletions", |config| config.public.delete = PublicAccess::Off, [200, 401]),
        (
            "a trusted proxy",
            |config| config.http.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")],
            [200, 200],
        ),
    ];
    for (name, configure, expected) in configurations {
        for compat_api in [CompatApi::Mailpit, CompatApi::MailHog] {
            let api = with(compat_api, configure);
            assert_eq!(statuses(&api, "127.0.0.1:5000", &[]).await, expected, "{name}");
            assert_eq!(statuses(&api, "[::ffff:127.0.0.1]:5000", &[]).await, expected, "{name}");
            assert_eq!(statuses(&api, "192.0.2.1:5000", &[]).await, [401, 401], "{name}");
            for field in ["x-forwarded-for", "forwarded"] {
                assert_eq!(statuses(&api, "127.0.0.1:5000", &[(field, "192.0.2.1")]).await, [401, 401], "{name}");
            }
        }
    }
}

#[tokio::test]
async fn a_token_opens_what_its_scope_permits() {
    let api = with(CompatApi::Mailpit, |config| config.http.listen = vec!["0.0.0.0:8080".parse().expect("address")]);
    let now = api.clock.now();
    for (scope, expected) in [(Scope::Admin, [200, 200]), (Scope::Read, [200, 403])] {
        let token = NewToken { name: scope.to_string().parse().expect("name"), scope, expires_at: None };
        let token = api.tokens.create(token, now).await.expect("a token").secret.expose().to_owned();
        let basic = format!("Basic {}", STANDARD.encode(format!("ci:{token}")));
        for credentials in [format!("Bearer {token}"), basic] {
            let fields = [("authorization", credentials.as_str())];
            assert_eq!(statuses(&api, "192.0.2.1:5000", &fields).await, expected, "{credentials}");
        }
    }
    let wrong = format!("Basic {}", STANDARD.encode("ci:wrong"));
    assert_eq!(statuses(&api, "192.0.2.1:5000", &[("authorization", &wrong)]).await, [401, 401]);
    let local = mailpit();
    assert_eq!(
        statuses(&local, "127.0.0.1:5000", &[("authorization", &wrong)]).await,
        [200, 200],
        "no token is needed"
    );
    // Wrong tokens are counted, so that nobody can try many.
    for _ in 0..40 {
        statuses(&api, "192.0.2.1:5000", &[("authorization", &wrong)]).await;
    }
    assert_eq!(statuses(&api, "192.0.2.1:5000", &[("authorization", &wrong)]).await, [429, 429]);
    let refused = api.get("/api/v1/messages").await;
    assert!(refused.header("www-authenticate").expect("a challenge").starts_with("Basic "));
    assert_eq!(text(&refused).0, 401);
}

#[tokio::test]
async fn pages_of_other_sites_neither_read_nor_delete() {
    let api = mailpit();
    receive(&api, &["ann@example.test"], "private").await;
    for (method, status) in [("GET", 200), ("DELETE", 403)] {
        let request = public(method, "/api/v1/messages").header(header::ORIGIN, "https://evil.test");
        let answer = api.send(request.body(Body::empty()).expect("request")).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (status, None), "{method}");
    }
    let request = Request::builder().uri("/api/v1/messages").header(header::HOST, "evil.test");
    let peer = Peer("127.0.0.1:5000".parse().expect("address"));
    let answer = api.send(request.extension(peer).body(Body::empty()).expect("request")).await;
    assert_eq!(answer.problem(), "host_not_allowed");
    assert_eq!(listed(&api).await, ["private"]);
}

/// The JSON of an answer of MailHog.
fn of_mailhog(answer: &Answer) -> Value {
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("text/json")), "{answer:?}");
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[tokio::test]
async fn a_message_of_mailhog_has_its_fields() {
    let api = with(CompatApi::MailHog, |_| {});
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
    let api = with(CompatApi::MailHog, |_| {});
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
    let api = with(CompatApi::MailHog, |_| {});
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
