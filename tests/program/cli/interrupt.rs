//! Signals to commands that are blocked.
//! Promise: it outlives the code below it.

use std::fs;

use rustix::process::Signal;

use super::TO;
use crate::support::command::{Running, on_data};
use crate::support::program::terminal_command;
use crate::support::terminal::Terminal;
use crate::support::until::blocking;

fn start(dir: &tempfile::TempDir, args: &[&str]) -> Running {
    Running::start(&mut on_data(dir.path(), args))
}

/// The threads of a process by their names, each with its state.
fn threads(process: u32) -> Vec<(String, char)> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("its threads");
    let stats = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let read = |stat: String| {
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        Some((name.to_owned(), rest.chars().next()?))
    };
    stats.filter_map(read).collect()
}

/// Waits until the command's thread sleeps, as in a read: the state `S` of proc(5).
fn until_asleep(child: &Running) {
    blocking::until("the thread of the command", || threads(child.process()).contains(&("command".to_owned(), 'S')));
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
fn a_command_has_one_thread_beside_the_first() {
    let dir = tempfile::tempdir().expect("directory");
    let child = start(&dir, &["delete", "-", "--yes"]);
    until_asleep(&child);
    assert_eq!(threads(child.process()).len(), 2);
    interrupted(child);
}

#[test]
fn while_the_pager_has_the_terminal_the_interrupt_is_for_it() {
    let dir = tempfile::tempdir().expect("directory");
    let (begun, end) = (dir.path().join("begun"), dir.path().join("end"));
    let script = dir.path().join("pager");
    let text = format!("touch {}\nuntil [ -e {} ]; do sleep 0.02; done\n", begun.display(), end.display());
    fs::write(&script, text).expect("write");
    let mut command = terminal_command(dir.path(), &["help", "http"]);
    command.env("PAGER", format!("sh {}", script.display()));
    let terminal = Terminal::start(command, 80, "");
    blocking::until("the pager", || begun.exists());
    terminal.signal(Signal::INT);
    fs::write(end, "").expect("write");
    assert_eq!(terminal.ended().code, Some(0));
}
