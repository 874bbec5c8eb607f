//! Programs that send mail by `sendmail`, which is a link to the program here.
//! Promise: it outlives the code below it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{only_mail, serve};
use crate::support::command::isolate;
use crate::support::{http, programs};

const ANN: &str = "ann@example.test";
const BOB: &str = "bob@example.test";
const CAT: &str = "cat@example.test";

/// The binary under the name by which programs call it.
fn link(dir: &Path) -> PathBuf {
    let link = dir.join("sendmail");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tempmail"), &link).expect("a link");
    link
}

/// A program that calls it for the daemon on this data directory.
fn caller(program: &Path, data_dir: &Path) -> Command {
    let mut command = Command::new(program);
    isolate(&mut command, data_dir);
    command.env("TEMPMAIL_DATA_DIR", data_dir);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs git send-email"]
async fn git_sends_patches_by_it() {
    let git = programs::find("git");
    programs::find("git-send-email");
    let (dir, daemon) = serve(&[]);
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
        let mail = only_mail(&daemon, to).await;
        assert!(mail.starts_with("Return-Path: <bounce@x.test>\r\n"), "{mail}");
        assert!(mail.contains("\r\nX-Mailer: git-send-email ") && mail.contains("\r\n\r\n.\r\n---\r\n"), "{mail}");
        assert_eq!(http::inbox(daemon.http, to).await["emails"][0]["subject"], "[PATCH] Gr\u{fc}\u{df}e");
    }
    assert_eq!(http::total(daemon.http, CAT).await, 2);
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PHP"]
async fn php_sends_mail_by_it() {
    let php = programs::find("php");
    let (dir, daemon) = serve(&[]);
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
    let mail = only_mail(&daemon, ANN).await;
    assert!(mail.starts_with("Return-Path: <bounce@x.test>\r\n"), "{mail}");
    assert!(mail.ends_with("\r\n\r\none\r\n.\r\ntwo\r\n") && !mail.contains("Bcc"), "{mail}");
    assert_eq!(http::inbox(daemon.http, CAT).await["emails"][0]["subject"], "Gr\u{fc}\u{df}e");
    let refused = mail_to("someone@unknown.test", "text");
    assert_eq!(refused.status.code(), Some(1), "mail() tells that it was refused: {refused:?}");
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Python"]
async fn a_link_of_that_name_is_sendmail_for_other_programs() {
    let python = programs::find("python3");
    let (dir, daemon) = serve(&[]);
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
