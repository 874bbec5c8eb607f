//! `tempmail inbox --watch` on a terminal, against a daemon.
//! Promise: it outlives the code below it.

use rustix::process::Signal;

use super::{TO, send, until_waiting};
use crate::support::program::{Program, terminal_command};
use crate::support::terminal::Terminal;
use crate::support::until::blocking;

fn watch(dir: &tempfile::TempDir) -> Terminal {
    Terminal::start(terminal_command(dir.path(), &["inbox", TO, "--watch"]), 100, "")
}

/// Waits until a whole row has this text.
fn until_row(terminal: &Terminal, text: &str) -> String {
    let mut shown = String::new();
    blocking::until("the row is there", || {
        shown = terminal.shown().replace('\r', "");
        shown.split_once(text).is_some_and(|(_, after)| after.contains('\n'))
    });
    shown
}

#[test]
fn each_mail_that_arrives_is_a_further_row() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "the first");
    let terminal = watch(&dir);
    let first = until_row(&terminal, "the first");
    assert!(first.contains("SUBJECT") && first.contains("  Ann  "), "{first}");

    send(&daemon, "evil\u{202e}gpj\u{1b}]0;title\u{7}");
    let second = until_row(&terminal, "evil<U+202E>gpj");
    assert!(second.starts_with(&first) && second.matches("SUBJECT").count() == 1, "{second}");
    assert!(!second.contains(['\u{202e}', '\u{7}']) && !second.contains("\u{1b}]"), "{second:?}");
    let column = |text: &str| second.lines().find_map(|line| line.find(text));
    assert_eq!(column("the first"), column("evil"), "{second}");
    assert_eq!(terminal.signalled(Signal::INT).code, Some(130));
}

#[test]
fn it_begins_with_as_many_as_the_limit_says_whatever_a_page_has() {
    let daemon = Program::fresh(&["--page-size-max", "2"]);
    for subject in ["the first", "the second", "the third", "the fourth"] {
        send(&daemon, subject);
    }
    let args = ["inbox", TO, "--watch", "--limit", "3"];
    let terminal = Terminal::start(terminal_command(daemon.dir(), &args), 100, "");
    let shown = until_row(&terminal, "the fourth");
    assert!(shown.contains("the second") && !shown.contains("the first"), "{shown}");
    assert_eq!(terminal.signalled(Signal::INT).code, Some(130));
}

#[test]
fn the_list_goes_on_after_a_restart() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    let terminal = watch(&dir);
    until_row(&terminal, "before");
    until_waiting(&daemon, 1);
    daemon.stop();
    blocking::until("the interruption is said", || terminal.shown().contains("trying again"));
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "after");
    let shown = until_row(&terminal, "after");
    assert!(shown.contains("before"), "{shown}");
    assert_eq!(terminal.signalled(Signal::INT).code, Some(130));
}
