//! What an administrator refuses, reply by reply.

use tempmail::model::{Caps, WhenFull};
use tempmail::smtp::{PolicySettings, Service};
use tempmail::store::StoreError;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::smtp_peer::SmtpPeer;

async fn receiver(policy: PolicySettings) -> TestReceiver {
    TestReceiver::start(FaultyStore::open(), |settings| settings.policy = policy).await
}

fn patterns<T: std::str::FromStr<Err: std::fmt::Debug>>(texts: &[&str]) -> Vec<T> {
    texts.iter().map(|text| text.parse().expect(text)).collect()
}

#[tokio::test]
async fn a_refused_client_gets_554_in_place_of_the_greeting() {
    let refused = PolicySettings { refused_clients: patterns(&["127.0.0.0/8"]), ..PolicySettings::default() };
    for service in [Service::Smtp, Service::Lmtp] {
        let policy = refused.clone();
        let receiver = TestReceiver::of(service, None, FaultyStore::open(), |settings| settings.policy = policy).await;
        let mut peer = SmtpPeer::connect(receiver.address).await;
        assert_eq!(peer.reply().await, "554 5.7.1 No mail is accepted from this network");
        peer.expect_closed().await;
    }
    let others =
        PolicySettings { refused_clients: patterns(&["192.0.2.0/24", "::1/128"]), ..PolicySettings::default() };
    SmtpPeer::greeted(receiver(others).await.address).await;
}

#[tokio::test]
async fn a_refused_sender_gets_550_and_the_session_goes_on() {
    let refused_senders = patterns(&["spam.example", "*.bulk.example"]);
    let receiver = receiver(PolicySettings { refused_senders, ..PolicySettings::default() }).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
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
async fn a_local_part_that_is_not_listed_gets_550_and_postmaster_never() {
    let accepted_local_parts = patterns(&["test-*", "ann"]);
    let receiver = receiver(PolicySettings { accepted_local_parts, ..PolicySettings::default() }).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("MAIL FROM:<>", "250 2.1.0").await;
    for recipient in ["bob@example.test", "test@example.test", "ann+x@example.test"] {
        let reply = peer.command(&format!("RCPT TO:<{recipient}>"), "550").await;
        assert_eq!(reply, "550 5.1.1 No mail is received for this local part");
    }
    // A domain that is not served gets the same reply for each local part.
    peer.command("RCPT TO:<bob@other.test>", "550 5.1.2").await;
    for recipient in ["test-1@example.test", "\"ANN\"@Example.Test", "PostMaster@example.test", "postmaster"] {
        peer.command(&format!("RCPT TO:<{recipient}>"), "250 2.1.5").await;
    }
}

#[tokio::test]
async fn a_full_mailbox_gets_452_at_rcpt_and_the_others_their_mail() {
    let caps = Caps { emails_per_mailbox: 1, ..Caps::default() };
    let receiver = TestReceiver::start(FaultyStore::with_caps(caps), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    peer.command(".", "250 2.0.0").await;
    peer.command("MAIL FROM:<>", "250 2.1.0").await;
    let reply = peer.command("RCPT TO:<BOB@example.test>", "452").await;
    assert_eq!(reply, "452 4.2.2 The mailbox or its domain is full; try again later");
    peer.command("RCPT TO:<ann@example.test>", "250 2.1.5").await;
    peer.command("DATA", "354").await;
    peer.command(".", "250 2.0.0").await;
    let stored = receiver.stop().await.stored();
    let recipients: Vec<_> = stored.iter().map(|delivery| delivery.envelope.recipients[0].address.clone()).collect();
    assert_eq!(recipients, ["bob@example.test", "ann@example.test"]);
}

#[tokio::test]
async fn a_mailbox_that_was_filled_meanwhile_gets_452_at_the_end() {
    let caps = Caps { emails_per_mailbox: 1, ..Caps::default() };
    let receiver = TestReceiver::start(FaultyStore::with_caps(caps), |_| ()).await;
    let mut first = SmtpPeer::greeted(receiver.address).await;
    let mut second = SmtpPeer::greeted(receiver.address).await;
    first.begin_data("bob@example.test").await;
    second.begin_data("bob@example.test").await;
    first.command(".", "250 2.0.0").await;
    second.command(".", "452 4.2.2").await;
    assert_eq!(receiver.stop().await.stored().len(), 1);
}

#[tokio::test]
async fn with_drop_oldest_a_full_mailbox_accepts_mail() {
    let caps = Caps { emails_per_mailbox: 1, when_full: WhenFull::DropOldest, ..Caps::default() };
    let receiver = TestReceiver::start(FaultyStore::with_caps(caps), |_| ()).await;
    for _ in 0..3 {
        SmtpPeer::greeted(receiver.address).await.deliver("bob@example.test", "hi").await;
    }
}

#[tokio::test]
async fn an_unknown_state_of_the_mailbox_is_decided_at_the_end() {
    let caps = Caps { emails_per_mailbox: 1, ..Caps::default() };
    let receiver = TestReceiver::start(FaultyStore::with_caps(caps), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.begin_data("bob@example.test").await;
    receiver.store.fail_changes(Some(StoreError::MailboxFull));
    peer.command(".", "452 4.2.2").await;
}
