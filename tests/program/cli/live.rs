//! `tempmail inbox --watch` on a terminal, against a daemon.
//! Promise: it outlives the code below it.

use rustix::process::Signal;

use super::{TO, send, until_waiting};
use crate::support::program::{Program, terminal_command};
use crate::support::terminal::Terminal;
use crate::support::until::blocking;

const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

fn watch(dir: &tempfile::TempDir) -> Terminal {
    Terminal::start(terminal_command(dir.path(), &["inbox", TO, "--watch"]), 100, "")
}

/// What is on the screen: what was written since it was last cleared.
fn screen(terminal: &Terminal) -> String {
    terminal.shown().rsplit(CLEAR).next().unwrap_or_default().to_owned()
}

/// Waits until the screen has so many mails, in a whole table.
fn until_mails(terminal: &Terminal, count: usize, last: &str) -> String {
    let mails = if count == 1 { "mail" } else { "mails" };
    let title = format!("{TO}: {count} {mails}; Ctrl-C ends this\n\n");
    let mut shown = String::new();
    blocking::until("the list is drawn", || {
        shown = screen(terminal);
        shown.starts_with(&title) && shown.contains(last) && shown.ends_with('\n')
    });
    shown
}

#[test]
fn the_list_is_drawn_again_at_each_event() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "the first");
    let terminal = watch(&dir);
    let first = until_mails(&terminal, 1, "the first");
    assert!(first.contains("SUBJECT") && first.contains("ann@sender.test"), "{first}");

    send(&daemon, "evil\u{202e}gpj\u{1b}]0;title\u{7}");
    let second = until_mails(&terminal, 2, "the first");
    let (newer, older) = (second.find("evil<U+202E>gpj").expect("visible"), second.find("the first").expect("kept"));
    assert!(newer < older, "{second}");
    assert!(!second.contains(['\u{202e}', '\u{7}']) && !second.contains("\u{1b}]"), "{second:?}");

    daemon.tempmail(&["delete", TO, "--yes"]).ok();
    let none = until_mails(&terminal, 0, "");
    assert!(!none.contains("the first"), "{none}");
    assert_eq!(terminal.signalled(Signal::INT).code, Some(130));
}

#[test]
fn the_list_is_as_long_as_the_limit_says_whatever_a_page_has() {
    let daemon = Program::fresh(&["--page-size-max", "2"]);
    for subject in ["the first", "the second", "the third", "the fourth"] {
        send(&daemon, subject);
    }
    let args = ["inbox", TO, "--watch", "--limit", "3"];
    let terminal = Terminal::start(terminal_command(daemon.dir(), &args), 100, "");
    let shown = until_mails(&terminal, 4, "the second");
    assert!(shown.contains("the fourth") && !shown.contains("the first"), "{shown}");
    assert_eq!(terminal.signalled(Signal::INT).code, Some(130));
}

#[test]
fn the_list_goes_on_after_a_restart() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    let terminal = watch(&dir);
    until_mails(&terminal, 1, "before");
    until_waiting(&daemon, 1);
    daemon.stop();
    blocking::until("the interruption is said", || terminal.shown().contains("trying again"));
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "after");
    let shown = until_mails(&terminal, 2, "before");
    assert!(shown.contains("after"), "{shown}");
    assert_eq!(terminal.signalled(Signal::INT).code, Some(130));
}
