//! `tempmail wait`, against a daemon.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::Outcome;
use crate::support::program::{Program, remote};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::blocking;

const TO: &str = "hello@example.test";
const PATIENCE: Duration = Duration::from_mins(1);

/// A command that runs beside the test.
pub(super) struct Running {
    child: Option<Child>,
}

impl Running {
    fn wait(daemon: &Program, dir: &tempfile::TempDir, is_local: bool, args: &[&str]) -> Self {
        Self::start(daemon, dir, is_local, &[&["wait", TO], args].concat())
    }

    pub(super) fn start(daemon: &Program, dir: &tempfile::TempDir, is_local: bool, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
        command.env_remove("TEMPMAIL_SERVER").env_remove("TEMPMAIL_TOKEN").env_remove("XDG_RUNTIME_DIR");
        command.env("XDG_CONFIG_HOME", dir.path());
        if is_local {
            command.env("TEMPMAIL_DATA_DIR", dir.path());
        } else {
            command.env("TEMPMAIL_SERVER", format!("http://{}", daemon.http));
        }
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: Some(command.spawn().expect("run")) }
    }

    pub(super) fn interrupt(&mut self) {
        self.signal(Signal::INT);
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_mut().expect("a command")), signal).expect("kill");
    }

    pub(super) fn end(mut self) -> Outcome {
        let child = self.child.take().expect("a command");
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait_with_output()));
        ended.recv_timeout(PATIENCE).expect("an end in time").expect("its output").into()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(super) fn send(daemon: &Program, subject: &str) {
    let smtp = daemon.smtp;
    let message = format!("From: Ann <ann@sender.test>\r\nSubject: {subject}\r\n\r\ntext of {subject}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { SmtpPeer::greeted(smtp).await.deliver(TO, &message).await });
}

/// Waits until so many requests wait at the daemon.
pub(super) fn until_waiting(daemon: &Program, expected: usize) {
    let line = format!("\ntempmail_http_requests_waiting {expected}\n");
    blocking::until("requests wait", || {
        let mut stream = std::net::TcpStream::connect(daemon.http).expect("connect");
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        std::io::Write::write_all(&mut stream, request.as_bytes()).expect("write");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("read");
        answer.contains(&line)
    });
}

#[test]
fn mail_that_is_there_is_printed_as_read_does() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "first");
    send(&daemon, "second");
    let page = daemon.tempmail(&["inbox", TO, "-o", "id"]);
    let oldest = page.stdout.lines().last().expect("an id").to_owned();
    for outcome in [daemon.tempmail(&["wait", TO]), remote(daemon.http, &["wait", TO])] {
        let read = daemon.tempmail(&["read", &oldest]);
        assert_eq!((outcome.code, &outcome.stdout, outcome.stderr.as_str()), (Some(0), &read.stdout, ""));
    }
    let next = daemon.tempmail(&["wait", TO, "--since", &oldest, "--json"]);
    let next: Value = serde_json::from_str(&next.stdout).expect("JSON");
    assert_eq!(next["subject"], "second");
    for (args, exit) in [
        (["--since", "now"], 124),
        (["--since", "1h"], 0),
        (["--subject", "SECOND"], 0),
        (["--subject", "third"], 124),
        (["--from", "sender.test"], 0),
        (["--has", "attachment"], 124),
    ] {
        let outcome = daemon.tempmail(&[&["wait", TO, "--timeout", "0s"], &args[..]].concat());
        assert_eq!(outcome.code, Some(exit), "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout.is_empty(), exit != 0, "{args:?}");
    }
}

#[test]
fn mail_that_arrives_ends_the_wait() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    for is_local in [true, false] {
        let waiting = Running::wait(&daemon, &dir, is_local, &["--since", "now", "-o", "tsv"]);
        until_waiting(&daemon, 1);
        send(&daemon, "after");
        let outcome = waiting.end();
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        assert!(outcome.stdout.ends_with("\tann@sender.test\tafter\n"), "{}", outcome.stdout);
    }
}

#[test]
fn a_restart_of_the_daemon_does_not_end_the_wait() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    let waiting = Running::wait(&daemon, &dir, true, &["--since", "now", "--timeout", "2m", "-o", "tsv"]);
    until_waiting(&daemon, 1);
    daemon.stop();
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "after");
    let outcome = waiting.end();
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.ends_with("\tafter\n"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("trying again"), "{}", outcome.stderr);
}

#[test]
fn a_wait_ends_at_its_time_or_by_a_signal_and_says_nothing_on_standard_output() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let outcome = daemon.tempmail(&["wait", TO, "--timeout", "300ms"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(124), ""));
    assert!(outcome.stderr.contains("no such mail for hello@example.test within 300ms"), "{}", outcome.stderr);
    let mut waiting = Running::wait(&daemon, &dir, true, &[]);
    until_waiting(&daemon, 1);
    waiting.interrupt();
    let outcome = waiting.end();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(130), ""));
    until_waiting(&daemon, 0);
}

#[test]
fn without_a_daemon_nothing_can_arrive() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let http = daemon.http;
    send(&daemon, "there");
    daemon.stop();
    let outcome = crate::support::program::local(dir.path(), &["wait", TO]);
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no daemon runs"), "{}", outcome.stderr);
    assert_eq!(remote(http, &["wait", TO]).code, Some(6));
}

#[test]
fn a_code_or_a_link_is_printed_alone_and_mail_without_one_is_passed_over() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let import = |subject: &str, text: &str| {
        let mut command = super::tempmail();
        command.arg("--data-dir").arg(dir.path()).args(["import", TO]);
        let outcome = command.write_stdin(format!("Subject: {subject}\r\n\r\n{text}\r\n")).output().expect("run");
        assert!(outcome.status.success(), "{outcome:?}");
    };
    let wait = |args: &[&str]| daemon.tempmail(&[&["wait", TO, "--timeout", "0s"], args].concat());
    assert_eq!(wait(&["--code"]).code, Some(124));

    import("Your table 7731", "For 991 people in 2024: the dress code is red.");
    let doubtful = wait(&["--code"]);
    assert_eq!((doubtful.code, doubtful.stdout.as_str()), (Some(3), ""));
    assert!(doubtful.stderr.contains("none with a code that is certain"), "{}", doubtful.stderr);

    import("Verify", "Please verify your email address: https://app.test/verify?token=0f9c8b7a6d5e4f3a");
    import("Your code", "Your verification code is 482913.");
    import("New password", "Reset your password: https://app.test/reset?token=a1b2c3d4e5f60718");
    let verify = "https://app.test/verify?token=0f9c8b7a6d5e4f3a\n";
    for (args, printed) in [
        (&["--code"][..], "482913\n"),
        (&["--link"], verify),
        (&["--link", "verification"], verify),
        (&["--link", "reset"], "https://app.test/reset?token=a1b2c3d4e5f60718\n"),
        (&["--code", "-o", "tsv"], "482913\n"),
    ] {
        let outcome = wait(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), printed), "{args:?}: {}", outcome.stderr);
    }
    let json: Value = serde_json::from_str(&wait(&["--code", "--json"]).stdout).expect("JSON");
    assert_eq!((&json["subject"], &json["codes"][0]["code"]), (&"Your code".into(), &"482913".into()));
    assert_eq!(wait(&["--link", "invite"]).code, Some(3));
    assert_eq!(wait(&["--link", "some"]).code, Some(2));
}
