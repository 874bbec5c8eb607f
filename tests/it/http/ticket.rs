//! Tickets: a frame of a browser shows the HTML of a private mail, although it can send neither a token nor a key.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::json;

use super::{Answer, TestServer};

const ANN: &str = "ann@example.test";
const MAIL: &str = "Content-Type: text/html\r\n\r\n<p style=\"color: red\">secret</p>";

/// An answer to somebody who bears a key or token, or nothing.
async fn get(api: &TestServer, bearer: Option<&str>, target: &str) -> Answer {
    let request = api.request("GET", target);
    Answer::to(if let Some(bearer) = bearer { request.bearer_auth(bearer) } else { request }).await
}

/// A private inbox with two mails. Returns its key, and where the mails are.
async fn private(api: &TestServer) -> (String, [String; 2]) {
    let (status, lease) = api.admin_post("/api/addresses", &json!({ "address": ANN })).await;
    assert_eq!(status, 201, "{lease}");
    let mut mails = [(); 2].map(|()| String::new());
    for mail in &mut mails {
        *mail = format!("/api/mail/messages/{}", api.receive(&[ANN], MAIL).await.remove(0));
    }
    (lease["key"].as_str().expect("a key").to_owned(), mails)
}

async fn ticket(api: &TestServer, bearer: &str, mail: &str) -> String {
    let answer = get(api, Some(bearer), &format!("{mail}/ticket")).await.json();
    answer["ticket"].as_str().expect("a ticket").to_owned()
}

#[tokio::test]
async fn a_ticket_opens_the_html_of_one_mail_for_a_minute() {
    let api = TestServer::start().await;
    let (key, [mail, other]) = private(&api).await;
    let ticket = ticket(&api, &key, &mail).await;
    assert!(!ticket.contains(&key[4..]));
    let html = format!("{mail}/html?links=shown&remote=0");
    let (by_key, by_ticket) =
        (get(&api, Some(&key), &html).await, get(&api, None, &format!("{html}&ticket={ticket}")).await);
    assert_eq!((by_ticket.status, by_ticket.text()), (by_key.status, by_key.text()));
    assert!(by_ticket.text().contains("style=\"color"), "{}", by_ticket.text());
    let policy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; \
        style-src 'unsafe-inline'; base-uri 'none'";
    for name in ["content-security-policy", "content-type", "cache-control", "referrer-policy"] {
        assert_eq!(by_ticket.header(name), by_key.header(name), "{name}");
    }
    assert_eq!(by_ticket.header("content-security-policy"), Some(policy));

    let (last, rest) = (ticket.chars().next_back().expect("text"), &ticket[..ticket.len() - 1]);
    let (until, mac) = ticket.split_once('.').expect("two parts");
    let later = until.parse::<u64>().expect("a time") + 1;
    for (target, expected) in [
        (format!("{mail}/html"), "not_found"),
        (format!("{mail}/html?ticket="), "token_invalid"),
        (format!("{mail}/html?ticket={rest}{}", if last == 'A' { 'B' } else { 'A' }), "token_invalid"),
        (format!("{mail}/html?ticket={later}.{mac}"), "token_invalid"),
        (format!("{mail}/html?ticket={ticket}&ticket={ticket}"), "parameter_invalid"),
        (format!("{other}/html?ticket={ticket}"), "token_invalid"),
        (format!("{mail}?ticket={ticket}"), "not_found"),
        (format!("{mail}/raw?ticket={ticket}"), "not_found"),
        (format!("{mail}/text?ticket={ticket}"), "not_found"),
        (format!("{mail}/ticket?ticket={ticket}"), "not_found"),
        (format!("/api/addresses?ticket={ticket}"), "token_required"),
    ] {
        assert_eq!(get(&api, None, &target).await.problem(), expected, "{target}");
    }
    assert_eq!(api.get(&format!("/api/mail/messages?to={ANN}&ticket={ticket}")).await.json()["total"], 0);
    let html = format!("{mail}/html?ticket={ticket}");
    api.clock.advance(Duration::from_millis(59_999));
    assert_eq!(get(&api, None, &html).await.status, 200);
    api.clock.advance(Duration::from_millis(1));
    assert_eq!(get(&api, None, &html).await.problem(), "token_invalid");
}

#[tokio::test]
async fn only_who_may_read_a_mail_gets_a_ticket() {
    let api = TestServer::start().await;
    let (key, [mail, _]) = private(&api).await;
    let (_, other) = api.admin_post("/api/addresses", &json!({ "address": "bob@example.test" })).await;
    for bearer in [None, other["key"].as_str()] {
        assert_eq!(get(&api, bearer, &format!("{mail}/ticket")).await.problem(), "not_found");
    }
    // It opens no more than is there.
    let html = format!("{mail}/html?ticket={}", ticket(&api, &key, &mail).await);
    assert_eq!(
        Answer::to(api.request("DELETE", &format!("/api/addresses?address={ANN}")).bearer_auth(&key)).await.status,
        200
    );
    assert_eq!(get(&api, None, &html).await.problem(), "not_found");
    // Nobody tries many.
    let tried = format!("{mail}/html?ticket=1.x");
    let mut count = 0;
    while get(&api, None, &tried).await.problem() == "token_invalid" {
        count += 1;
        assert!((1..100).contains(&count), "{count}");
    }
    assert_eq!(get(&api, None, &tried).await.problem(), "rate_limited");
}

#[tokio::test]
async fn a_ticket_stands_for_a_token_in_a_closed_service() {
    let api = TestServer::with("public = 'web'").await;
    let token = api.token("read").await;
    let (key, [private, _]) = private(&api).await;
    let public = format!("/api/mail/messages/{}", api.receive(&["eve@example.test"], MAIL).await.remove(0));
    for (bearer, mail) in [(&token, &public), (&token, &private), (&key, &private)] {
        let ticket = ticket(&api, bearer, mail).await;
        assert_eq!(get(&api, None, &format!("{mail}/html?ticket={ticket}")).await.status, 200);
        assert_eq!(get(&api, None, &format!("{mail}?ticket={ticket}")).await.problem(), "token_required");
        for wrong in ["?ticket=1.x", "?a=b&ticket=%20"] {
            assert_eq!(get(&api, None, &format!("{mail}/html{wrong}")).await.problem(), "token_invalid");
        }
        assert_eq!(get(&api, None, &format!("{mail}/html?no-ticket={ticket}")).await.problem(), "not_found");
        assert_eq!(get(&api, None, &format!("{mail}/html")).await.problem(), "token_required");
    }
    assert_eq!(get(&api, Some(&key), &format!("{public}/ticket")).await.problem(), "not_found");
}
