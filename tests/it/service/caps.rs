//! Limits of the whole daemon, with many senders to one mailbox.
//! Promise: it outlives the code below it.

use futures_util::future::join_all;

use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

const SENDERS: usize = 50;

/// No sender sends its message before the RCPT of each was accepted. Returns the last reply of each.
async fn storm(server: &TestServer) -> Vec<String> {
    let mut peers = join_all((0..SENDERS).map(|_| SmtpPeer::greeted(server.smtp()))).await;
    for peer in &mut peers {
        peer.begin_data("bob@example.test").await;
    }
    join_all(peers.iter_mut().enumerate().map(async |(n, peer)| {
        peer.send(format!("Subject: {n}\r\n\r\n.\r\n")).await;
        peer.reply().await
    }))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_senders_fill_a_mailbox_and_no_more() {
    let server = TestServer::with("max-messages-per-mailbox = 10\nmailbox-full = 'reject'").await;
    let replies = storm(&server).await;
    let stored = replies.iter().filter(|reply| *reply == "250 2.0.0 Stored").count();
    let refused = replies.iter().filter(|reply| reply.starts_with("452 4.2.2 ")).count();
    assert_eq!((stored, refused), (10, SENDERS - 10), "{replies:?}");
    assert_eq!(server.stats().await.emails, 10);
    let server = server.restart("").await;
    assert_eq!(server.stats().await.emails, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_senders_are_all_accepted_where_the_oldest_is_evicted() {
    let server = TestServer::with("max-messages-per-mailbox = 10\nmailbox-full = 'drop-oldest'").await;
    let replies = storm(&server).await;
    assert!(replies.iter().all(|reply| reply == "250 2.0.0 Stored"), "{replies:?}");
    assert_eq!(server.stats().await.emails, 10);
}
