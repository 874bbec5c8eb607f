//! Changes of a lease: what its holder asks for, and what mail does to it, many at once.
//! Promise: it outlives the code below it.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{ANN, HOUR, NOBODY, holder, lease_of, plain, rcpt, subjects, take, until_clear};
use crate::support::answer::Answer;
use crate::support::test_server::TestServer;

/// Changes the private inbox of a holder, and returns it, or the problem.
async fn change(server: &TestServer, key: &str, body: Value) -> Value {
    let request = server.request("PATCH", "/api/addresses").query(&[("address", ANN)]).bearer_auth(key);
    serde_json::from_slice(&Answer::to(request.json(&body)).await.body).expect("JSON")
}

#[tokio::test]
async fn every_message_counts_however_many_come_at_once() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "messages": 50 })).await;
    join_all((0..50).map(|_| server.send(ANN, "hi", ""))).await;
    let lease = lease_of(&server, &key).await;
    assert_eq!((&lease["messagesLeft"], &lease["expiresAt"]), (&json!(0), &json!("2023-11-14 22:23:20")));
    assert_eq!(rcpt(&server, ANN).await, NOBODY);
    assert_eq!(server.stats().await.emails, 50);
    server.clock.advance(HOUR / 6);
    until_clear(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn every_change_is_made_however_many_come_at_once() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, plain()).await;
    let statuses =
        join_all((1..=20).map(|days| holder(&server, "PATCH", ANN, &key, json!({ "messages": days })))).await;
    assert_eq!(statuses, [200; 20]);
    server.stop().await;
}

#[tokio::test]
async fn after_its_last_message_an_inbox_can_be_prolonged() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "messages": 1 })).await;
    server.send(ANN, "first", "").await;
    let day = json!({ "forSeconds": 86_400 });
    // It can be read for longer, and takes no more mail.
    let lease = change(&server, &key, day.clone()).await;
    assert_eq!((&lease["messagesLeft"], &lease["expiresAt"]), (&json!(0), &json!("2023-11-15 22:13:20")));
    assert_eq!(rcpt(&server, ANN).await, NOBODY);
    let lease = change(&server, &key, json!({ "forSeconds": 86_400, "messages": 0 })).await;
    assert_eq!((&lease["messagesLeft"], &lease["expiresAt"]), (&Value::Null, &json!("2023-11-15 22:13:20")));
    server.clock.advance(HOUR);
    server.send(ANN, "second", "").await;
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["second", "first"]);
    server.stop().await;
}

#[tokio::test]
async fn who_prolongs_an_inbox_keeps_new_mail_as_long() {
    let server = TestServer::with("lease-retention-max = '36h'").await;
    let key = take(&server, ANN, json!({ "forSeconds": 3_600 })).await;
    assert_eq!(lease_of(&server, &key).await["keepSeconds"], 3_600);
    let keep = async |body| change(&server, &key, body).await["keepSeconds"].clone();
    assert_eq!(keep(json!({ "forSeconds": 86_400 })).await, 86_400);
    server.send(ANN, "hi", "").await;
    server.clock.advance(20 * HOUR);
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["hi"]);
    assert_eq!(keep(json!({ "forSeconds": 86_400 })).await, 36 * 3_600, "within lease-retention-max");
    assert_eq!(keep(json!({ "keepSeconds": 60 })).await, 60);
    assert_eq!(keep(json!({ "forSeconds": 86_400 })).await, 60, "the holder has said how long");
    server.stop().await;
}

#[tokio::test]
async fn a_term_that_is_not_permitted_is_named_as_it_was_given() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, plain()).await;
    for member in ["forSeconds", "idleSeconds", "messages", "keepSeconds"] {
        let problem = change(&server, &key, json!({ (member): 4_000_000_000_u32 })).await;
        assert_eq!((&problem["code"], &problem["parameter"]), (&json!("parameter_invalid"), &json!(member)));
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(member)), "{problem}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_inbox_tells_its_end_by_time_apart_from_the_one_without_a_reader() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "forSeconds": 86_400, "idleSeconds": 3600 })).await;
    let lease = lease_of(&server, &key).await;
    let (idle, time) = (json!("2023-11-14 23:13:20"), json!("2023-11-15 22:13:20"));
    assert_eq!((&lease["expiresAt"], &lease["heldUntil"]), (&idle, &time));
    // The administrator asks for one by its address, and who holds no key of it learns nothing.
    let asked = server.admin_get("/api/addresses?address=Ann%2Bx@example.test").await;
    assert_eq!(asked["addresses"], json!([lease]));
    assert_eq!(server.admin_get("/api/addresses?address=bob@example.test").await["addresses"], json!([]));
    let other = take(&server, "bob@example.test", plain()).await;
    let of = async |key: &str, address: &str| {
        let request = server.request("GET", "/api/addresses").query(&[("address", address)]).bearer_auth(key);
        Answer::to(request).await.json()["addresses"].clone()
    };
    assert_eq!(of(&other, ANN).await, json!([]));
    assert_eq!(of(&key, ANN).await, json!([lease]));
    let public = Answer::to(server.request("GET", "/api/addresses").query(&[("address", ANN)])).await;
    assert_eq!(public.status, 401);
    server.stop().await;
}
