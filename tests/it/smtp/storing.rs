//! From the end of a message to the reply.
//! Promise: it outlives the code below it.

use std::io::ErrorKind;

use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use super::{ENDED, TO, inbox, messages, until_counted};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_disk::{Kind, TestDisk};
use crate::support::test_server::TestServer;
use crate::support::until::until;

/// The segment that a new store writes to.
const IN_USE: &str = "journal-0000000000000001";

#[tokio::test]
async fn a_message_is_handed_over_as_it_came() {
    let server = TestServer::with("retention = '90m'").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data("Bob@EXAMPLE.test").await;
    peer.send(b"Subject: \xff\0\r\n\r\n..a\nb\rc\n.\n\r\n.\r\n").await;
    peer.expect("250 2.0.0").await;
    peer.command("QUIT", "221 2.0.0").await;
    peer.expect_closed().await;

    let mails = inbox(&server, TO).await;
    let [mail] = &mails[..] else { panic!("{mails:?}") };
    assert_eq!(mail.raw, r"Subject: \xff\x00\r\n\r\n.a\nb\rc\n.\n\r\n");
    let times = [&mail.json["receivedAt"], &mail.json["expiresAt"]];
    assert_eq!(times, ["2023-11-14 22:13:20", "2023-11-14 23:43:20"]);
    let envelope = &mail.json["envelope"];
    assert_eq!([&envelope["client"], &envelope["helo"]], ["127.0.0.1", "client.test"]);
    assert_eq!([&envelope["protocol"], &envelope["reversePath"]], ["ESMTP", "ann@sender.test"]);
    assert_eq!(mail.json["recipient"], "Bob@example.test");
}

/// From the socket to the disk: no octet of the reply leaves before the journal's fdatasync has returned.
#[tokio::test]
async fn nothing_is_answered_before_the_journal_is_synced() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    let held = disk.hold(|call| call.is(Kind::Sync, IN_USE));
    peer.send(".\r\nNOOP\r\n").await;
    until("the message is being synced", async || held.waiting() > 0).await;
    peer.expect_silence().await;
    assert_eq!(messages(&server).await, 0);
    drop(held);
    peer.expect_all(&["250 2.0.0 Stored", "250 2.0.0 OK"]).await;
    assert_eq!(messages(&server).await, 1);
}

#[tokio::test]
async fn each_failure_of_the_store_has_its_reply() {
    for (error, reply) in [(ErrorKind::StorageFull, "452 4.3.1"), (ErrorKind::Other, "451 4.3.0")] {
        let disk = TestDisk::default();
        let server = TestServer::on(disk.clone(), "").await;
        let mut peer = SmtpPeer::greeted(server.smtp()).await;
        peer.begin_data(TO).await;
        let failing = disk.fail(move |call| call.is(Kind::Write, IN_USE).then_some(error));
        peer.command("hi\r\n.", reply).await;
        assert!(failing.failed() > 0);
        assert_eq!(messages(&server).await, 0);
        drop(failing);
        peer.deliver(TO, "hi").await;
        assert_eq!(messages(&server).await, 1);
    }
}

#[tokio::test]
async fn an_unknown_outcome_closes_without_a_reply() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    server.send(TO, "first", "").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    // What can't be synced can't be cut off either.
    let syncing = disk.fail(|call| call.is(Kind::Sync, IN_USE).then_some(ErrorKind::Other));
    let _cutting_off = disk.fail(|call| call.is(Kind::Write, "spare").then_some(ErrorKind::Other));
    peer.send("hi\r\n.\r\n").await;
    peer.expect_closed().await;
    assert!(syncing.failed() > 0);
    until_counted(&server, ENDED, "outcomeUnknown", 1).await;
}

#[tokio::test]
async fn a_full_store_refuses_mail_from() {
    let disk = TestDisk::default();
    let server = TestServer::on(disk.clone(), "").await;
    disk.room(0);
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.dialog(&[("EHLO client.test", "250"), ("MAIL FROM:<>", "452 4.3.1")]).await;
    disk.more_room(64 << 20);
    peer.command("MAIL FROM:<>", "250 2.1.0").await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_next_is_accepted() {
    let server = TestServer::with("max-message-size = 100000\nsegment-size = '1MB'").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let line = format!("{}\r\n", "x".repeat(98));
    peer.begin_data(TO).await;
    peer.send(format!("{}.\r\n", line.repeat(1001))).await;
    peer.expect("552 5.3.4").await;
    peer.begin_data(TO).await;
    peer.send(format!("{}.\r\n", line.repeat(1000))).await;
    peer.expect("250 2.0.0").await;
    let sizes: Vec<_> = inbox(&server, TO).await.iter().map(|mail| mail.json["size"].clone()).collect();
    assert_eq!(sizes, [100_000]);
}

#[tokio::test]
async fn a_hundred_recipients_get_one_message() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    let recipients = (0..101).map(|n| format!("RCPT TO:<bob{n}@example.test>\r\n")).collect::<Vec<_>>().concat();
    peer.send(format!("EHLO client.test\r\nMAIL FROM:<>\r\n{recipients}DATA\r\n")).await;
    peer.expect_all(&["250", "250 2.1.0"]).await;
    peer.expect_all(&["250 2.1.5"; 100]).await;
    peer.expect_all(&["452 4.5.3", "354"]).await;
    peer.command("hi\r\n.", "250 2.0.0").await;
    let stats = server.stats().await;
    assert_eq!((stats.messages, stats.emails), (1, 100));
}

#[tokio::test]
async fn a_mailbox_named_twice_gets_one_email() {
    let server = TestServer::start().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.dialog(&[
        ("EHLO client.test", "250"),
        ("MAIL FROM:<>", "250"),
        ("RCPT TO:<bob@example.test>", "250 2.1.5"),
        ("RCPT TO:<\"BOB\"@Example.Test>", "250 2.1.5"),
        ("DATA", "354"),
        (".", "250 2.0.0"),
    ])
    .await;
    assert_eq!(server.stats().await.emails, 1);
}

#[tokio::test]
async fn a_client_that_disconnects_within_data_leaves_nothing() {
    let server = TestServer::with("max-smtp-connections = 1").await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    peer.send("Subject: half\r\n\r\na message\r\n.").await;
    drop(peer);
    // Another client is served as soon as that session has ended.
    SmtpPeer::greeted_in_the_end(server.smtp()).await;
    assert_eq!(messages(&server).await, 0);
}

#[tokio::test]
async fn a_panic_costs_one_session_only() {
    let server = TestServer::start().await;
    let mut other = SmtpPeer::greeted(server.smtp()).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    let of_smtp = || std::backtrace::Backtrace::force_capture().to_string().contains("smtp::");
    server.clock.panic_when(of_smtp);
    peer.send(".\r\n").await;
    peer.expect_closed().await;
    until_counted(&server, ENDED, "panicked", 1).await;
    other.deliver(TO, "hi").await;
    SmtpPeer::greeted(server.smtp()).await;
}

#[tokio::test]
async fn a_real_client_is_served() {
    let server = TestServer::start().await;
    let mailer =
        AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1").port(server.smtp().port()).build();
    for n in 0..3 {
        let message = Message::builder()
            .from("Ann <ann@sender.test>".parse().expect("from"))
            .to(TO.parse().expect("to"))
            .cc("Bill <bill@example.test>".parse().expect("cc"))
            .subject(format!("message {n}"))
            .body(".\r\n..dots\r\n.".to_owned())
            .expect("message");
        mailer.send(message).await.expect("accepted");
    }
    let refused = Message::builder()
        .from("ann@sender.test".parse().expect("from"))
        .to("bob@other.test".parse().expect("to"))
        .body(String::new())
        .expect("message");
    let error = mailer.send(refused).await.expect_err("refused");
    assert_eq!(error.status().map(|code| code.to_string()), Some("550".to_owned()));
    drop(mailer);

    let stats = server.stats().await;
    assert_eq!((stats.messages, stats.emails), (3, 6));
    for mail in inbox(&server, TO).await {
        assert!(mail.raw.ends_with(r"\r\n\r\n.\r\n..dots\r\n.\r\n"), "{mail:?}");
    }
}
