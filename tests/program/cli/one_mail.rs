//! One mail through the pager and as files; test mails from a file and in numbers.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::TO;
use crate::support::command::{on_data, output};
use crate::support::program::{self, Program, local, local_with};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::terminal;

async fn daemon(dir: &Path, messages: &[&str]) -> Program {
    let daemon = Program::serve(dir, &[]);
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    for message in messages {
        peer.deliver(TO, message).await;
    }
    daemon
}

#[tokio::test]
async fn a_long_mail_goes_through_the_pager_with_its_header() {
    let dir = tempfile::tempdir().expect("directory");
    let long = format!("Subject: long\r\n\r\n{}last", "line\r\n".repeat(30));
    let _daemon = daemon(dir.path(), &["Subject: short\r\n\r\nline", &long]).await;
    let paged = dir.path().join("paged");
    let read = |args: &[&str]| {
        let mut command = program::terminal_command(dir.path(), &[&["read", TO], args].concat());
        command.env("PAGER", format!("tee {}", paged.display()));
        terminal::on_terminal(command, 80, "")
    };
    let screen = read(&["--latest"]);
    let text = std::fs::read_to_string(&paged).expect("what the pager was given");
    assert!(text.contains("Subject: long\n") && text.ends_with("last\n"), "{text}");
    assert_eq!((screen.code, screen.text), (Some(0), text));

    std::fs::remove_file(&paged).expect("remove");
    let ids = local(dir.path(), &["inbox", TO, "-o", "id"]).stdout;
    let short = read(&[ids.lines().nth(1).expect("the first mail")]);
    assert!(short.code == Some(0) && short.text.contains("Subject: short"), "{short:?}");
    assert!(!paged.exists(), "a short mail needs no pager");
    let piped = local_with(dir.path(), &[("PAGER", "tee /dev/null")], &["read", TO, "--latest"]);
    assert!(piped.stdout.ends_with("last\n"), "{piped:?}");
}

#[tokio::test]
async fn every_attachment_is_saved_and_nothing_is_replaced() {
    let part = |name: &str, text: &str| {
        format!(
            "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\r\n{text}\r\n"
        )
    };
    let message = |parts: &str| {
        let fields = "Subject: files\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b";
        format!("{fields}\r\n\r\n{parts}--b--\r\n")
    };
    let alike = message(&[part("a.txt", "one"), part("b.txt", "two"), part("b.txt", "three")].concat());
    let different = message(&[part("a.txt", "one"), part("b.txt", "two"), part("../../etc/passwd", "three")].concat());
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(&dir.path().join("data"), &[&alike, &different]).await;
    let files = dir.path().join("files");
    let path = files.to_str().expect("path");
    let first = daemon.tempmail(&["read", TO, "--latest", "--save-all", path]);
    let written: Vec<String> =
        first.stdout.lines().map(|line| line.strip_prefix(&format!("{path}/")).expect("inside").to_owned()).collect();
    assert_eq!((first.code, written.len()), (Some(0), 3), "{first:?}");
    assert_eq!(written[..2], ["a.txt", "b.txt"]);
    assert!(!written[2].contains('/'), "{written:?}");
    let text = |name: &str| std::fs::read_to_string(files.join(name)).expect(name);
    assert_eq!((text("a.txt").as_str(), text("b.txt").as_str(), text(&written[2]).as_str()), ("one", "two", "three"));

    let refused = |args: &[&str], said: &str| {
        let refused = daemon.tempmail(&[args, &["--save-all", path, "--yes"]].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.stderr.contains(said), "{refused:?}");
    };
    std::fs::write(files.join("b.txt"), "mine").expect("write");
    std::fs::remove_file(files.join("a.txt")).expect("remove");
    refused(&["read", TO, "--latest"], "b.txt is there already");
    assert_eq!(text("b.txt"), "mine");
    std::fs::remove_dir_all(&files).expect("remove");
    std::fs::create_dir(&files).expect("directory");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), files.join("b.txt")).expect("link");
    refused(&["read", TO, "--latest"], "b.txt is there already");
    assert!(!dir.path().join("elsewhere").exists() && !files.join("a.txt").exists());

    std::fs::remove_dir_all(&files).expect("remove");
    let ids = daemon.tempmail(&["inbox", TO, "-o", "id"]).stdout;
    refused(&["read", ids.lines().last().expect("the first mail")], "two attachments would be");
    assert!(!files.exists());
}

#[tokio::test]
async fn a_test_mail_comes_from_a_file() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), &["Subject: before\r\n\r\n"]).await;
    let file = dir.path().join("welcome.eml");
    std::fs::write(&file, b"From: shop@x.test\nSubject: Welcome\n\n.dot \xfc\nend").expect("write");
    let path = file.to_str().expect("path");
    let sent = daemon.tempmail(&["send-test", TO, "--file", path]);
    assert_eq!((sent.code, sent.stdout.lines().count()), (Some(0), 1), "{sent:?}");
    assert!(sent.stdout.ends_with("\tshop@x.test\tWelcome\n"), "{sent:?}");
    let raw = output(&mut on_data(dir.path(), &["read", TO, "--latest", "--raw"]));
    assert!(raw.stdout.ends_with(b"Subject: Welcome\r\n\r\n.dot \xfc\r\nend\r\n"));

    let quiet = daemon.tempmail(&["send-test", TO, "-o", "id", "-q"]);
    assert_eq!((quiet.code, quiet.stdout.lines().count(), quiet.stderr.as_str()), (Some(0), 1, ""));
    assert_eq!(daemon.tempmail(&["inbox", TO, "--all"]).stdout.lines().count(), 3);
}
