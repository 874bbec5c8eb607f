//! Help and lists as users see them. Lists have content that is wide or hostile, at three widths and in each form. The clock
//! of the daemon stands still, so that they are the same in each run.
//! Promise: it outlives the code below it.

mod help;
mod mails;
mod webhooks;

use std::sync::Arc;

use mails::TO;

use crate::exits;
use crate::support::clock::SetClock;
use crate::support::in_process::CommandLine;
use crate::support::test_server::{START, TestServer};
use crate::support::transcript::{Transcript, WIDTHS, none_is_left_over};

/// Where the snapshots are, those of errors too.
pub(super) const SNAPSHOTS: &str = "tests/it/screens/snapshots";

/// The snapshots, each with its command.
const LISTS: [(&str, &[&str]); 9] = [
    ("list_inbox", &["inbox", TO]),
    ("list_inbox_all", &["inbox"]),
    ("list_inbox_mailboxes", &["inbox", "--mailboxes"]),
    ("list_address", &["address", "ls"]),
    ("list_domain", &["domain", "ls"]),
    ("list_token", &["token", "ls"]),
    ("list_fault", &["fault", "ls"]),
    ("list_status", &["status"]),
    ("list_status_all", &["status", "--all"]),
];
/// The snapshot of the checks. Their other forms have the same texts.
const DOCTOR: &str = "list_doctor";

/// Commands that fill the lists.
const SETUP: [&[&str]; 8] = [
    &["domain", "add", "a.domain.of.a.rather.long.name.of.some.department.example.org", "--skip-dns-check"],
    &["domain", "add", "例え.example", "--skip-dns-check"],
    &["new", "--private", "mine@example.test"],
    &[
        "new",
        "--private",
        "a.name.that.is.as.long.as.some@example.test",
        "--idle",
        "2h",
        "--messages",
        "5",
        "--keep",
        "90s",
    ],
    &["webhook", "add", TO, "https://hooks.example/mail"],
    &["token", "new", "--name", "reader", "--scope", "read", "--expires", "3650d"],
    &["token", "new", "--name", "a-token-of-a-name-that-is-longer-than-a-column-has-room-for"],
    &["fault", "add", "RCPT user4xx-with-a-long-name@*.department.example first 3 delay 5s 451 4.3.0 later"],
];

#[tokio::test(flavor = "multi_thread")]
async fn each_list_at_each_width_and_in_each_form() {
    // The lines of the snapshots break as the length of its name requires.
    let dir = tempfile::tempdir_in("/tmp").expect("directory");
    let server = TestServer::again(dir, Arc::new(SetClock::at(START)), "").await;
    mails::deliver(&server).await;
    for args in SETUP {
        let outcome = server.tempmail(args).await;
        assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
    }
    let dir = server.dir().to_owned();
    let checked = tokio::task::spawn_blocking(move || {
        for (name, args) in LISTS {
            Transcript::of_each_form(&dir, args).check(SNAPSHOTS, name);
        }
        let mut doctor = Transcript::default();
        // Below 40 columns there is no room for the names of the checks.
        for width in [36].into_iter().chain(WIDTHS) {
            doctor.on_terminal(width, &["doctor"], CommandLine::on_data(&dir, &["doctor"]));
        }
        doctor.check(SNAPSHOTS, DOCTOR);
    });
    checked.await.expect("the snapshots");
    server.stop().await;
}

#[test]
fn each_snapshot_belongs_to_a_test() {
    let lists = LISTS.iter().map(|(name, _)| *name).chain([DOCTOR]).map(str::to_owned);
    none_is_left_over(SNAPSHOTS, lists.chain(help::names()).chain(webhooks::names()).chain(exits::names()));
}
