//! Lines without an end.

use std::fmt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};

use super::crowd::{connect, reply};
use crate::support::Result;
use crate::support::daemon::Daemon;

const PIECE_OCTETS: usize = 1 << 20;
const PIECES: usize = 1024;

/// Where in a dialog the line is.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Command,
    Header,
    Body,
}

impl Place {
    pub(crate) const ALL: [Self; 3] = [Self::Command, Self::Header, Self::Body];
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "a command",
            Self::Header => "a header field",
            Self::Body => "a body",
        })
    }
}

/// Sends the line; by how many KB the daemon grew meanwhile at most.
pub(crate) fn endless(daemon: &Daemon, place: Place) -> Result<u64> {
    let mut stream = connect(Ipv4Addr::LOCALHOST, daemon.smtp_address())?;
    reply(&stream)?;
    if !matches!(place, Place::Command) {
        for command in ["HELO flood", "MAIL FROM:<>", "RCPT TO:<flood@example.test>", "DATA"] {
            say(&mut stream, command)?;
        }
        stream.write_all(if matches!(place, Place::Header) { b"Subject: " } else { b"Subject: a\r\n\r\n" })?;
    }
    let before_kb = daemon.memory_kb("VmRSS:");
    let piece = vec![b'x'; PIECE_OCTETS];
    let mut most_kb = before_kb;
    for _ in 0..PIECES {
        stream.write_all(&piece)?;
        most_kb = most_kb.max(daemon.memory_kb("VmRSS:"));
    }
    let refused = match place {
        Place::Command => {
            stream.write_all(b"\r\n")?;
            "500"
        }
        Place::Header | Place::Body => {
            stream.write_all(b"\r\n.\r\n")?;
            "552"
        }
    };
    let said = reply(&stream)?;
    if !said.starts_with(refused) {
        return Err(format!("{refused} was due for {place}, not {said}").into());
    }
    stream.shutdown(Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new())?;
    Ok(most_kb - before_kb)
}

fn say(stream: &mut TcpStream, command: &str) -> Result<()> {
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let said = reply(stream)?;
    if said.starts_with(['2', '3']) { Ok(()) } else { Err(format!("{command}: {said}").into()) }
}
