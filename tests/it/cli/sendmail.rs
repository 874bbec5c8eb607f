//! `tempmail sendmail`, as the programs call it that send mail by it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use super::{Outcome, tempmail};
use crate::support::binary::Binary;
use crate::support::{http, programs};

const ANN: &str = "ann@example.test";
const BOB: &str = "bob@example.test";
const CAT: &str = "cat@example.test";

fn sendmail(data_dir: &Path, args: &[&str], input: &str) -> Outcome {
    let mut command = tempmail();
    command.env("XDG_CONFIG_HOME", data_dir).env("TEMPMAIL_DATA_DIR", data_dir).env("LOGNAME", "me");
    command.arg("sendmail").args(args).write_stdin(input.to_owned());
    command.output().expect("run").into()
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
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(dir.path(), &[]);
    let mail = format!("To: Ann <{ANN}>\nCc: {BOB}\nBcc: {CAT}\nSubject: hi\nFrom: app@x.test\n\n.\n..dots\ntext\n");
    let outcome = sendmail(dir.path(), &["-t", "-i", "-fbounce@x.test"], &mail);
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), "", ""));
    for to in [ANN, BOB, CAT] {
        let mail = received(daemon.http, to).await;
        assert!(mail.starts_with("Return-Path: <bounce@x.test>\r\n"), "{mail}");
        assert!(mail.contains(&format!("To: Ann <{ANN}>\r\nCc: {BOB}\r\nSubject: hi\r\n")), "{mail}");
        assert!(mail.contains("\r\nDate: ") && mail.contains("\r\nMessage-ID: <"), "{mail}");
        assert!(mail.ends_with("\r\n\r\n.\r\n..dots\r\ntext\r\n"), "{mail}");
        assert!(!mail.contains("Bcc") && !mail.contains(CAT), "{mail}");
    }
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dot_ends_the_message_unless_it_is_told_not_to() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(dir.path(), &[]);
    for (to, args) in [(ANN, &[ANN][..]), (BOB, &["-oi", BOB])] {
        let outcome = sendmail(dir.path(), args, "Subject: s\n\none\n.\ntwo\n");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let mail = received(daemon.http, to).await;
        assert_eq!(mail.ends_with("\r\none\r\n"), to == ANN, "{mail}");
        assert_eq!(mail.ends_with("\r\none\r\n.\r\ntwo\r\n"), to == BOB, "{mail}");
        assert!(mail.starts_with("Return-Path: <me@") && mail.contains("\r\nFrom: me@"), "{mail}");
    }
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_cannot_be_sent_has_a_code_of_sysexits() {
    let dir = tempfile::tempdir().expect("directory");
    let mail = "Subject: s\n\ntext\n";
    let daemon = Binary::serve(dir.path(), &["--max-message-size", "2KB"]);
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
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_is_never_used() {
    let dir = tempfile::tempdir().expect("directory");
    let empty = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(dir.path(), &[]);
    let mut command = tempmail();
    command.env("TEMPMAIL_SERVER", format!("http://{}", daemon.http)).env("XDG_CONFIG_HOME", empty.path());
    command.env("TEMPMAIL_DATA_DIR", empty.path()).args(["sendmail", ANN]).write_stdin("\ntext\n");
    assert_eq!(Outcome::from(command.output().expect("run")).code, Some(75));
    let mut command = tempmail();
    command.args(["--server", &format!("http://{}", daemon.http), "sendmail", ANN]).write_stdin("\ntext\n");
    assert_eq!(Outcome::from(command.output().expect("run")).code, Some(64));
    assert_eq!(http::total(daemon.http, ANN).await, 0);
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_of_that_name_is_sendmail_for_other_programs() {
    let Some(python) = programs::find("python3", "the call from Python") else { return };
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(dir.path(), &[]);
    let link = dir.path().join("sendmail");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tempmail"), &link).expect("a link");
    let script = "import subprocess, sys\n\
        from email.message import EmailMessage\n\
        mail = EmailMessage()\n\
        mail['From'], mail['To'], mail['Subject'] = 'app@x.test', 'J\u{f6}rg <ann@example.test>', 'Gr\u{fc}\u{df}e'\n\
        mail.set_content('text\\n')\n\
        subprocess.run([sys.argv[1], '-t', '-oi', '-odi'], input=mail.as_bytes(), check=True)\n";
    let mut command = Command::new(python);
    command.env("TEMPMAIL_DATA_DIR", dir.path()).env("XDG_CONFIG_HOME", dir.path()).env("PYTHONUTF8", "1");
    programs::run(command.args(["-c", script]).arg(&link), "");
    assert_eq!(http::inbox(daemon.http, ANN).await["emails"][0]["subject"], "Gr\u{fc}\u{df}e");
    daemon.stop();
}
