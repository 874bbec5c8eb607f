//! Private inboxes: leases of addresses, over real sockets.

mod accept;
mod changes;
mod ends;
mod limits;
mod mail;
mod random;
mod taking;

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::answer::Answer;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const ANN: &str = "ann@example.test";
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
/// The reply to whoever writes to an address that takes no mail.
const NOBODY: &str = "550 5.1.1 This address takes no mail";

/// A request to lease an address, by a caller of this machine.
async fn try_take(server: &TestServer, body: &Value) -> (u16, Value) {
    let answer = server.post("/api/addresses", body).await;
    (answer.status.as_u16(), serde_json::from_slice(&answer.body).expect("JSON"))
}

/// Leases an address, with further members of the request. Returns the key.
async fn take(server: &TestServer, address: &str, mut terms: Value) -> String {
    terms["address"] = address.into();
    let (status, lease) = try_take(server, &terms).await;
    assert_eq!(status, 201, "{lease}");
    lease["key"].as_str().expect("a key").to_owned()
}

/// The subjects in an inbox, newest first, as anybody or as the holder of a key reads it.
async fn subjects(server: &TestServer, address: &str, key: Option<&str>) -> Vec<String> {
    let request = server.request("GET", "/api/mail/messages").query(&[("to", address)]);
    let page = Answer::to(if let Some(key) = key { request.bearer_auth(key) } else { request }).await;
    assert_eq!(page.status, 200);
    let emails = page.json()["emails"].as_array().expect("a list").clone();
    emails.iter().map(|email| email["subject"].as_str().expect("a subject").to_owned()).collect()
}

/// The status of a request of a holder about an address.
async fn holder(server: &TestServer, method: &str, address: &str, key: &str, body: Value) -> u16 {
    let request = server.request(method, "/api/addresses").query(&[("address", address)]).bearer_auth(key);
    Answer::to(request.json(&body)).await.status.as_u16()
}

/// The first private inbox of a key.
async fn lease_of(server: &TestServer, key: &str) -> Value {
    let list = Answer::to(server.request("GET", "/api/addresses").bearer_auth(key)).await;
    list.json()["addresses"][0].clone()
}

/// The reply to RCPT.
async fn rcpt(server: &TestServer, address: &str) -> String {
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.dialog(&[("EHLO client.test", "250"), ("MAIL FROM:<ann@sender.test>", "250 2.1.0")]).await;
    peer.command(&format!("RCPT TO:<{address}>"), "").await
}

/// Waits until nothing is stored and no lease is left to be ended.
async fn until_clear(server: &TestServer) {
    until("all is removed", async || {
        let stats = server.stats().await;
        (stats.emails, stats.leases, stats.webhooks) == (0, 0, 0)
    })
    .await;
}

/// No further members.
fn plain() -> Value {
    json!({})
}
