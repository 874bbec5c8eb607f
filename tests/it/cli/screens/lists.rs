//! Lists and documents with content that is wide, hostile or missing, at three widths and in each form.

use std::path::Path;

use super::Transcript;
use super::mails::{self, TO};
use crate::support::binary::{local, terminal_command};
use crate::support::test_server::TestServer;

const WIDTHS: [u16; 3] = [60, 80, 120];
const FORMS: [&str; 4] = ["tsv", "json", "ndjson", "id"];

/// The snapshots, each with its command.
const LISTS: [(&str, &[&str]); 11] = [
    ("list_inbox", &["inbox", TO]),
    ("list_inbox_all", &["inbox"]),
    ("list_inbox_mailboxes", &["inbox", "--mailboxes"]),
    ("list_domain", &["domain", "ls"]),
    ("list_webhook", &["webhook", "ls", TO]),
    ("list_webhook_all", &["webhook", "ls", "--all"]),
    ("list_token", &["token", "ls"]),
    ("list_fault", &["fault", "ls"]),
    ("list_context", &["context", "ls"]),
    ("list_db_stats", &["db", "stats"]),
    ("list_status", &["status"]),
];
/// The snapshot of what is shown where there is nothing.
const EMPTY: &str = "list_empty";
/// The snapshot of the checks. Their other forms have the same texts.
const DOCTOR: &str = "list_doctor";

/// The names of the snapshots.
pub(super) fn names() -> impl Iterator<Item = String> {
    LISTS.iter().map(|(name, _)| *name).chain([EMPTY, DOCTOR]).map(str::to_owned)
}

/// Commands that fill the lists.
const SETUP: [&[&str]; 9] = [
    &["domain", "add", "a.domain.of.a.rather.long.name.of.some.department.example.org", "--skip-dns-check"],
    &["domain", "add", "例え.example", "--skip-dns-check"],
    &["webhook", "add", TO, "https://hooks.example/mail/with/a/path/that/does/not/end/soon?token=secret"],
    &["webhook", "add", TO, "https://例え.example/x"],
    &["token", "new", "--name", "reader", "--scope", "read", "--expires", "3650d"],
    &["token", "new", "--name", "a-token-of-a-name-that-is-longer-than-a-column-has-room-for"],
    &["fault", "add", "RCPT user4xx-with-a-long-name@*.department.example first 3 delay 5s 451 4.3.0 later"],
    &["context", "add", "work", "--server", "https://mail.department.of.a.company.with.a.long.name.example/tempmail"],
    &["context", "add", "a-context-of-a-long-name", "--server", "http://127.0.0.1:8080"],
];

/// The same command at each width and in each form.
fn shown(dir: &Path, args: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    for width in WIDTHS {
        transcript.on_terminal(width, args, terminal_command(dir, args));
    }
    for form in FORMS {
        let args = [args, &["-o", form]].concat();
        transcript.add(&args, &local(dir, &args));
    }
    transcript
}

#[tokio::test(flavor = "multi_thread")]
async fn each_list_at_each_width_and_in_each_form() {
    let server = TestServer::start().await;
    mails::deliver(&server).await;
    for args in SETUP {
        let outcome = server.tempmail(args).await;
        assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
    }
    let dir = server.dir().to_owned();
    let checked = tokio::task::spawn_blocking(move || {
        for (name, args) in LISTS {
            shown(&dir, args).check(name);
        }
        let mut doctor = Transcript::default();
        for width in WIDTHS {
            doctor.on_terminal(width, &["doctor"], terminal_command(&dir, &["doctor"]));
        }
        doctor.check(DOCTOR);
    });
    checked.await.expect("the snapshots");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_anything_says_so() {
    let server = TestServer::start().await;
    let dir = server.dir().to_owned();
    let checked = tokio::task::spawn_blocking(move || {
        let mut transcript = Transcript::default();
        for (_, args) in LISTS.into_iter().filter(|(_, args)| !["db", "status"].contains(&args[0])) {
            transcript.on_terminal(80, args, terminal_command(&dir, args));
            for form in ["tsv", "json"] {
                let args = [args, &["-o", form]].concat();
                transcript.add(&args, &local(&dir, &args));
            }
        }
        transcript.check(EMPTY);
    });
    checked.await.expect("the snapshot");
    server.stop().await;
}
