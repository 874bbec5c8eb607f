//! A terminal of its own for a command, which Python's module `pty` gives.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::programs;
use super::until::blocking;

/// Runs the command of its arguments in a terminal, and ends as that does.
const PYTHON: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
/// What a person presses to interrupt.
const CTRL_C: &[u8] = b"\x03";

/// A command in a terminal. It is hung up when this is dropped.
pub(crate) struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts `tempmail`. `None` if there is no Python, which is skipped as elsewhere.
    pub(crate) fn start(test: &str, set: impl FnOnce(&mut Command), args: &[&str]) -> Option<Self> {
        let mut command = Command::new(programs::find("python3", test)?);
        command.args(["-c", PYTHON, env!("CARGO_BIN_EXE_tempmail")]).args(args);
        command.env("TERM", "xterm").env("COLUMNS", "100");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        set(&mut command);
        let mut child = command.spawn().expect("python");
        let (keyboard, mut stdout) = (child.stdin.take().expect("stdin"), child.stdout.take().expect("stdout"));
        let screen = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&screen);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(octets @ 1..) = stdout.read(&mut piece) {
                written.lock().expect("screen").extend_from_slice(&piece[..octets]);
            }
        });
        Some(Self { child, keyboard, screen })
    }

    /// All that was written to the terminal, with LF at line ends.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().expect("screen")).replace("\r\n", "\n")
    }

    /// Interrupts the command from the keyboard, and waits for its end.
    pub(crate) fn interrupt(mut self) -> ExitStatus {
        self.keyboard.write_all(CTRL_C).and_then(|()| self.keyboard.flush()).expect("press");
        blocking::until_some("the command ends", || self.child.try_wait().expect("wait"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
