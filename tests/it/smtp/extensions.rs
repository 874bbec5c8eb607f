//! CHUNKING, SMTPUTF8, LMTP and AUTH over real sockets, with peers of our own and clients of others.

use std::process::Command;

use tempmail::smtp::Service;
use tempmail::store::StoreError;

use super::TestReceiver;
use crate::support::faulty_store::FaultyStore;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::{http, programs};

const BEGIN: &str = "MAIL FROM:<ann@sender.test>\r\nRCPT TO:<bob@example.test>\r\n";

#[tokio::test]
async fn pipelined_chunks_are_answered_one_by_one() {
    let receiver = TestReceiver::start(FaultyStore::open(), |settings| settings.message_octets_max = 100_000).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    let large = "x".repeat(60_000);
    let first = format!("{BEGIN}BDAT 4\r\n.\r\n.BDAT 60000\r\n{large}BDAT 0 LAST\r\n");
    let too_large = format!("{BEGIN}BDAT 60000\r\n{large}BDAT 60000\r\n{large}BDAT 6 LAST\r\nQUIT\r\n");
    peer.send(format!("EHLO client.test\r\n{first}{too_large}NOOP\r\n")).await;
    for expected in ["250-", "250 2.1.0", "250 2.1.5", "250 2.0.0 Chunk", "250 2.0.0 Chunk", "250 2.0.0 Stored"] {
        peer.expect(expected).await;
    }
    for expected in ["250 2.1.0", "250 2.1.5", "250 2.0.0 Chunk", "552 5.3.4", "552 5.3.4", "250 2.0.0 OK"] {
        peer.expect(expected).await;
    }
    peer.command("QUIT", "221").await;
    let stored = receiver.stop().await.stored();
    assert_eq!((stored.len(), &stored[0].raw[..]), (1, format!(".\r\n.{large}").as_bytes()));
}

#[tokio::test]
async fn the_last_chunk_is_answered_by_the_store() {
    let receiver = TestReceiver::start(FaultyStore::gated(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.send(format!("EHLO client.test\r\n{BEGIN}BDAT 2 LAST\r\nhi")).await;
    for expected in ["250-", "250 2.1.0", "250 2.1.5"] {
        peer.expect(expected).await;
    }
    receiver.store.wait_for_arrivals(1).await;
    peer.expect_silence().await;
    receiver.store.let_through(1);
    peer.expect("250 2.0.0 Stored").await;
    receiver.stop().await;
}

#[tokio::test]
async fn lmtp_answers_for_each_recipient() {
    let receiver = TestReceiver::of(Service::Lmtp, None, FaultyStore::open(), |_| ()).await;
    let mut peer = SmtpPeer::greeted(receiver.address).await;
    peer.command("EHLO client.test", "500").await;
    peer.command("LHLO client.test", "250").await;
    for (error, reply) in [(None, "250 2.0.0 Stored"), (Some(StoreError::Full), "452 4.3.1")] {
        receiver.store.fail_changes(error);
        peer.command("MAIL FROM:<>", "250 2.1.0").await;
        peer.command("RCPT TO:<a@example.test>", "250 2.1.5").await;
        peer.command("RCPT TO:<b@other.test>", "550 5.1.2").await;
        peer.command("RCPT TO:<c@example.test>", "250 2.1.5").await;
        peer.command("DATA", "354").await;
        peer.command("hi\r\n.", reply).await;
        peer.expect(reply).await;
    }
    peer.command("NOOP", "250 2.0.0 OK").await;
    let stored = receiver.stop().await.stored();
    assert_eq!((stored.len(), stored[0].envelope.protocol.as_str()), (1, "LMTP"));
    assert_eq!(stored[0].envelope.recipients.len(), 2);
}

/// The octets of the one Email of a mailbox, with the trace before them.
async fn raw_of(daemon: &Program, mailbox: &str) -> String {
    let page = http::inbox(daemon.http, mailbox).await;
    assert_eq!(page["total"], 1, "{mailbox}");
    let raw = http::raw(daemon.http, page["emails"][0]["id"].as_str().expect("id")).await;
    String::from_utf8(raw.expect("its octets")).expect("UTF-8")
}

#[tokio::test]
async fn smtplib_speaks_all_of_it() {
    let Some(python) = programs::find("python3", "the extensions with Python's smtplib") else { return };
    let dir = tempfile::tempdir().expect("directory");
    let socket = dir.path().join("lmtp");
    let socket = socket.to_str().expect("UTF-8");
    let args = ["--domain", "example.test", "--lmtp-listen", socket, "--tls-self-signed", "--smtp-auth", "accept-any"];
    let daemon = Program::serve(dir.path(), &args);
    let script = format!(
        "import smtplib, ssl\n\
         utf8 = ['SMTPUTF8', 'BODY=8BITMIME']\n\
         tls = ssl._create_unverified_context()\n\
         with smtplib.SMTP('127.0.0.1', {port}) as s:\n    \
             s.sendmail('j\u{f5}@b\u{fc}cher.test', ['d\u{f6}rte@example.test'], 'Subject: gr\u{fc}n'.encode(), utf8)\n\
         with smtplib.SMTP('127.0.0.1', {port}) as s:\n    \
             s.starttls(context=tls)\n    \
             s.login('ann', 'Tr0ub4dor')\n    \
             s.sendmail('ann@sender.test', ['secured@example.test'], 'Subject: hi')\n\
         with smtplib.SMTP('127.0.0.1', {port}) as s:\n    \
             s.ehlo()\n    \
             s.user, s.password = 'ann', 'Tr0ub4dor'\n    \
             s.auth('LOGIN', s.auth_login)\n    \
             s.sendmail('ann@sender.test', ['login@example.test'], 'Subject: hi')\n\
         with smtplib.LMTP('{socket}') as s:\n    \
             s.sendmail('ann@sender.test', ['lmtp@example.test'], 'Subject: hi')\n",
        port = daemon.smtp.port()
    );
    programs::run(Command::new(python).arg("-").env("PYTHONUTF8", "1"), &script);
    let utf8 = raw_of(&daemon, "d\u{f6}rte@example.test").await;
    assert!(utf8.starts_with("Return-Path: <j\u{f5}@b\u{fc}cher.test>\r\n"), "{utf8}");
    assert!(utf8.contains("with UTF8SMTP\r\n\tfor <d\u{f6}rte@example.test>"), "{utf8}");
    let secured = raw_of(&daemon, "secured@example.test").await;
    assert!(secured.contains("with ESMTPSA\r\n\t(TLSv1.3 with cipher TLS"), "{secured}");
    let login = raw_of(&daemon, "login@example.test").await;
    assert!(login.contains("with ESMTPA\r\n"), "{login}");
    let lmtp = raw_of(&daemon, "lmtp@example.test").await;
    assert!(lmtp.contains("with LMTP\r\n"), "{lmtp}");
    daemon.stop();
}
