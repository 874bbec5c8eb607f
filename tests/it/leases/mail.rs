//! Mail to a leased address: who finds it, and how long.
//! Promise: it outlives the code below it.

use std::time::Duration;

use serde_json::json;

use super::{ANN, DAY, HOUR, NOBODY, holder, plain, rcpt, subjects, take, until_clear};
use crate::support::answer::Answer;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const SECOND: Duration = Duration::from_secs(1);
/// How long an inbox lives after its last message.
const TEN_MINUTES: Duration = Duration::from_mins(10);

#[tokio::test]
async fn a_stranger_finds_what_an_unknown_address_has() {
    let server = TestServer::start().await;
    let (ann, bob) = (take(&server, ANN, plain()).await, take(&server, "bob@example.test", plain()).await);
    for spelling in [ANN, "ANN@Example.Test", "ann+tag@example.test", "\"ann\"@example.test"] {
        server.send(spelling, "secret", "").await;
        assert_eq!(subjects(&server, spelling, None).await, [""; 0], "{spelling}");
        assert_eq!(subjects(&server, spelling, Some(&bob)).await, [""; 0], "{spelling}");
    }
    for spelling in [ANN, "Ann+else@example.test"] {
        assert_eq!(subjects(&server, spelling, Some(&ann)).await, ["secret"; 4]);
    }
    let all = server.admin_get("/api/mail/messages?to=ann@example.test").await;
    assert_eq!(all["total"], 4, "the administrator reads all mail");
    let submitted = server.admin("POST", "/api/mail/messages").query(&[("to", ANN), ("to", "carl@example.test")]);
    let submitted = submitted.header("content-type", "message/rfc822").body("Subject: submitted\r\n\r\n");
    assert_eq!(Answer::to(submitted).await.status, 201);
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    assert_eq!(subjects(&server, "carl@example.test", None).await, ["submitted"]);
    assert_eq!(subjects(&server, ANN, Some(&ann)).await[0], "submitted");
    server.stop().await;
}

#[tokio::test]
async fn an_inbox_for_some_messages_takes_no_more_and_can_still_be_read() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "messages": 2 })).await;
    for subject in ["first", "second"] {
        server.send("Ann+x@example.test", subject, "").await;
    }
    assert_eq!(rcpt(&server, ANN).await, NOBODY);
    server.clock.advance(TEN_MINUTES.saturating_sub(SECOND));
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["second", "first"]);
    server.clock.advance(SECOND);
    until_clear(&server).await;
    assert_eq!(holder(&server, "GET", "", &key, plain()).await, 401);
    assert_eq!(rcpt(&server, ANN).await, NOBODY, "it rests");
    server.stop().await;
}

#[tokio::test]
async fn mail_is_kept_as_long_as_its_inbox_says() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "forSeconds": 10 * 86_400, "keepSeconds": 3 * 86_400 })).await;
    server.deliver(ANN, "Subject: alone\r\n\r\n").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let [ann, bob] = [ANN, "bob@example.test"].map(|address| format!("RCPT TO:<{address}>"));
    let dialog = [("EHLO client.test", "250"), ("MAIL FROM:<>", "250"), (&*ann, "250"), (&*bob, "250")];
    peer.dialog(&dialog).await;
    peer.dialog(&[("DATA", "354"), ("Subject: shared\r\n\r\n.", "250")]).await;
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["shared", "alone"]);
    server.clock.advance(2 * HOUR);
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["alone"], "the life of public mail");
    // A shorter retention ends other mail at the next start.
    let server = server.restart("retention = '1m'").await;
    server.clock.advance(2 * DAY);
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["alone"]);
    server.clock.advance(DAY);
    assert_eq!(subjects(&server, ANN, Some(&key)).await, [""; 0]);
    server.stop().await;
}

/// What was registered for the address before it was private gets nothing while it is.
#[tokio::test]
async fn a_webhook_of_a_stranger_hears_nothing_of_private_mail() {
    let sink = WebhookSink::start().await;
    for path in ["/stranger", "/holder"] {
        sink.script(path, Behaviour::status(200));
    }
    let server = TestServer::with("webhook-allow = ['127.0.0.0/8']").await;
    let hook = |path| json!({ "recipient": ANN, "url": sink.url(path) });
    assert_eq!(server.post("/api/webhooks", &hook("/stranger")).await.status, 201);
    let key = take(&server, ANN, plain()).await;
    let own = server.request("POST", "/api/webhooks").bearer_auth(&key).json(&hook("/holder"));
    assert_eq!(Answer::to(own).await.status, 201);
    for subject in ["first", "second"] {
        server.send("Ann+x@example.test", subject, "").await;
    }
    sink.wait_for(2).await;
    server.until_stats(|stats| stats.events == 0).await;
    let paths: Vec<String> = sink.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/holder"; 2]);
    server.stop().await;
}
