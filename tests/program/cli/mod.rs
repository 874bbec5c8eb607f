//! The commands as processes: against a daemon, on terminals, in pipes and under signals. Most suites are in `tests/it/cli`.

mod cluster;
mod completions;
mod config;
mod db;
mod doctor;
mod expect;
mod first_use;
mod generated;
mod interrupt;
mod lists;
mod live;
mod new;
mod one_mail;
mod progress;
mod rate_limit;
mod sendmail;
mod wait;
mod watch;

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::command::{Outcome, run};
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::blocking;

const TO: &str = "hello@example.test";

/// Delivers a message over SMTP.
fn deliver(daemon: &Program, to: &str, message: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { SmtpPeer::greeted(daemon.smtp).await.deliver(to, message).await });
}

/// Delivers a mail from Ann with this subject.
fn send(daemon: &Program, subject: &str) {
    let message = format!("From: Ann <ann@sender.test>\r\nSubject: {subject}\r\n\r\ntext of {subject}");
    deliver(daemon, TO, &message);
}

/// Waits until so many requests wait at the daemon.
fn until_waiting(daemon: &Program, expected: usize) {
    let line = format!("\ntempmail_http_requests_waiting {expected}\n");
    blocking::until("requests wait", || {
        let mut stream = TcpStream::connect(daemon.http).expect("connect");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("write");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        answer.contains(&line)
    });
}
