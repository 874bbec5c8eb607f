//! Who gets an address, and until when.
//! Promise: it outlives the code below it.

use futures_util::future::join_all;
use serde_json::json;
use tempmail::model::LEASE_REST;

use super::{ANN, HOUR, holder, plain, subjects, take, try_take, until_clear};
use crate::support::test_server::TestServer;

#[tokio::test]
async fn of_many_who_ask_at_once_one_gets_the_address() {
    let server = TestServer::start().await;
    // A client may ask 30 times in a minute.
    for round in 0..3 {
        let body = json!({ "address": format!("user{round}@example.test") });
        let answers = join_all((0..8).map(|_| try_take(&server, &body))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    }
    server.stop().await;
}

#[tokio::test]
async fn an_address_is_taken_in_all_its_spellings_until_it_has_rested() {
    let server = TestServer::start().await;
    let key = take(&server, "Ann+shop@Example.TEST", json!({ "forSeconds": 3600 })).await;
    for spelling in [ANN, "ANN@example.test", "ann+other@example.test", "\"ann\"@example.test"] {
        let (status, problem) = try_take(&server, &json!({ "address": spelling })).await;
        assert_eq!((status, &problem["code"]), (409, &json!("address_in_use")), "{spelling}");
        assert_eq!(problem["until"], "2023-11-14 23:13:20", "{problem}");
    }
    server.send(ANN, "old", "").await;
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["old"]);
    server.clock.advance(HOUR);
    let (status, problem) = try_take(&server, &json!({ "address": ANN })).await;
    assert_eq!((status, &problem["until"]), (409, &json!("2023-12-14 23:13:20")), "it rests");
    until_clear(&server).await;
    server.clock.advance(LEASE_REST);
    let next = take(&server, ANN, plain()).await;
    assert_eq!(subjects(&server, ANN, Some(&next)).await, [""; 0]);
    server.send(ANN, "new", "").await;
    assert_eq!(subjects(&server, ANN, Some(&next)).await, ["new"]);
    server.stop().await;
}

#[tokio::test]
async fn an_address_that_somebody_reads_without_a_lease_is_in_use() {
    let server = TestServer::start().await;
    server.send(ANN, "public", "").await;
    let (status, problem) = try_take(&server, &json!({ "address": ANN })).await;
    assert_eq!((status, &problem["until"]), (409, &json!("2023-11-15 00:13:20")));
    server.clock.advance(2 * HOUR);
    take(&server, ANN, plain()).await;
    server.stop().await;
}

#[tokio::test]
async fn an_address_with_a_tag_that_somebody_reads_without_a_lease_is_in_use() {
    const TAGGED: &str = "ann+shop@example.test";
    let server = TestServer::start().await;
    server.send(TAGGED, "public", "").await;
    assert_eq!(try_take(&server, &json!({ "address": TAGGED })).await.0, 409);
    // Whoever takes it without the tag has what comes for the tag from then on. What came before stays as public as it was.
    let key = take(&server, ANN, plain()).await;
    server.send(TAGGED, "private", "").await;
    assert_eq!(subjects(&server, TAGGED, None).await, ["public"]);
    assert_eq!(subjects(&server, TAGGED, Some(&key)).await, ["private"]);
    assert_eq!(holder(&server, "DELETE", ANN, &key, plain()).await, 200);
    assert_eq!(subjects(&server, TAGGED, None).await, ["public"]);
    server.stop().await;
}

#[tokio::test]
async fn what_nobody_may_have_for_himself_is_refused() {
    let server = TestServer::start().await;
    for (body, status, code) in [
        (json!({ "address": "Postmaster@example.test" }), 403, "role_address"),
        (json!({ "address": "admin+x@example.test" }), 403, "role_address"),
        (json!({ "address": "ann@elsewhere.test" }), 422, "domain_unknown"),
        (json!({ "address": ANN, "forSeconds": 0 }), 400, "parameter_invalid"),
        (json!({ "address": ANN, "forSeconds": 30 * 86_400 + 1 }), 400, "parameter_invalid"),
        (json!({ "address": ANN, "idleSeconds": 59 }), 400, "parameter_invalid"),
        (json!({ "address": ANN, "messages": 1_000_001 }), 400, "parameter_invalid"),
        (json!({ "address": ANN, "keepSeconds": 7 * 86_400 + 1 }), 400, "parameter_invalid"),
    ] {
        let (got, problem) = try_take(&server, &body).await;
        assert_eq!((got, problem["code"].as_str()), (status, Some(code)), "{body}: {problem}");
    }
    assert_eq!(server.stats().await.leases, 0);
    server.stop().await;
}

#[tokio::test]
async fn a_lease_is_its_holders_to_change_and_to_end() {
    let server = TestServer::start().await;
    let (ann, bob) = (take(&server, ANN, plain()).await, take(&server, "bob@example.test", plain()).await);
    assert_eq!(holder(&server, "PATCH", ANN, &bob, json!({ "forSeconds": 60 })).await, 404);
    assert_eq!(holder(&server, "DELETE", ANN, &bob, plain()).await, 404);
    assert_eq!(holder(&server, "PATCH", ANN, &ann, json!({ "forSeconds": 2 * 86_400 })).await, 200);
    server.clock.advance(36 * HOUR);
    server.send(ANN, "hi", "").await;
    assert_eq!(subjects(&server, ANN, Some(&ann)).await, ["hi"]);
    assert_eq!(holder(&server, "GET", "", &bob, plain()).await, 401, "its only inbox is over");
    assert_eq!(holder(&server, "DELETE", ANN, &ann, plain()).await, 200);
    assert_eq!(holder(&server, "GET", "", &ann, plain()).await, 401);
    until_clear(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn leases_and_their_mail_survive_a_restart() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, plain()).await;
    server.send(ANN, "before", "").await;
    let server = server.restart("").await;
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["before"]);
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    server.send(ANN, "after", "").await;
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["after", "before"]);
    assert_eq!(try_take(&server, &json!({ "address": ANN })).await.0, 409);
    server.stop().await;
}
