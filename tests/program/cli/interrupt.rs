//! Signals to commands that are blocked.
//! Promise: it outlives the code below it.

use std::fs;

use rustix::process::Signal;

use super::TO;
use crate::support::command::{Running, on_data};
use crate::support::program::terminal_command;
use crate::support::terminal::{Terminal, on_terminal};
use crate::support::until::blocking;

fn start(dir: &tempfile::TempDir, args: &[&str]) -> Running {
    Running::start(&mut on_data(dir.path(), args))
}

/// The states of a process's threads: `S` sleeps, as in a read (proc(5)).
fn threads(process: u32) -> Vec<char> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("its threads");
    let stats = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    stats.filter_map(|stat| stat.rsplit_once(") ")?.1.chars().next()).collect()
}

fn until_asleep(child: &Running) {
    blocking::until("the command sleeps", || threads(child.process()).iter().all(|state| *state == 'S'));
}

fn interrupted(child: Running) {
    child.signal(Signal::INT);
    assert_eq!(child.end().code, Some(130));
}

#[test]
fn a_command_that_reads_standard_input_is_interrupted() {
    let dir = tempfile::tempdir().expect("directory");
    for args in [
        &["delete", "-", "--yes"][..],
        &["sendmail", "-S", "127.0.0.1:9", TO],
        &["webhook", "add", TO, "https://hooks.example/", "--secret-file", "-"],
    ] {
        // Its standard input stays open and empty.
        let child = start(&dir, args);
        until_asleep(&child);
        interrupted(child);
    }
}

#[test]
fn a_command_has_one_thread() {
    let dir = tempfile::tempdir().expect("directory");
    let child = start(&dir, &["delete", "-", "--yes"]);
    until_asleep(&child);
    assert_eq!(threads(child.process()), ['S']);
    interrupted(child);
}

/// The pager is the process itself, so nothing else hears of the signal.
#[test]
fn while_the_pager_has_the_terminal_the_interrupt_is_for_it() {
    let dir = tempfile::tempdir().expect("directory");
    let (begun, interrupted) = (dir.path().join("begun"), dir.path().join("interrupted"));
    let script = dir.path().join("pager");
    let (touched, until) = (interrupted.display(), "sleep 0.02; done");
    let text = format!("trap 'touch {touched}' INT\ntouch {}\nuntil [ -e {touched} ]; do {until}\n", begun.display());
    fs::write(&script, text).expect("write");
    let mut command = terminal_command(dir.path(), &["help", "http"]);
    command.env("PAGER", format!("sh {}", script.display()));
    let terminal = Terminal::start(command, 80, "");
    blocking::until("the pager", || begun.exists());
    terminal.signal(Signal::INT);
    assert_eq!(terminal.ended().code, Some(0));
    assert!(interrupted.exists());
}

#[test]
fn without_a_pager_the_text_is_shown_as_it_is() {
    let dir = tempfile::tempdir().expect("directory");
    for pager in ["/nowhere/pager", "cat", ""] {
        let mut command = terminal_command(dir.path(), &["help", "http"]);
        command.env("PAGER", pager);
        let screen = on_terminal(command, 80, "");
        assert_eq!(screen.code, Some(0));
        assert!(screen.text.contains("# HTTP"), "{pager:?}: {}", screen.text);
    }
}
