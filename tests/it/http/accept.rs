//! What the interface hands out where not every address takes mail, and what mail for the others costs.
//! Promise: it outlives the code below it.

use super::TestServer;

/// Unknown senders may use any number of names.
const NAMES: usize = 100;

#[tokio::test]
async fn where_private_inboxes_alone_take_mail_no_public_address_is_given_out() {
    let api = TestServer::with("accept = 'leased'").await;
    for target in ["/api/addresses/random", "/api/addresses/random?prefix=signup&domain=example.test"] {
        let answer = api.get(target).await;
        assert_eq!((answer.status.as_u16(), answer.problem().as_str()), (422, "private_only"), "{target}");
        let detail = answer.member("detail").to_string();
        assert!(detail.contains("POST /api/addresses") && detail.contains("tempmail new --private"), "{detail}");
    }
    assert_eq!(api.administrator("GET", "/api/addresses/random", "").await.problem(), "private_only");
    assert_eq!(api.get("/").await.json()["publicInboxes"], false);
    let lease = api.post("/api/addresses", &serde_json::json!({})).await;
    assert_eq!(lease.status, 201, "{lease:?}");
    for open in ["any", "opened"] {
        let api = TestServer::with(&format!("accept = '{open}'")).await;
        assert_eq!(api.get("/api/addresses/random").await.status, 200, "{open}");
        assert_eq!(api.get("/").await.json()["publicInboxes"], true, "{open}");
    }
}

/// Sends a mail to one of the names. Whether it was taken.
async fn is_taken(api: &TestServer, number: usize) -> bool {
    let mut peer = api.peer().await;
    peer.command("MAIL FROM:<bounces@sender.test>", "250").await;
    let is_taken = peer.command(&format!("RCPT TO:<user{number}@example.test>"), "").await.starts_with("250");
    let (data, end) = if is_taken { ("354", "250") } else { ("503", "500") };
    peer.command("DATA", data).await;
    peer.command("Subject: hi\r\n\r\n.", end).await;
    is_taken
}

/// Such mail is refused before it is sent, so it costs neither the disk nor the line.
#[tokio::test]
async fn mail_for_addresses_that_nobody_opened_stores_nothing() {
    const OPENED: &str = "/api/mail/messages?to=user7@example.test";
    let api = TestServer::with("accept = 'opened'").await;
    let before = api.stats().await;
    for number in 0..NAMES {
        assert!(!is_taken(&api, number).await, "{number}");
    }
    assert_eq!(api.stats().await, before);
    assert_eq!(api.get(OPENED).await.json()["total"], 0);
    for number in 0..NAMES {
        assert_eq!(is_taken(&api, number).await, number == 7, "{number}");
    }
    let after = api.stats().await;
    assert_eq!((after.messages, after.emails, after.mailboxes), (1, 1, 1));
    assert_eq!(api.get(OPENED).await.json()["total"], 1);
}
