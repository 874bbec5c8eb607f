//! `tempmail watch` and `tempmail inbox --watch`, against a daemon.
//! Promise: it outlives the code below it.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::{TO, send, until_waiting};
use crate::support::command::{Running, on_data};
use crate::support::program::{Program, local, remote};

fn event(watching: &Running) -> Value {
    serde_json::from_str(&watching.line()).expect("JSON")
}

#[test]
fn each_event_is_a_line_and_a_restart_loses_none() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "before");
    let watching = daemon.beside(&["watch", TO]);
    until_waiting(&daemon, 1);
    send(&daemon, "one");
    let one = event(&watching);
    assert_eq!((&one["event"], &one["subject"]), (&"email.received".into(), &"one".into()));
    let id = one["id"].as_str().expect("an id");
    daemon.tempmail(&["delete", "--id", id, "--yes"]).ok();
    let deleted = event(&watching);
    assert_eq!(
        (&deleted["event"], &deleted["id"], &deleted["recipient"]),
        (&"email.deleted".into(), &id.into(), &TO.into())
    );
    daemon.stop();
    assert!(watching.hint().ends_with("trying again"));
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "meanwhile");
    assert_eq!(event(&watching)["subject"], "meanwhile");
}

#[test]
fn all_mail_is_watched_by_the_administrator() {
    let daemon = Program::fresh(&[]);
    let watching = daemon.beside(&["watch", "-o", "tsv"]);
    until_waiting(&daemon, 1);
    send(&daemon, "one");
    let line = watching.line();
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!((fields[0], &fields[2..]), ("email.received", &[TO, "ann@sender.test", "one"][..]), "{line}");
    let refused = remote(daemon.http, &["watch"]);
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
}

/// `tempmail watch | head -1` must not go on until the next mail comes.
#[test]
fn a_reader_that_has_seen_enough_ends_it() {
    let daemon = Program::fresh(&[]);
    let mut watching = on_data(daemon.dir(), &["watch", TO]).stdout(Stdio::piped()).spawn().expect("a command");
    let mut output = BufReader::new(watching.stdout.take().expect("a pipe"));
    until_waiting(&daemon, 1);
    send(&daemon, "one");
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    assert!(line.contains("\"one\""), "{line}");
    drop(output);
    assert_eq!(watching.wait().expect("an end").code(), Some(0));
}

#[test]
fn a_list_that_is_watched_goes_on() {
    let daemon = Program::fresh(&[]);
    send(&daemon, "one");
    send(&daemon, "two");
    let watching = daemon.beside(&["inbox", TO, "--watch"]);
    for subject in ["one", "two"] {
        let line = watching.line();
        assert!(line.ends_with(&format!("\tann@sender.test\t{subject}")), "{line}");
    }
    until_waiting(&daemon, 1);
    send(&daemon, "three");
    assert!(watching.line().ends_with("\tann@sender.test\tthree"));
    let json = daemon.beside(&["inbox", TO, "--watch", "-o", "ndjson"]);
    assert_eq!(event(&json)["subject"], "one");
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
