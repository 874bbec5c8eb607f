//! The bars of long work, on a terminal and in a pipe.
//! Promise: it outlives the code below it.

use std::fmt::Write as _;
use std::path::Path;

use regex::Regex;

use crate::support::program::{Program, on_terminal};
use crate::support::terminal::Screen;

const TO: &str = "hello@example.test";
/// Enough for much more than the half second after which a bar is shown.
const MAILS: usize = 3_000;

/// An mbox file with many mails.
fn archive(dir: &Path) -> String {
    let mut text = String::new();
    for number in 0..MAILS {
        write!(text, "From me@x.test Thu Jan  1 00:00:00 2026\nSubject: {number}\n\ntext\n\n").expect("text");
    }
    let file = dir.join("many.mbox");
    std::fs::write(&file, text).expect("write");
    file.to_str().expect("UTF-8").to_owned()
}

/// The states of the line that were shown one after the other.
fn states(screen: &Screen) -> Vec<String> {
    let escapes = Regex::new("\u{1b}\\[[0-9;]*[A-Za-z]").expect("a regex");
    screen.text.split(['\r', '\n']).map(|state| escapes.replace_all(state, "").into_owned()).collect()
}

/// A bar was shown, it fits the terminal, and nothing of it is left.
fn check(screen: &Screen, columns: usize, bar: &str) {
    assert_eq!(screen.code, Some(0), "{}", screen.text);
    let states = states(screen);
    let bar = Regex::new(bar).expect("a regex");
    assert!(states.iter().any(|state| bar.is_match(state)), "{states:?}");
    for state in &states {
        assert!(state.chars().count() <= columns, "{state:?} on {columns} columns");
    }
    // The line is cleared before the result is printed, and no bar comes after that.
    let (_, last) = screen.text.rsplit_once("\u{1b}[2K").expect("a line that was cleared");
    assert!(!last.contains('\u{2588}') && !last.contains("ing "), "{last:?}");
}

#[test]
fn a_bar_shows_rate_and_time_left_and_goes() {
    let daemon = Program::fresh(&[]);
    let mbox = archive(daemon.dir());
    let imported = on_terminal(daemon.dir(), 60, "", &["import", TO, "--mbox", &mbox]);
    check(&imported, 60, r"^importing [\u{2588}\u{2591}]+ \d+ KB/\d+ KB \d+ K?B/s \d+s$");
    let copy = daemon.dir().join("copy.mbox");
    let exported = on_terminal(daemon.dir(), 80, "", &["export", TO, "--mbox", copy.to_str().expect("UTF-8")]);
    check(&exported, 80, r"^exporting [\u{2588}\u{2591}]+ \d+/3000 \d+/s \d+s$");

    let piped = daemon.tempmail(&["import", TO, "--mbox", &mbox]);
    assert_eq!((piped.code, piped.stderr.as_str()), (Some(0), ""));
    assert_eq!(piped.stdout, format!("imported\t{MAILS}\nrefused\t0\n"));
}
