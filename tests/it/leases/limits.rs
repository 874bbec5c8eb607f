//! The shares of private inboxes: time gives back what is counted in a minute or a day (429), and only an end gives back the
//! rest (422).
//! Promise: it outlives the code below it.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tempmail::model::{Address, Client, LeaseId, LeaseRecord, Subaddressing};

use super::{ANN, plain, take};
use crate::suites::leases::lease;
use crate::support::answer::Answer;
use crate::support::clock::Still;
use crate::support::test_server::{START, TestServer};

/// A client behind a proxy, which is this process, and its neighbours.
const CLIENT: &str = "192.0.2.1";
const NEIGHBOUR: &str = "192.0.2.2";
const ELSEWHERE: &str = "198.51.100.1";

/// A service whose rates stand still.
async fn still(settings: &str) -> (TestServer, Still) {
    let server = TestServer::with(&format!("trusted-proxies = ['127.0.0.0/8']\n{settings}")).await;
    (server, Still::begin())
}

fn request(server: &TestServer, client: &str, method: &str, target: &str) -> RequestBuilder {
    server.request(method, target).header("x-forwarded-for", client)
}

async fn take_by(server: &TestServer, client: &str) -> Answer {
    Answer::to(request(server, client, "POST", "/api/addresses").json(&plain())).await
}

/// The status of an answer, and the limit in it.
fn limit(answer: &Answer) -> (u16, Value) {
    (answer.status.as_u16(), answer.member("limit"))
}

/// Checks that a rate has refused a request, and says when it does not.
fn expect_rate(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (429, "rate_limited"));
    let seconds = answer.header("retry-after").and_then(|seconds| seconds.parse::<u64>().ok());
    assert!(seconds.is_some_and(|seconds| seconds > 0), "{seconds:?}");
}

/// Puts leases into the store.
async fn fill(server: &TestServer, number: u8, client: Option<&str>, key: [u8; 32]) {
    let client = client.map(|client| Client::of(client.parse().expect("an address")));
    for nth in 0..number {
        let id = LeaseId::from_octets(rand::random());
        let lease = LeaseRecord { id, client, key, ..lease(&format!("{id}{nth}@example.test"), 0, START) };
        assert_eq!(server.store().replace_lease(None, Some(&lease)).await, Ok(true));
    }
}

#[tokio::test]
async fn a_client_makes_30_private_inboxes_in_a_minute() {
    let (server, _still) = still("").await;
    for _ in 0..30 {
        assert_eq!(take_by(&server, CLIENT).await.status, 201);
    }
    expect_rate(&take_by(&server, CLIENT).await);
    assert_eq!(take_by(&server, NEIGHBOUR).await.status, 201);
    server.stop().await;
}

#[tokio::test]
async fn a_client_changes_120_private_inboxes_in_a_minute() {
    let (server, _still) = still("").await;
    let key = take(&server, ANN, plain()).await;
    let change = async |method| {
        let request = request(&server, CLIENT, method, "/api/addresses").query(&[("address", "bob@example.test")]);
        Answer::to(request.bearer_auth(&key).json(&plain())).await
    };
    for nth in 0..120 {
        assert_eq!(change(if nth % 2 == 0 { "PATCH" } else { "DELETE" }).await.status, 404);
    }
    expect_rate(&change("PATCH").await);
    expect_rate(&change("DELETE").await);
    server.stop().await;
}

#[tokio::test]
async fn a_client_has_100_private_inboxes_and_its_network_400() {
    let (server, _still) = still("").await;
    fill(&server, 99, Some(CLIENT), [1; 32]).await;
    assert_eq!(take_by(&server, CLIENT).await.status, 201);
    assert_eq!(limit(&take_by(&server, CLIENT).await), (422, json!("leases_for_client")));
    for client in ["192.0.2.3", "192.0.2.4", "192.0.2.5"] {
        fill(&server, 100, Some(client), [2; 32]).await;
    }
    assert_eq!(limit(&take_by(&server, NEIGHBOUR).await), (422, json!("leases_for_client")));
    assert_eq!(take_by(&server, ELSEWHERE).await.status, 201);
    server.stop().await;
}

#[tokio::test]
async fn a_key_has_1_000_private_inboxes() {
    let (server, _still) = still("").await;
    let key = take(&server, ANN, plain()).await;
    let mailbox = ANN.parse::<Address>().expect("an address").mailbox(Subaddressing::Strip);
    let first = server.store().lease(&mailbox).await.expect("a look").expect("a lease");
    for _ in 0..9 {
        fill(&server, 111, None, first.key).await;
    }
    let more = async || {
        let request = request(&server, CLIENT, "POST", "/api/addresses").bearer_auth(&key);
        Answer::to(request.json(&plain())).await
    };
    assert_eq!(limit(&more().await), (422, json!("leases_for_key")));
    assert_eq!(server.store().replace_lease(Some(&first), None).await, Ok(true));
    assert_eq!(more().await.status, 201);
    server.stop().await;
}

#[tokio::test]
async fn a_client_opens_1_000_addresses_in_a_day() {
    let (server, _still) = still("accept = 'opened'").await;
    let open = async |client, nth: u32| {
        Answer::to(request(&server, client, "GET", &format!("/api/mail/messages?to=a{nth}@example.test"))).await
    };
    for nth in 0..1_000 {
        assert_eq!(open(CLIENT, nth).await.status, 200);
    }
    assert_eq!(open(CLIENT, 0).await.status, 200, "it is open");
    expect_rate(&open(CLIENT, 1_000).await);
    assert_eq!(open(NEIGHBOUR, 1_000).await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_client_tries_30_wrong_keys_in_a_minute() {
    let (server, _still) = still("").await;
    let key = take(&server, ANN, plain()).await;
    let list =
        async |client, key: &str| Answer::to(request(&server, client, "GET", "/api/addresses").bearer_auth(key)).await;
    for nth in 0..30 {
        assert_eq!(list(CLIENT, &format!("tmk_{nth}")).await.status, 401);
    }
    expect_rate(&list(CLIENT, "tmk_30").await);
    assert_eq!(list(NEIGHBOUR, "tmk_30").await.status, 401);
    assert_eq!(list(CLIENT, &key).await.status, 200, "a key that opens something is never refused for wrong ones");
    server.stop().await;
}
