//! Postfix's generator.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::support::Result;

/// A round that takes longer hangs.
const ROUND_TIME_MAX: Duration = Duration::from_mins(10);

/// What happens to a connection after a message.
#[derive(Clone, Copy)]
pub(crate) enum Connections {
    /// It carries the next one.
    Kept,
    /// It ends.
    New,
}

impl Connections {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::New => "new per message",
        }
    }
}

/// Whom the messages of a round are for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Mailboxes {
    /// All for one.
    One,
    /// Each for its own: smtp-source puts a number before the address, from 1 up in every round.
    Each,
}

impl Mailboxes {
    const ADDRESS: &'static str = "ingest@example.test";

    /// Every address that a round of `messages` sends to.
    pub(crate) fn addresses(self, messages: usize) -> Vec<String> {
        match self {
            Self::One => vec![Self::ADDRESS.to_owned()],
            Self::Each => (1..=messages).map(|number| format!("{number}{}", Self::ADDRESS)).collect(),
        }
    }
}

/// What is sent in a round.
pub(crate) struct Load {
    pub(crate) messages: usize,
    pub(crate) connections: Connections,
    pub(crate) mailboxes: Mailboxes,
}

impl Load {
    /// Sends everything and returns how long it took. Any other answer than the expected one is an error.
    pub(crate) fn send(&self, source: &Path, to: SocketAddr) -> Result<Duration> {
        let mut command = Command::new(source);
        command.args(["-s", "20", "-l", "4096", "-m", &self.messages.to_string()]);
        command.args(["-M", "source.example", "-f", "source@source.example", "-t", Mailboxes::ADDRESS]);
        if matches!(self.connections, Connections::Kept) {
            command.arg("-d");
        }
        if matches!(self.mailboxes, Mailboxes::Each) {
            command.arg("-N");
        }
        command.arg(to.to_string()).stdin(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if begun.elapsed() > ROUND_TIME_MAX {
                child.kill()?;
                child.wait()?;
                return Err(format!("smtp-source to {to} has not ended after {ROUND_TIME_MAX:?}").into());
            }
            sleep(Duration::from_millis(2));
        };
        let time = begun.elapsed();
        if status.success() { Ok(time) } else { Err(format!("smtp-source to {to} ended with {status}").into()) }
    }
}
