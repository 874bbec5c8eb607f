//! What an administrator refuses, reply by reply.
//! Promise: it outlives the code below it.

use std::time::Duration;

use super::{TO, inbox};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn a_refused_client_gets_554_in_place_of_the_greeting() {
    let server = TestServer::with("refuse-client = ['127.0.0.0/8']\nlmtp-listen = '127.0.0.1:0'").await;
    for address in [server.smtp(), server.lmtp()] {
        let mut peer = SmtpPeer::connect(address).await;
        assert_eq!(peer.reply().await, "554 5.7.1 No mail is accepted from this network");
        peer.expect_closed().await;
    }
    let others = TestServer::with("refuse-client = ['192.0.2.0/24', '::1/128']").await;
    SmtpPeer::greeted(others.smtp()).await;
}

#[tokio::test]
async fn a_refused_sender_gets_550_and_the_session_goes_on() {
    let server = TestServer::with("refuse-sender-domain = ['spam.example', '*.bulk.example']").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.command("EHLO client.test", "250").await;
    for sender in ["ann@spam.example", "ANN@Spam.Example", "ann@a.bulk.example"] {
        let reply = peer.command(&format!("MAIL FROM:<{sender}>"), "550").await;
        assert_eq!(reply, "550 5.7.1 No mail is accepted from this domain");
        peer.command("RCPT TO:<bob@example.test>", "503 5.5.1").await;
    }
    for sender in ["", "ann@bulk.example", "ann@example.com", "ann@[192.0.2.1]"] {
        peer.command(&format!("MAIL FROM:<{sender}>"), "250 2.1.0").await;
        peer.command("RSET", "250").await;
    }
}

#[tokio::test]
async fn a_full_mailbox_gets_452_at_rcpt_and_the_others_their_mail() {
    let server = TestServer::with("max-messages-per-mailbox = 1").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.deliver(TO, "hi").await;
    peer.command("MAIL FROM:<>", "250 2.1.0").await;
    let reply = peer.command("RCPT TO:<BOB@example.test>", "452").await;
    assert_eq!(reply, "452 4.2.2 The mailbox is full; try again later");
    peer.dialog(&[("RCPT TO:<ann@example.test>", "250 2.1.5"), ("DATA", "354"), (".", "250 2.0.0")]).await;
    for recipient in [TO, "ann@example.test"] {
        assert_eq!(inbox(&server, recipient).await.len(), 1, "{recipient}");
    }
}

#[tokio::test]
async fn a_mailbox_that_was_filled_meanwhile_gets_452_at_the_end() {
    let server = TestServer::with("max-messages-per-mailbox = 1").await;
    let mut first = SmtpPeer::greeted(server.smtp()).await;
    let mut second = SmtpPeer::greeted(server.smtp()).await;
    first.begin_data(TO).await;
    second.begin_data(TO).await;
    first.command(".", "250 2.0.0").await;
    second.command(".", "452 4.2.2").await;
    assert_eq!(inbox(&server, TO).await.len(), 1);
}

#[tokio::test]
async fn in_a_full_mailbox_the_oldest_makes_way_once_it_is_a_minute_old() {
    let server = TestServer::with("max-messages-per-mailbox = 1").await;
    for message in ["first", "second", "third"] {
        server.deliver(TO, message).await;
        server.clock.advance(Duration::from_mins(1));
    }
    let mails = inbox(&server, TO).await;
    assert_eq!(mails.iter().map(|mail| mail.raw.as_str()).collect::<Vec<_>>(), [r"third\r\n"]);
}
