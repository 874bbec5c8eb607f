//! `tempmail sendmail`, as the programs call it that send mail by it.
//! Promise: it outlives the code below it.

use std::net::SocketAddr;
use std::path::Path;

use super::Outcome;
use crate::support::command::{fed, on_data, tempmail};
use crate::support::http;
use crate::support::program::Program;

const ANN: &str = "ann@example.test";
const BOB: &str = "bob@example.test";
const CAT: &str = "cat@example.test";

fn sendmail(data_dir: &Path, args: &[&str], input: &str) -> Outcome {
    fed(on_data(data_dir, &["sendmail"]).env("LOGNAME", "me").args(args), input)
}

/// What the daemon got, without its own fields.
async fn received(server: SocketAddr, to: &str) -> String {
    let page = http::inbox(server, to).await;
    assert_eq!(page["total"], 1, "{page}");
    let raw = http::raw(server, page["emails"][0]["id"].as_str().expect("id")).await.expect("the message");
    String::from_utf8(raw).expect("text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_goes_to_the_recipients_of_the_fields_and_bcc_to_nobody() {
    let daemon = Program::fresh(&[]);
    let mail = format!("To: Ann <{ANN}>\nCc: {BOB}\nBcc: {CAT}\nSubject: hi\nFrom: app@x.test\n\n.\n..dots\ntext\n");
    let outcome = sendmail(daemon.dir(), &["-t", "-i", "-fbounce@x.test"], &mail);
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), "", ""));
    for to in [ANN, BOB, CAT] {
        let mail = received(daemon.http, to).await;
        assert!(mail.starts_with("Return-Path: <bounce@x.test>\r\n"), "{mail}");
        assert!(mail.contains(&format!("To: Ann <{ANN}>\r\nCc: {BOB}\r\nSubject: hi\r\n")), "{mail}");
        assert!(mail.contains("\r\nDate: ") && mail.contains("\r\nMessage-ID: <"), "{mail}");
        assert!(mail.ends_with("\r\n\r\n.\r\n..dots\r\ntext\r\n"), "{mail}");
        assert!(!mail.contains("Bcc") && !mail.contains(CAT), "{mail}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dot_ends_the_message_unless_it_is_told_not_to() {
    let daemon = Program::fresh(&[]);
    for (to, args) in [(ANN, &[ANN][..]), (BOB, &["-oi", BOB])] {
        sendmail(daemon.dir(), args, "Subject: s\n\none\n.\ntwo\n").ok();
        let mail = received(daemon.http, to).await;
        assert_eq!(mail.ends_with("\r\none\r\n"), to == ANN, "{mail}");
        assert_eq!(mail.ends_with("\r\none\r\n.\r\ntwo\r\n"), to == BOB, "{mail}");
        assert!(mail.starts_with("Return-Path: <me@") && mail.contains("\r\nFrom: me@"), "{mail}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_cannot_be_sent_has_a_code_of_sysexits() {
    let dir = tempfile::tempdir().expect("directory");
    let mail = "Subject: s\n\ntext\n";
    let daemon = Program::serve(dir.path(), &["--max-message-size", "2KB"]);
    let large = format!("{mail}{}\n", "x".repeat(4_000));
    for (args, mail, code) in [
        (&[ANN, "someone@unknown.test"][..], mail, 67),
        (&[ANN], large.as_str(), 65),
        (&["-t"], "To: ann@[192.0.2.1]\n\ntext\n", 65),
    ] {
        let outcome = sendmail(dir.path(), args, mail);
        assert_eq!(outcome.code, Some(code), "{args:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(http::total(daemon.http, ANN).await, 0, "none gets a mail that one of its recipients cannot have");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_is_never_used() {
    let dir = tempfile::tempdir().expect("directory");
    let empty = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let url = format!("http://{}", daemon.http);
    let mut command = on_data(empty.path(), &["sendmail", ANN]);
    assert_eq!(fed(command.env("TEMPMAIL_SERVER", &url), "\ntext\n").code, Some(75));
    let mut command = tempmail(empty.path());
    assert_eq!(fed(command.args(["--server", &url, "sendmail", ANN]), "\ntext\n").code, Some(64));
    assert_eq!(http::total(daemon.http, ANN).await, 0);
}
