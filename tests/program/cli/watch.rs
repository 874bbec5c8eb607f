//! `tempmail watch` and `tempmail inbox --watch`, against a daemon.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::Value;

use super::lines;
use super::wait::{send, until_waiting};
use crate::support::program::{Program, local};

const TO: &str = "hello@example.test";
const PATIENCE: Duration = Duration::from_mins(1);

/// A command that runs beside the test, and its lines. It is killed when this is dropped.
struct Running {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    fn start(dir: &tempfile::TempDir, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
        command.env_remove("TEMPMAIL_SERVER").env_remove("TEMPMAIL_TOKEN").env_remove("XDG_RUNTIME_DIR");
        command.env("XDG_CONFIG_HOME", dir.path()).env("TEMPMAIL_DATA_DIR", dir.path()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("run");
        let (stdout, stderr) = (child.stdout.take().expect("stdout"), child.stderr.take().expect("stderr"));
        Self { child, stdout: lines(stdout), stderr: lines(stderr) }
    }

    fn line(&self) -> String {
        self.stdout.recv_timeout(PATIENCE).expect("a line in time")
    }

    fn event(&self) -> Value {
        serde_json::from_str(&self.line()).expect("JSON")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_event_is_a_line_and_a_restart_loses_none() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    let watching = Running::start(&dir, &["watch", TO]);
    until_waiting(&daemon, 1);
    send(&daemon, "one");
    let one = watching.event();
    assert_eq!((&one["event"], &one["subject"]), (&"email.received".into(), &"one".into()));
    let id = one["id"].as_str().expect("an id");
    assert_eq!(daemon.tempmail(&["delete", "--id", id, "--yes"]).code, Some(0));
    let deleted = watching.event();
    assert_eq!(
        (&deleted["event"], &deleted["id"], &deleted["recipient"]),
        (&"email.deleted".into(), &id.into(), &TO.into())
    );
    daemon.stop();
    assert!(watching.stderr.recv_timeout(PATIENCE).expect("a hint").ends_with("trying again"));
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "meanwhile");
    assert_eq!(watching.event()["subject"], "meanwhile");
}

#[test]
fn all_mail_is_watched_by_the_administrator() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let watching = Running::start(&dir, &["watch", "-o", "tsv"]);
    until_waiting(&daemon, 1);
    send(&daemon, "one");
    let line = watching.line();
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!((fields[0], &fields[2..]), ("email.received", &[TO, "ann@sender.test", "one"][..]), "{line}");
    let refused = crate::support::program::remote(daemon.http, &["watch"]);
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
}

#[test]
fn a_list_that_is_watched_goes_on() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "one");
    send(&daemon, "two");
    let watching = Running::start(&dir, &["inbox", TO, "--watch"]);
    for subject in ["one", "two"] {
        let line = watching.line();
        assert!(line.ends_with(&format!("\tann@sender.test\t{subject}")), "{line}");
    }
    until_waiting(&daemon, 1);
    send(&daemon, "three");
    assert!(watching.line().ends_with("\tann@sender.test\tthree"));
    let json = Running::start(&dir, &["inbox", TO, "--watch", "-o", "ndjson"]);
    assert_eq!(json.event()["subject"], "one");
}

#[test]
fn without_a_daemon_nothing_can_be_watched() {
    let dir = tempfile::tempdir().expect("directory");
    Program::serve(dir.path(), &[]).stop();
    for args in [&["watch", TO][..], &["inbox", TO, "--watch"]] {
        let outcome = local(dir.path(), args);
        assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    }
}
