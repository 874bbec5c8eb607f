//! The binary against a small service that answers as the interface requires.

mod cluster;
mod completions;
mod config;
mod context;
mod contract;
mod db;
mod delete;
mod doctor;
mod domain;
mod exits;
mod expect;
mod export;
mod first_use;
mod generated;
mod import;
mod inbox;
mod interrupt;
mod jq;
mod listen;
mod lists;
mod live;
mod mcp;
mod new;
mod one_mail;
mod progress;
mod rate_limit;
mod read;
mod screens;
mod send_test;
mod sendmail;
mod service;
mod status;
mod wait;
mod watch;
mod webhook;

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
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
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
fn run(args: &[&str]) -> Outcome {
    tempmail().args(args).output().expect("run").into()
}
