//! `tempmail wait`, against a daemon.
//! Promise: it outlives the code below it.

use rustix::process::Signal;
use serde_json::Value;

use super::{TO, deliver, send, until_waiting};
use crate::support::command::{Running, on_data, on_server};
use crate::support::program::{Program, local, remote};

#[test]
fn mail_that_is_there_is_printed_as_read_does() {
    let daemon = Program::fresh(&[]);
    send(&daemon, "first");
    send(&daemon, "second");
    let page = daemon.tempmail(&["inbox", TO, "-o", "id"]);
    let oldest = page.stdout.lines().last().expect("an id").to_owned();
    for outcome in [daemon.tempmail(&["wait", TO]), remote(daemon.http, &["wait", TO])] {
        let read = daemon.tempmail(&["read", &oldest]);
        assert_eq!((outcome.code, &outcome.stdout, outcome.stderr.as_str()), (Some(0), &read.stdout, ""));
    }
    let next = daemon.tempmail(&["wait", TO, "--since", &oldest, "--json"]);
    let next: Value = next.json();
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
    let daemon = Program::fresh(&[]);
    send(&daemon, "before");
    let args = ["wait", TO, "--since", "now", "-o", "tsv"];
    for mut command in [on_data(daemon.dir(), &args), on_server(daemon.http, &args)] {
        let waiting = Running::start(&mut command);
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
    let waiting = daemon.beside(&["wait", TO, "--since", "now", "--timeout", "2m", "-o", "tsv"]);
    until_waiting(&daemon, 1);
    daemon.stop();
    let daemon = Program::serve(dir.path(), &[]);
    send(&daemon, "after");
    let outcome = waiting.end().ok();
    assert!(outcome.stdout.ends_with("\tafter\n"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("trying again"), "{}", outcome.stderr);
}

#[test]
fn a_wait_ends_at_its_time_or_by_a_signal_and_says_nothing_on_standard_output() {
    let daemon = Program::fresh(&[]);
    let outcome = daemon.tempmail(&["wait", TO, "--timeout", "300ms"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(124), ""));
    assert!(outcome.stderr.contains("no such mail for hello@example.test within 300ms"), "{}", outcome.stderr);
    // The one before may still have its place.
    until_waiting(&daemon, 0);
    let waiting = daemon.beside(&["wait", TO]);
    until_waiting(&daemon, 1);
    waiting.signal(Signal::INT);
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
    let outcome = local(dir.path(), &["wait", TO]);
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no daemon runs"), "{}", outcome.stderr);
    assert_eq!(remote(http, &["wait", TO]).code, Some(6));
}

#[test]
fn a_code_or_a_link_is_printed_alone_and_mail_without_one_is_passed_over() {
    let daemon = Program::fresh(&[]);
    let arrives = |subject: &str, text: &str| {
        deliver(&daemon, TO, &format!("Subject: {subject}\r\n\r\n{text}\r\n"));
    };
    let wait = |args: &[&str]| daemon.tempmail(&[&["wait", TO, "--timeout", "0s"], args].concat());
    assert_eq!(wait(&["--code"]).code, Some(124));

    arrives("Your table 7731", "For 991 people in 2024: the dress code is red.");
    let doubtful = wait(&["--code"]);
    assert_eq!((doubtful.code, doubtful.stdout.as_str()), (Some(124), ""));
    assert!(doubtful.stderr.contains("none with a code that is certain"), "{}", doubtful.stderr);

    arrives("Verify", "Please verify your email address: https://app.test/verify?token=0f9c8b7a6d5e4f3a");
    arrives("Your code", "Your verification code is 482913.");
    arrives("New password", "Reset your password: https://app.test/reset?token=a1b2c3d4e5f60718");
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
    assert_eq!(wait(&["--link", "invite"]).code, Some(124));
    for args in [["--text", "RESET your"], ["--link-host", "app.test"], ["--has", "link"]] {
        assert_eq!(wait(&args).code, Some(0), "{args:?}");
    }
    assert_eq!(wait(&["--text", "nobody wrote this"]).code, Some(124));
    assert_eq!(wait(&["--link", "some"]).code, Some(2));
}
