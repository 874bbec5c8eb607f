//! Lists and documents with content that is wide, hostile or missing, at three widths and in each form.

use std::path::Path;

use super::Transcript;
use super::mails::{self, TO};
use crate::cli::service::Service;
use crate::cli::service::webhooks::{delivery, webhook};
use crate::support::program::{local, terminal_command};
use crate::support::test_server::TestServer;

const WIDTHS: [u16; 3] = [60, 80, 120];
const FORMS: [&str; 4] = ["tsv", "json", "ndjson", "id"];

/// The snapshots, each with its command.
const LISTS: [(&str, &[&str]); 9] = [
    ("list_inbox", &["inbox", TO]),
    ("list_inbox_all", &["inbox"]),
    ("list_inbox_mailboxes", &["inbox", "--mailboxes"]),
    ("list_domain", &["domain", "ls"]),
    ("list_token", &["token", "ls"]),
    ("list_fault", &["fault", "ls"]),
    ("list_context", &["context", "ls"]),
    ("list_db_stats", &["db", "stats"]),
    ("list_status", &["status"]),
];
/// Those of webhooks, from a service in memory.
const WEBHOOK_LISTS: [(&str, &[&str]); 3] = [
    ("list_webhook", &["webhook", "ls", TO]),
    ("list_webhook_all", &["webhook", "ls", "--all"]),
    ("list_webhook_deliveries", &["webhook", "deliveries", "0190b6a5-7c3e-4d2f-8a4b-1c5d9e0f2a01"]),
];
/// The snapshot of what is shown where there is nothing.
const EMPTY: &str = "list_empty";
/// The snapshot of the checks. Their other forms have the same texts.
const DOCTOR: &str = "list_doctor";

/// The names of the snapshots.
pub(super) fn names() -> impl Iterator<Item = String> {
    LISTS.iter().chain(&WEBHOOK_LISTS).map(|(name, _)| *name).chain([EMPTY, DOCTOR]).map(str::to_owned)
}

/// Commands that fill the lists.
const SETUP: [&[&str]; 8] = [
    &["domain", "add", "a.domain.of.a.rather.long.name.of.some.department.example.org", "--skip-dns-check"],
    &["domain", "add", "例え.example", "--skip-dns-check"],
    &["webhook", "add", TO, "https://hooks.example/mail"],
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

#[test]
fn each_list_of_webhooks_at_each_width_and_in_each_form() {
    let service = Service::start();
    let mut disabled = webhook(2, TO, "http://漢字.example/\u{202e}");
    disabled["status"] = "disabled".into();
    disabled["disabledReason"] = "no answer for 5 days: the name in its URL does not resolve".into();
    (disabled["failures"], disabled["dropped"]) = (12_345.into(), 1_234_567.into());
    disabled["lastDeliveryAt"] = "2023-11-14 22:13:20".into();
    disabled["registeredBy"] = "2001:db8:1234:5678::/64".into();
    let long = "https://hooks.example/mail/with/a/path/that/does/not/end/soon?token=secret";
    service.contents().webhooks =
        vec![webhook(1, TO, "https://hooks.example/x"), disabled, webhook(3, "漢字かな交じり文@example.test", long)];
    let mut hostile = delivery("retry", Some(503));
    hostile["response"] = "<html>\u{1b}[2J漢字かな交じり文の答え\u{202e}".into();
    service.contents().deliveries =
        vec![delivery("delivered", Some(200)), hostile, delivery("retry", None), delivery("given_up", None)];
    for (name, args) in WEBHOOK_LISTS {
        shown(service.data_dir(), args).check(name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_anything_says_so() {
    let server = TestServer::start().await;
    let dir = server.dir().to_owned();
    let checked = tokio::task::spawn_blocking(move || {
        let mut transcript = Transcript::default();
        let lists = LISTS.into_iter().chain(WEBHOOK_LISTS[..2].iter().copied());
        for (_, args) in lists.filter(|(_, args)| !["db", "status"].contains(&args[0])) {
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
