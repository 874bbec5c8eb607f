//! The setting `accept`: which addresses take mail.
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{ANN, DAY, NOBODY, plain, rcpt, subjects, take};
use crate::support::test_server::TestServer;

const TAKEN: &str = "250 2.1.5 Recipient OK";
/// Role addresses take mail whatever the setting is.
const ROLES: [&str; 4] = ["Postmaster", "postmaster@example.test", "Abuse@example.test", "\"root\"@example.test"];

#[tokio::test]
async fn leased_addresses_alone_take_mail() {
    let server = TestServer::with("accept = 'leased'").await;
    assert_eq!(rcpt(&server, ANN).await, NOBODY);
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    assert_eq!(rcpt(&server, ANN).await, NOBODY, "reading it opens nothing");
    let key = take(&server, ANN, plain()).await;
    for spelling in [ANN, "ANN+x@example.test"] {
        assert_eq!(rcpt(&server, spelling).await, TAKEN);
    }
    server.send(ANN, "hi", "").await;
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["hi"]);
    for role in ROLES {
        assert_eq!(rcpt(&server, role).await, TAKEN, "{role}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_opened_address_takes_mail_for_a_day() {
    let settings = "accept = 'opened'\nwebhook-allow = ['127.0.0.0/8']";
    let server = TestServer::with(settings).await;
    assert_eq!(rcpt(&server, ANN).await, NOBODY);
    for role in ROLES {
        assert_eq!(rcpt(&server, role).await, TAKEN, "{role}");
    }
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    assert_eq!(rcpt(&server, "Ann@EXAMPLE.test").await, TAKEN);
    assert_eq!(rcpt(&server, "bob@example.test").await, NOBODY);
    let random = server.get("/api/addresses/random").await.json()["address"].as_str().expect("one").to_owned();
    assert_eq!(rcpt(&server, &random).await, TAKEN);
    let hook = json!({ "recipient": "hook@example.test", "url": "http://127.0.0.1:9/hook" });
    assert_eq!(server.post("/api/webhooks", &hook).await.status, 201);
    // It is written within a second.
    let server = server.restart(settings).await;
    for open in [ANN, &random, "hook@example.test"] {
        assert_eq!(rcpt(&server, open).await, TAKEN, "{open}");
    }
    server.clock.advance(DAY / 2);
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    server.clock.advance(DAY / 2);
    assert_eq!(rcpt(&server, ANN).await, TAKEN, "it was opened again");
    assert_eq!(rcpt(&server, &random).await, NOBODY);
    assert_eq!(rcpt(&server, "hook@example.test").await, TAKEN, "it has a webhook");
    server.stop().await;
}
