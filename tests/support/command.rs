//! One command of the binary, and what it came to.

use std::io::{BufRead, BufReader, Read};
use std::process::Output;
use std::sync::mpsc::{Receiver, channel};

use assert_cmd::Command;

/// The binary, without those variables of the caller's environment that it reads.
pub(crate) fn tempmail() -> Command {
    let mut command = Command::cargo_bin("tempmail").expect("binary");
    for name in [
        "TEMPMAIL_SERVER",
        "TEMPMAIL_CONTEXT",
        "TEMPMAIL_TOKEN",
        "TEMPMAIL_DATA_DIR",
        "STATE_DIRECTORY",
        "XDG_RUNTIME_DIR",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
    command.timeout(std::time::Duration::from_mins(1));
    command
}

/// The lines of a stream as they come.
pub(crate) fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

/// The result of a command: exit code, standard output, standard error.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs the binary with `args`.
pub(crate) fn run(args: &[&str]) -> Outcome {
    tempmail().args(args).output().expect("run").into()
}
