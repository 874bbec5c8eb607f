//! A command on a terminal of its own: a pseudo-terminal, as people have it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::until::blocking;

/// What became of a command on a terminal.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) code: Option<i32>,
    /// Everything that was shown, echoed answers included, with LF as line ends.
    pub(crate) text: String,
}

/// The height of a terminal.
const ROWS: u16 = 24;

/// Runs a command with all three streams on a terminal of so many columns. `answers` are typed before it asks.
pub(crate) fn on_terminal(command: Command, columns: u16, answers: &str) -> Screen {
    let (child, terminal) = spawn(command, columns, answers);
    ended(child, terminal)
}

/// Runs a command on a terminal, and stops it with SIGTERM after `wait` has returned.
pub(crate) fn stopped(command: Command, columns: u16, wait: impl FnOnce()) -> Screen {
    let (child, terminal) = spawn(command, columns, "");
    wait();
    kill_process(Pid::from_child(&child), Signal::TERM).expect("kill");
    ended(child, terminal)
}

/// The command, and the thread that reads what it shows.
fn spawn(mut command: Command, columns: u16, answers: &str) -> (Child, JoinHandle<Vec<u8>>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
    grantpt(&master).expect("grant");
    unlockpt(&master).expect("unlock");
    let name = ptsname(&master, Vec::new()).expect("its name");
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("its other end");
    tcsetwinsize(&slave, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("its size");
    let mut master = File::from(master);
    master.write_all(answers.as_bytes()).expect("answers");

    let slave = File::from(slave);
    command.stdin(slave.try_clone().expect("a copy")).stdout(slave.try_clone().expect("a copy")).stderr(slave);
    // The copies of the other end go with `command`; without that the terminal would never end.
    let child = command.env("TERM", "xterm").spawn().expect("the command");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        // A terminal whose other end is closed gives an error where a pipe ends.
        let _ = master.read_to_end(&mut text);
        text
    });
    (child, reader)
}

fn ended(mut child: Child, terminal: JoinHandle<Vec<u8>>) -> Screen {
    let status = blocking::until_some("the end of a command on a terminal", || child.try_wait().expect("wait"));
    let text = String::from_utf8_lossy(&terminal.join().expect("the reader")).replace("\r\n", "\n");
    Screen { code: status.code(), text }
}
