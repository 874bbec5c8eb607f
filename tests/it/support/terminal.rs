//! A command on a terminal of its own: a pseudo-terminal, as people have it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags, open};
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

/// Runs a command with all three streams on a terminal of this size. `answers` are typed before it asks.
pub(crate) fn on_terminal(mut command: Command, columns: u16, rows: u16, answers: &str) -> Screen {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
    grantpt(&master).expect("grant");
    unlockpt(&master).expect("unlock");
    let name = ptsname(&master, Vec::new()).expect("its name");
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("its other end");
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).expect("its size");
    let mut master = File::from(master);
    master.write_all(answers.as_bytes()).expect("answers");

    let slave = File::from(slave);
    command.stdin(slave.try_clone().expect("a copy")).stdout(slave.try_clone().expect("a copy")).stderr(slave);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let mut child = command.spawn().expect("the command");
    // The copies of the other end, without which the terminal never ends.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        // A terminal whose other end is closed gives an error where a pipe ends.
        let _ = master.read_to_end(&mut text);
        text
    });
    let status = blocking::until_some("the end of a command on a terminal", || child.try_wait().expect("wait"));
    let text = String::from_utf8_lossy(&reader.join().expect("the reader")).replace("\r\n", "\n");
    Screen { code: status.code(), text }
}
