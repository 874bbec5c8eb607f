//! Mail over SMTP, from several sessions at once.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Result;

/// An SMTP connection after its EHLO.
pub(crate) struct Session {
    stream: BufReader<TcpStream>,
}

impl Session {
    pub(crate) fn open(server: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut session = Self { stream: BufReader::new(stream) };
        session.expect("220")?;
        session.say("EHLO bench.example\r\n", "250")?;
        Ok(session)
    }

    /// Delivers a mail with a text of `octets`. Returns when its last octet was sent.
    pub(crate) fn deliver(&mut self, to: &str, subject: usize, octets: usize) -> Result<Instant> {
        self.say("MAIL FROM:<bench@sender.example>\r\n", "250")?;
        self.say(&format!("RCPT TO:<{to}>\r\n"), "250")?;
        self.say("DATA\r\n", "354")?;
        let line = format!("{}\r\n", "x".repeat(70));
        let text = line.repeat(octets / line.len());
        let mail = format!("From: bench@sender.example\r\nSubject: {subject}\r\n\r\n{text}.\r\n");
        let sent_at = Instant::now();
        self.say(&mail, "250")?;
        Ok(sent_at)
    }

    fn say(&mut self, octets: &str, start: &str) -> Result<()> {
        self.stream.get_mut().write_all(octets.as_bytes())?;
        self.expect(start)
    }

    fn expect(&mut self, start: &str) -> Result<()> {
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line.as_bytes().get(3) != Some(&b'-') {
                break;
            }
        }
        if line.starts_with(start) { Ok(()) } else { Err(format!("{start} was expected, {line:?} came").into()) }
    }
}

/// Sends `mails` over `sessions`, to the addresses in turn. Returns how long it took.
pub(crate) fn send(
    server: SocketAddr,
    sessions: usize,
    to: &[String],
    mails: usize,
    octets: usize,
) -> Result<Duration> {
    timed(server, sessions, to, mails, octets).map(|(time, _)| time)
}

/// Sends like [`send`]. Returns how long all of it took, and how long the 250 of each mail after its last octet.
pub(crate) fn timed(
    server: SocketAddr,
    sessions: usize,
    to: &[String],
    mails: usize,
    octets: usize,
) -> Result<(Duration, Vec<Duration>)> {
    let begun = Instant::now();
    let of_session = |first: usize| -> Result<Vec<Duration>> {
        let mut session = Session::open(server)?;
        let numbers = (first..mails).step_by(sessions);
        numbers.map(|number| Ok(session.deliver(&to[number % to.len()], number, octets)?.elapsed())).collect()
    };
    let times: std::result::Result<Vec<_>, String> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..sessions).map(|first| scope.spawn(move || of_session(first).map_err(|e| e.to_string()))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a sender panicked".to_owned())?).collect()
    });
    Ok((begun.elapsed(), times?.concat()))
}
