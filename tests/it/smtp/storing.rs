//! From the end of a message to the reply.

use std::time::Duration;

use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tempmail::model::Protocol;
use tempmail::store::StoreError;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::recording_disk::RecordingDisk;
use crate::support::smtp_peer::SmtpPeer;

#[tokio::test]
async fn a_message_is_handed_over_as_it_came() {
    let receiver =
        TestReceiver::start(FaultyStore::open(), |settings| settings.retention = Duration::from_mins(90)).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("Bob@EXAMPLE.test").await;
    peer.send(b"Subject: \xff\0\r\n\r\n..a\nb\rc\n.\n\r\n.\r\n").await;
    peer.expect("250 2.0.0").await;
    peer.command("QUIT", "221 2.0.0").await;
    peer.expect_closed().await;

    let stored = receiver.stop().await.stored();
    let [delivery] = &stored[..] else { panic!("{stored:?}") };
    assert_eq!(delivery.raw, &b"Subject: \xff\0\r\n\r\n.a\nb\rc\n.\n\r\n"[..]);
    assert_eq!(delivery.expires_at, delivery.received_at.plus(Duration::from_mins(90)));
    let envelope = &delivery.envelope;
    assert_eq!(envelope.client.to_string(), "127.0.0.1");
    assert_eq!((envelope.helo.as_str(), envelope.protocol.clone()), ("client.test", Protocol::ESMTP));
    assert_eq!(envelope.reverse_path, "ann@sender.test");
    assert_eq!(envelope.recipients[0].address, "Bob@example.test");
}

#[tokio::test]
async fn nothing_is_answered_before_the_store_has_the_message() {
    let receiver = TestReceiver::start(FaultyStore::gated(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.send(".\r\nNOOP\r\n").await;
    receiver.store.wait_for_arrivals(1).await;
    peer.expect_silence().await;
    receiver.store.let_through(1);
    peer.expect("250 2.0.0 Stored").await;
    peer.expect("250 2.0.0 OK").await;
    assert_eq!(receiver.store.stored().len(), 1);
}

/// From the socket to the disk: no octet of the reply leaves before the journal's fdatasync has returned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_answered_before_the_journal_is_synced() {
    let disk = RecordingDisk::default();
    let receiver = TestReceiver::start(FaultyStore::on(disk.clone()), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    let blocked = disk.block_syncs_of("journal-");
    peer.send(".\r\nNOOP\r\n").await;
    tokio::task::block_in_place(|| disk.wait_for_blocked_sync());
    peer.expect_silence().await;
    drop(blocked);
    peer.expect("250 2.0.0 Stored").await;
    peer.expect("250 2.0.0 OK").await;
}

#[tokio::test]
async fn each_failure_of_the_store_has_its_reply() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    for (error, reply) in [
        (StoreError::Full, "452 4.3.1"),
        (StoreError::Failed("disk".into()), "451 4.3.0"),
        (StoreError::TooLarge { limit: 1 }, "552 5.3.4"),
        (StoreError::Stopping, "421 4.3.2"),
    ] {
        receiver.store.fail_changes(Some(error));
        peer.begin_data("bob@example.test").await;
        peer.send("hi\r\n.\r\n").await;
        peer.expect(reply).await;
    }
    peer.expect_closed().await;
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn an_unknown_outcome_closes_without_a_reply() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    receiver.store.fail_changes(Some(StoreError::OutcomeUnknown));
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.send("hi\r\n.\r\n").await;
    peer.expect_closed().await;
}

#[tokio::test]
async fn a_full_store_refuses_mail_from() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    receiver.store.fail_with(Some(StoreError::Full));
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("MAIL FROM:<>", "452 4.3.1").await;
    receiver.store.fail_with(None);
    peer.command("MAIL FROM:<>", "250 2.1.0").await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_next_is_accepted() {
    let receiver = TestReceiver::start(FaultyStore::open(), |settings| settings.message_octets_max = 100_000).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    let line = format!("{}\r\n", "x".repeat(98));
    peer.begin_data("bob@example.test").await;
    peer.send(format!("{}.\r\n", line.repeat(1001))).await;
    peer.expect("552 5.3.4").await;
    peer.begin_data("bob@example.test").await;
    peer.send(format!("{}.\r\n", line.repeat(1000))).await;
    peer.expect("250 2.0.0").await;
    let stored = receiver.stop().await.stored();
    assert_eq!(stored.iter().map(|delivery| delivery.raw.len()).collect::<Vec<_>>(), [100_000]);
}

#[tokio::test]
async fn a_hundred_recipients_get_one_message() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    let recipients = (0..101).map(|n| format!("RCPT TO:<bob{n}@example.test>\r\n")).collect::<Vec<_>>().concat();
    peer.send(format!("EHLO client.test\r\nMAIL FROM:<>\r\n{recipients}DATA\r\n")).await;
    peer.expect("250").await;
    peer.expect("250 2.1.0").await;
    for _ in 0..100 {
        peer.expect("250 2.1.5").await;
    }
    peer.expect("452 4.5.3").await;
    peer.expect("354").await;
    peer.send("hi\r\n.\r\n").await;
    peer.expect("250 2.0.0").await;
    assert_eq!(receiver.stop().await.stored()[0].envelope.recipients.len(), 100);
}

#[tokio::test]
async fn a_mailbox_named_twice_gets_one_email() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("MAIL FROM:<>", "250").await;
    peer.command("RCPT TO:<bob@example.test>", "250 2.1.5").await;
    peer.command("RCPT TO:<\"BOB\"@Example.Test>", "250 2.1.5").await;
    peer.command("DATA", "354").await;
    peer.command(".", "250 2.0.0").await;
    assert_eq!(receiver.stop().await.stored()[0].envelope.recipients.len(), 1);
}

#[tokio::test]
async fn a_client_that_disconnects_within_data_leaves_nothing() {
    let receiver = TestReceiver::start(FaultyStore::open(), |settings| settings.connections_max = 1).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.send("Subject: half\r\n\r\na message\r\n.").await;
    drop(peer);
    // Another client is served as soon as that session has ended.
    SmtpPeer::greeted_in_the_end(receiver.address).await;
    assert_eq!(receiver.stop().await.stored(), []);
}

#[tokio::test]
async fn a_panic_costs_one_session_only() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    receiver.store.panic_next();
    let mut other = SmtpPeer::greeted(receiver.address).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.send(".\r\n").await;
    peer.expect_closed().await;
    receiver.until_counted("ended", "panicked", 1).await;
    other.begin_data("bob@example.test").await;
    other.command(".", "250 2.0.0").await;
    SmtpPeer::greeted(receiver.address).await;
}

#[tokio::test]
async fn a_real_client_is_served() {
    let receiver = TestReceiver::start(FaultyStore::open(), |_| ()).await;
    let mailer =
        AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1").port(receiver.address.port()).build();
    for n in 0..3 {
        let message = Message::builder()
            .from("Ann <ann@sender.test>".parse().expect("from"))
            .to("bob@example.test".parse().expect("to"))
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

    let stored = receiver.stop().await.stored();
    assert_eq!(stored.len(), 3);
    for delivery in stored {
        assert_eq!(delivery.envelope.recipients.len(), 2);
        assert!(delivery.raw.ends_with(b"\r\n\r\n.\r\n..dots\r\n.\r\n"), "{:?}", delivery.raw);
    }
}
