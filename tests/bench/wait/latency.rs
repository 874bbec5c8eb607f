//! The time from a sender's 250 to the first octet of the request that waits for the mail.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::figure;
use super::waiter::Waiter;
use crate::support::Result;
use crate::support::daemon::Daemon;
use crate::support::figures::percentile;
use crate::support::smtp::Session;

const MAILBOXES: usize = 50;
const SESSIONS: usize = 10;
const PER_SECOND: u32 = 500;
const MAILS: usize = 5_000;
const OCTETS: usize = 4_000;

pub(crate) fn run() -> Result<()> {
    let daemon = Daemon::start(&[])?;
    let (arrived, arrivals) = channel();
    for mailbox in 0..MAILBOXES {
        let mut waiter = Waiter::connect(daemon.http_address(), &format!("w{mailbox}@example.test"))?;
        let arrived = arrived.clone();
        thread::spawn(move || {
            // It ends with the daemon.
            while let Ok(mail) = waiter.ask().and_then(|()| waiter.mail()) {
                if arrived.send(mail).is_err() {
                    break;
                }
            }
        });
    }
    let begun = Instant::now() + Duration::from_millis(100);
    let smtp = daemon.smtp_address();
    let senders: Vec<_> = (0..SESSIONS)
        .map(|first| {
            thread::spawn(move || -> std::result::Result<Vec<_>, String> {
                let mut session = Session::open(smtp).map_err(|error| error.to_string())?;
                let mut times = Vec::new();
                for number in (first..MAILS).step_by(SESSIONS) {
                    let due = begun + Duration::from_secs(1) / PER_SECOND * u32::try_from(number).unwrap_or(u32::MAX);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    let to = format!("w{}@example.test", number % MAILBOXES);
                    let sent_at = session.deliver(&to, number, OCTETS).map_err(|error| error.to_string())?;
                    times.push((number, sent_at, Instant::now()));
                }
                Ok(times)
            })
        })
        .collect();
    let mut sent = vec![None; MAILS];
    for sender in senders {
        for (number, sent_at, stored_at) in sender.join().map_err(|_| "a sender panicked")?? {
            sent[number] = Some((sent_at, stored_at));
        }
    }
    let (mut since_sent, mut since_stored) = (Vec::new(), Vec::new());
    for _ in 0..MAILS {
        let mail = arrivals.recv_timeout(Duration::from_secs(60))?;
        let (sent_at, stored_at) = sent[mail.subject].ok_or("a mail that was not sent")?;
        since_sent.push(mail.at.saturating_duration_since(sent_at));
        since_stored.push(mail.at.saturating_duration_since(stored_at));
    }
    let mut trips = round_trips()?;
    println!("{MAILS} mails of {OCTETS} octets at {PER_SECOND} a second, {MAILBOXES} requests that wait");
    for (name, times, target) in [
        ("the sender's 250 to the first octet", &mut since_stored, "p99 at most 5 ms"),
        ("the sender's last octet to the first octet", &mut since_sent, ""),
        ("one round trip over loopback", &mut trips, ""),
    ] {
        times.sort_unstable();
        let millis = |percent| percentile(times, percent).as_secs_f64() * 1e3;
        figure(&format!("{name}, p50"), millis(50), "ms", "");
        figure(&format!("{name}, p99"), millis(99), "ms", target);
    }
    Ok(())
}

/// How long an octet takes to another thread and back.
fn round_trips() -> Result<Vec<Duration>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut stream = TcpStream::connect(listener.local_addr()?)?;
    let (mut other, _) = listener.accept()?;
    for end in [&stream, &other] {
        end.set_nodelay(true)?;
    }
    thread::spawn(move || {
        let mut octet = [0];
        while other.read_exact(&mut octet).and_then(|()| other.write_all(&octet)).is_ok() {}
    });
    let mut trip = || -> Result<Duration> {
        let begun = Instant::now();
        stream.write_all(&[1])?;
        stream.read_exact(&mut [0])?;
        Ok(begun.elapsed())
    };
    (0..2_000).map(|_| trip()).collect()
}
