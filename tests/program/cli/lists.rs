//! Lists longer than a page, and what they look like on a terminal.
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::{Outcome, TO};
use crate::support::command::{fed, on_data};
use crate::support::program::{self, Program, remote};
use crate::support::smtp_peer::SmtpPeer;

/// A daemon whose pages have at most 5 entries, with so many mails, the subjects numbered from 1.
async fn daemon(dir: &std::path::Path, mails: usize) -> Program {
    let daemon = Program::serve(dir, &["--page-size-default", "3", "--page-size-max", "5"]);
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    for number in 1..=mails {
        let message = format!("From: Ann <ann@mail.example>\r\nSubject: mail {number}\r\n\r\ntext of {number}");
        peer.deliver(TO, &message).await;
    }
    daemon
}

fn subjects(outcome: &Outcome) -> Vec<String> {
    outcome.stdout.lines().map(|line| line.split('\t').nth(3).unwrap_or_default().to_owned()).collect()
}

fn newest(from: usize, to: usize) -> Vec<String> {
    (to..=from).rev().map(|number| format!("mail {number}")).collect()
}

#[tokio::test]
async fn a_list_is_as_long_as_was_asked_and_says_when_there_is_more() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 13).await;
    let page = daemon.tempmail(&["inbox", TO]);
    assert_eq!(subjects(&page), newest(13, 11));
    assert!(page.stderr.contains("the newest 3 of 13; --all lists all"), "{page:?}");
    assert_eq!(daemon.tempmail(&["-q", "inbox", TO]).stderr, "");

    let limited = daemon.tempmail(&["inbox", TO, "--limit", "12"]);
    assert_eq!(subjects(&limited), newest(13, 2));
    assert!(limited.stderr.contains("the newest 12 of 13"), "{limited:?}");
    for args in [&["--limit", "13"][..], &["--limit", "50"], &["--all"]] {
        let all = daemon.tempmail(&[&["inbox", TO], args].concat());
        assert_eq!((subjects(&all), all.stderr.as_str()), (newest(13, 1), ""), "{args:?}");
    }
    let filtered = daemon.tempmail(&["inbox", TO, "--all", "--subject", "mail 1"]);
    assert_eq!(subjects(&filtered), [newest(13, 10), newest(1, 1)].concat());
    let refused = daemon.tempmail(&["inbox", TO, "--page", "2", "--limit", "6"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("at most 5"), "{refused:?}");
}

#[tokio::test]
async fn a_long_list_is_one_json_text_with_the_bodies() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 11).await;
    let all = daemon.tempmail(&["inbox", TO, "--all", "--json"]);
    let value: Value = all.json();
    let emails = value["emails"].as_array().expect("emails");
    assert_eq!((emails.len(), &value["total"]), (11, &11.into()));
    assert!(emails[10]["message"].as_str().is_some_and(|text| text.contains("text of 1")), "{emails:?}");
    let lines = daemon.tempmail(&["inbox", TO, "--limit", "7", "-o", "ndjson"]).stdout;
    assert_eq!(lines.lines().filter(|line| line.contains("text of")).count(), 7);
}

#[tokio::test]
async fn a_total_is_true_or_not_said() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 13).await;
    let filtered =
        |limit: &str| daemon.tempmail(&["inbox", TO, "--json", "--subject", "mail 1", "--limit", limit]).json();
    for (limit, emails, total) in [("4", 4, Some(5)), ("6", 5, Some(5)), ("50", 5, Some(5)), ("101", 5, Some(5))] {
        let listed: Value = filtered(limit);
        assert_eq!(listed["emails"].as_array().map(Vec::len), Some(emails), "{limit}: {listed}");
        assert!(listed.get("total").is_none_or(|said| said.as_u64() == total), "{limit}: {listed}");
    }
    let all: Value = daemon.tempmail(&["inbox", TO, "--json", "--subject", "mail 1", "--all"]).json();
    assert_eq!((all["total"].as_u64(), all.get("next")), (Some(5), None));
    let whole: Value = daemon.tempmail(&["inbox", "--json", "--all"]).json();
    assert_eq!(
        (whole["emails"].as_array().map(Vec::len), &whole["total"], &whole["next"]),
        (Some(13), &13.into(), &Value::Null)
    );
}

#[tokio::test]
async fn all_mail_and_all_mailboxes_are_listed_by_cursor() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 8).await;
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    for number in 0..8 {
        peer.deliver(&format!("box{number}@example.test"), "Subject: x\r\n\r\n").await;
    }
    let count = |args: &[&str]| daemon.tempmail(&[&["inbox", "-o", "id"], args].concat()).stdout.lines().count();
    assert_eq!((count(&[]), count(&["--limit", "12"]), count(&["--all"])), (3, 12, 16));
    assert_eq!((count(&["--mailboxes", "--limit", "7"]), count(&["--mailboxes", "--all"])), (7, 9));
    assert!(daemon.tempmail(&["inbox"]).stderr.contains("--all lists all"));
    let screen = program::on_terminal(dir.path(), 120, "", &["inbox", "--all"]);
    assert!(screen.text.contains("  Ann  ") && !screen.text.contains("ann@mail.example"), "{screen:?}");
}

#[tokio::test]
async fn a_pipe_to_delete_takes_the_whole_inbox() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 9).await;
    let ids = daemon.tempmail(&["inbox", TO, "--all", "-o", "id"]).stdout;
    assert_eq!(fed(&mut on_data(dir.path(), &["delete", "-", "--yes"]), ids).code, Some(0));
    assert_eq!(daemon.tempmail(&["inbox", TO, "--all"]).stdout, "");
}

#[tokio::test]
async fn a_terminal_shows_the_end_of_an_id_and_the_commands_take_it() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 3).await;
    let whole: Vec<String> = daemon.tempmail(&["inbox", TO, "-o", "id"]).stdout.lines().map(str::to_owned).collect();
    let screen = program::on_terminal(dir.path(), 80, "", &["inbox", TO]);
    assert_eq!(screen.code, Some(0), "{screen:?}");
    let shown: Vec<&str> = screen.text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    for (shown, whole) in shown.iter().zip(&whole) {
        assert!(shown.len() >= 8 && whole.replace('-', "").ends_with(shown), "{shown} {whole}");
        let read = daemon.tempmail(&["read", shown, "-o", "id"]);
        assert_eq!(read.stdout.trim(), whole, "{read:?}");
        let remote = remote(daemon.http, &["read", TO, shown, "-o", "id"]);
        assert_eq!(remote.stdout.trim(), whole, "{remote:?}");
    }
    let unnamed = remote(daemon.http, &["read", shown[0]]);
    assert_eq!((unnamed.code, unnamed.stdout.as_str()), (Some(2), ""));
    assert!(unnamed.stderr.contains("read ADDR ID"), "{unnamed:?}");

    // All of a minute begin alike.
    let ambiguous = daemon.tempmail(&["delete", "--yes", "--id", &whole[0][..4]]);
    assert_eq!(ambiguous.code, Some(2), "{ambiguous:?}");
    assert!(whole.iter().all(|id| ambiguous.stderr.contains(id.as_str())), "{ambiguous:?}");
    assert_eq!(daemon.tempmail(&["read", "fff"]).code, Some(2));
    assert_eq!(daemon.tempmail(&["read", "ffffffffff"]).code, Some(3));
    daemon.tempmail(&["delete", TO, "--yes", "--id", shown[1]]).ok();
    assert_eq!(daemon.tempmail(&["inbox", TO, "-o", "id"]).stdout, format!("{}\n{}\n", whole[0], whole[2]));
}

#[tokio::test]
async fn a_table_fits_its_terminal_and_leaves_the_subject_room() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 0).await;
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    let subject = "=?utf-8?B?5ryi5a2X44GL44Gq44G+44GY44KK44Gu5Lu25ZCN44Gv44GT44GTIOOBp+OBmeOBruOBp+OBiuiqreOBv+OBj+OBoOOBleOBhA==?=";
    let from = "a.sender.with.a.very.long.name@mail.department.example";
    peer.deliver(TO, &format!("From: {from}\r\nSubject: {subject}\r\n\r\n")).await;
    for (columns, least) in [(60, 16), (80, 34), (120, 46)] {
        let screen = program::on_terminal(dir.path(), columns, "", &["inbox", TO]);
        let line = screen.text.lines().nth(1).expect("a row").to_owned();
        // Of these characters each Han and Kana takes two columns.
        let wide = line.chars().filter(|c| *c > '\u{3000}').count();
        assert!(line.chars().count() + wide <= usize::from(columns), "{screen:?}");
        assert!(2 * wide >= least, "{columns}: {screen:?}");
    }
}

#[tokio::test]
async fn every_list_fits_a_narrow_terminal() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 2).await;
    for args in [
        &["token", "new", "--name", "a-name-that-is-longer-than-the-terminal", "--expires", "7d"][..],
        &["fault", "add", "RCPT nobody-at-all@* 451 4.3.0"],
        &["webhook", "add", TO, "https://hooks.example/mail"],
    ] {
        daemon.tempmail(args).ok();
    }
    for args in ["inbox", "inbox --mailboxes", "domain ls", "token ls", "fault ls", "webhook ls"] {
        let args: Vec<&str> = args.split(' ').collect();
        let screen = program::on_terminal(dir.path(), 20, "", &args);
        let table: Vec<&str> = screen.text.lines().take(2).collect();
        assert!(table.len() == 2 && table.iter().all(|line| line.chars().count() <= 20), "{args:?}: {screen:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_seen_is_visible_in_lists_and_in_a_pipe() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = daemon(dir.path(), 0).await;
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    // U+200B, U+202E, U+200E, U+061C and U+E0041.
    let subject = "=?utf-8?Q?a=E2=80=8Bb=E2=80=AEc=E2=80=8Ed=D8=9Ce=F3=A0=81=81f?=";
    let body = "one\u{1b}[2J two\u{1b}]8;;http://evil.example\u{1b}\\link\r\nthree\u{200b}";
    let message = format!("Subject: {subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n");
    peer.deliver(TO, &message).await;
    let shown = "a<U+200B>b<U+202E>c<U+200E>d<U+061C>e<U+E0041>f";
    assert_eq!(subjects(&daemon.tempmail(&["inbox", TO])), [shown]);
    let screen = program::on_terminal(dir.path(), 120, "", &["inbox", TO]);
    assert!(screen.text.contains(shown), "{screen:?}");

    let read = daemon.tempmail(&["read", TO, "--latest"]).stdout;
    assert!(
        read.contains(shown) && read.contains("one␛[2J two␛]8;;http://evil.example␛\\link\nthree<U+200B>"),
        "{read}"
    );
    assert!(!read.contains('\u{1b}'), "{read}");
    let raw = daemon.tempmail(&["read", TO, "--latest", "--raw"]).stdout;
    assert!(raw.contains(body), "{raw}");
    let json: Value = daemon.tempmail(&["read", TO, "--latest", "--json"]).json();
    assert!(
        json["bodyText"].as_str().is_some_and(|text| text.contains("one\u{1b}[2J") && text.contains("three\u{200b}")),
        "{json}"
    );
}
