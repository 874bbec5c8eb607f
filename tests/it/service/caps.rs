//! Limits of the whole daemon, with many senders to one mailbox.
//! Promise: it outlives the code below it.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

use crate::support::http;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const TO: &str = "bob@example.test";
const SENDERS: usize = 50;

/// No sender sends its message before the RCPT of each was accepted. Returns the last reply of each.
async fn storm(server: &TestServer) -> Vec<String> {
    let mut peers = join_all((0..SENDERS).map(|_| SmtpPeer::greeted(server.smtp()))).await;
    for peer in &mut peers {
        peer.begin_data(TO).await;
    }
    join_all(peers.iter_mut().enumerate().map(async |(n, peer)| {
        peer.send(format!("Subject: {n}\r\n\r\n.\r\n")).await;
        peer.reply().await
    }))
    .await
}

/// How many of the replies say that the message is stored. The others must say that the mailbox is full.
fn stored(replies: &[String]) -> usize {
    let (stored, others): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| *reply == "250 2.0.0 Stored");
    assert!(others.iter().all(|reply| reply.starts_with("452 4.2.2 ")), "{replies:?}");
    stored.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_senders_fill_a_mailbox_and_no_more() {
    let server = TestServer::with("max-messages-per-mailbox = 10").await;
    assert_eq!(stored(&storm(&server).await), 10);
    assert_eq!(server.stats().await.emails, 10);
    let server = server.restart("").await;
    assert_eq!(server.stats().await.emails, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_senders_replace_old_mail_and_none_of_their_own() {
    let server = TestServer::with("max-messages-per-mailbox = 10").await;
    storm(&server).await;
    let old = http::inbox(server.http(), TO).await;
    server.clock.advance(Duration::from_mins(1));
    assert_eq!(stored(&storm(&server).await), 10);
    let new = http::inbox(server.http(), TO).await;
    let ids = |page: &Value| -> Vec<String> {
        page["emails"].as_array().expect("emails").iter().map(|email| email["id"].to_string()).collect()
    };
    assert_eq!(ids(&new).len(), 10);
    assert!(ids(&new).iter().all(|id| !ids(&old).contains(id)), "{new}");
}
