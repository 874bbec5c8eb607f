//! `tempmail sendmail`, as the programs call it that send mail by it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, tempmail};
use crate::support::program::Program;
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
    let daemon = Program::serve(dir.path(), &[]);
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
    let daemon = Program::serve(dir.path(), &[]);
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
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_is_never_used() {
    let dir = tempfile::tempdir().expect("directory");
    let empty = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
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

/// The binary under the name by which programs call it.
fn link(dir: &Path) -> PathBuf {
    let link = dir.join("sendmail");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tempmail"), &link).expect("a link");
    link
}

/// A program that calls it for the daemon on this data directory.
fn caller(program: &Path, data_dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("TEMPMAIL_DATA_DIR", data_dir).env("XDG_CONFIG_HOME", data_dir).env("HOME", data_dir);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_sends_patches_by_it() {
    let purpose = "patches from git";
    let (Some(git), Some(_)) = (programs::find("git", purpose), programs::find("git-send-email", purpose)) else {
        return;
    };
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let patch = dir.path().join("0001.patch");
    let text = "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n\
        From: Ann <ann@sender.test>\nSubject: [PATCH] Gr\u{fc}\u{df}e\nMIME-Version: 1.0\n\
        Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n\
        .\n---\n a | 1 +\n\n--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+a\n";
    std::fs::write(&patch, text).expect("write");
    let link = link(dir.path());
    for (way, to) in
        [(format!("--sendmail-cmd={}", link.display()), ANN), (format!("--smtp-server={}", link.display()), BOB)]
    {
        let mut command = caller(&git, dir.path());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@sender.test");
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").current_dir(dir.path()).args(["send-email", "--confirm=never"]);
        command
            .args(["--suppress-cc=all", "--envelope-sender=bounce@x.test", "--to", to, "--cc", CAT, &way])
            .arg(&patch);
        programs::run(&mut command, "");
        let mail = received(daemon.http, to).await;
        assert!(mail.starts_with("Return-Path: <bounce@x.test>\r\n"), "{mail}");
        assert!(mail.contains("\r\nX-Mailer: git-send-email ") && mail.contains("\r\n\r\n.\r\n---\r\n"), "{mail}");
        assert_eq!(http::inbox(daemon.http, to).await["emails"][0]["subject"], "[PATCH] Gr\u{fc}\u{df}e");
    }
    assert_eq!(http::total(daemon.http, CAT).await, 2);
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn php_sends_mail_by_it() {
    let Some(php) = programs::find("php", "mail() of PHP") else { return };
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let link = link(dir.path());
    let mail_to = |to: &str, body: &str| {
        let mut command = caller(&php, dir.path());
        command.args(["-n", "-d", &format!("sendmail_path={} -t -i", link.display()), "-r"]);
        let fields = "From: app@x.test\\r\\nBcc: cat@example.test";
        let script =
            format!("exit(mail($argv[1], 'Gr\u{fc}\u{df}e', $argv[2], \"{fields}\", '-fbounce@x.test') ? 0 : 1);");
        command.arg(script);
        command.args([to, body]).output().expect("PHP")
    };
    let sent = mail_to(ANN, "one\r\n.\ntwo");
    assert!(sent.status.success(), "{sent:?}");
    let mail = received(daemon.http, ANN).await;
    assert!(mail.starts_with("Return-Path: <bounce@x.test>\r\n"), "{mail}");
    assert!(mail.ends_with("\r\n\r\none\r\n.\r\ntwo\r\n") && !mail.contains("Bcc"), "{mail}");
    assert_eq!(http::inbox(daemon.http, CAT).await["emails"][0]["subject"], "Gr\u{fc}\u{df}e");
    let refused = mail_to("someone@unknown.test", "text");
    assert_eq!(refused.status.code(), Some(1), "mail() tells that it was refused: {refused:?}");
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_of_that_name_is_sendmail_for_other_programs() {
    let Some(python) = programs::find("python3", "the call from Python") else { return };
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let link = link(dir.path());
    let script = "import subprocess, sys\n\
        from email.message import EmailMessage\n\
        mail = EmailMessage()\n\
        mail['From'], mail['To'], mail['Subject'] = 'app@x.test', 'J\u{f6}rg <ann@example.test>', 'Gr\u{fc}\u{df}e'\n\
        mail.set_content('text\\n')\n\
        subprocess.run([sys.argv[1], '-t', '-oi', '-odi'], input=mail.as_bytes(), check=True)\n";
    let mut command = caller(&python, dir.path());
    command.env("PYTHONUTF8", "1");
    programs::run(command.args(["-c", script]).arg(&link), "");
    assert_eq!(http::inbox(daemon.http, ANN).await["emails"][0]["subject"], "Gr\u{fc}\u{df}e");
    daemon.stop();
}
