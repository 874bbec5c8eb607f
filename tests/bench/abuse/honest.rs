//! Senders that behave.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::Result;

const SENDERS: usize = 20;
const MESSAGE_OCTETS: usize = 4096;

/// Messages a second that all senders together bring for `time`, each stored.
pub(crate) fn rate(server: SocketAddr, time: Duration) -> Result<f64> {
    let begun = Instant::now();
    let senders: Vec<_> =
        (0..SENDERS).map(|number| thread::spawn(move || send(server, number, begun + time).ok())).collect();
    let mut sent = 0;
    for sender in senders {
        sent += sender.join().ok().flatten().ok_or("an honest sender was not served")?;
    }
    Ok(f64::from(sent) / begun.elapsed().as_secs_f64())
}

fn send(server: SocketAddr, number: usize, until: Instant) -> Result<u32> {
    let mut replies = BufReader::new(TcpStream::connect(server)?);
    expect(&mut replies, "220")?;
    say(&mut replies, "EHLO honest\r\n", "250")?;
    let message =
        format!("Subject: {number}\r\n\r\n{}.\r\n", format!("{}\r\n", "x".repeat(62)).repeat(MESSAGE_OCTETS / 64));
    let mut sent = 0;
    while Instant::now() < until {
        say(&mut replies, &format!("MAIL FROM:<honest@sender.test> SIZE={}\r\n", message.len()), "250")?;
        say(&mut replies, &format!("RCPT TO:<h{number}@example.test>\r\n"), "250")?;
        say(&mut replies, "DATA\r\n", "354")?;
        say(&mut replies, &message, "250")?;
        sent += 1;
    }
    say(&mut replies, "QUIT\r\n", "221")?;
    Ok(sent)
}

fn say(replies: &mut BufReader<TcpStream>, octets: &str, start: &str) -> Result<()> {
    replies.get_mut().write_all(octets.as_bytes())?;
    expect(replies, start)
}

fn expect(replies: &mut BufReader<TcpStream>, start: &str) -> Result<()> {
    let mut line = String::new();
    replies.read_line(&mut line)?;
    while line.as_bytes().get(3) == Some(&b'-') {
        line.clear();
        replies.read_line(&mut line)?;
    }
    if line.starts_with(start) { Ok(()) } else { Err(format!("{start} was due, not {line:?}").into()) }
}
