//! A command on a terminal of its own: a pseudo-terminal, as people have it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::command::code;
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
    Terminal::start(command, columns, answers).ended()
}

/// Runs a command on a terminal, and stops it with SIGTERM after `wait` has returned.
pub(crate) fn stopped(command: Command, columns: u16, wait: impl FnOnce()) -> Screen {
    let terminal = Terminal::start(command, columns, "");
    wait();
    terminal.signalled(Signal::TERM)
}

/// A command that runs on a terminal. It is killed when this is dropped.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    pub(crate) fn start(mut command: Command, columns: u16, answers: &str) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
        grantpt(&master).expect("grant");
        unlockpt(&master).expect("unlock");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("its other end");
        tcsetwinsize(&slave, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("its size");
        let mut master = File::from(master);
        let keyboard = master.try_clone().expect("a copy");

        let slave = File::from(slave);
        command.stdin(slave.try_clone().expect("a copy")).stdout(slave.try_clone().expect("a copy")).stderr(slave);
        // The copies of the other end go with `command`; without that the terminal would never end.
        let child = command.env("TERM", "xterm").spawn().expect("the command");
        let shown = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // A terminal whose other end is closed gives an error where a pipe ends.
            while let Ok(octets @ 1..) = master.read(&mut piece) {
                written.lock().expect("shown").extend_from_slice(&piece[..octets]);
            }
        });
        let mut terminal = Self { child, keyboard, shown, reader: Some(reader) };
        terminal.type_in(answers);
        terminal
    }

    /// Types `keys`, which the command reads when it wants to.
    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the keyboard");
    }

    /// All that was shown until now, with LF at line ends.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().expect("shown")).replace("\r\n", "\n")
    }

    /// What became of the command after this signal.
    pub(crate) fn signalled(self, signal: Signal) -> Screen {
        self.signal(signal);
        self.ended()
    }

    /// Sends a signal to the command alone.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("kill");
    }

    /// Waits for the end of the command.
    pub(crate) fn ended(mut self) -> Screen {
        let ended = || self.child.try_wait().expect("wait");
        let status = blocking::until_some("the end of a command on a terminal", ended);
        self.reader.take().expect("it is taken once").join().expect("the reader");
        Screen { code: code(status), text: self.shown() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
