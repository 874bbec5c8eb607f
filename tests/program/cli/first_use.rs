//! What a new user meets: the first words, the banner, colours and wrong addresses.
//! Promise: it outlives the code below it.

use super::{TO, run};
use crate::support::program::{self, Program, local, remote};
use crate::support::terminal;
use crate::support::until::blocking;

#[test]
fn without_an_argument_the_first_five_commands_are_printed() {
    let outcome = run(&[]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    for command in ["serve", "send-test", "inbox", "read", "wait"] {
        assert!(outcome.stdout.contains(&format!("\n  tempmail {command}")), "{outcome:?}");
    }
    assert!(outcome.stdout.lines().count() < 15, "{outcome:?}");
}

#[test]
fn status_fits_a_screen_and_fails_where_no_daemon_runs() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let status = daemon.tempmail(&["status"]).ok();
    assert!((10..15).contains(&status.stdout.lines().count()), "{status:?}");
    assert!(status.stdout.contains("acceptsMail\ttrue\n") && status.stdout.contains("store.emails\t0\n"), "{status:?}");
    let screen = program::on_terminal(dir.path(), 80, "", &["status"]);
    assert!((10..15).contains(&screen.text.lines().count()), "{screen:?}");
    let all = daemon.tempmail(&["status", "--all"]);
    assert!(all.stdout.contains("smtp.messages\t0\n") && all.stdout.lines().count() > 50, "{all:?}");
    assert!(daemon.tempmail(&["status", "--json"]).stdout.contains("\"messages\":0"));
    daemon.stop();
    let none = local(dir.path(), &["status"]);
    assert_eq!(none.code, Some(6), "{none:?}");
    assert!(none.stdout.is_empty() && none.stderr.contains("no daemon runs"), "{none:?}");
}

#[test]
fn the_banner_names_commands_that_reach_this_daemon() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("my data");
    let shown = |args: &[&str]| {
        let mut command = program::serve_command(&data);
        command.args(args);
        let is_ready = || local(&data, &["status"]).code == Some(0);
        terminal::stopped(command, 80, || blocking::until("a daemon that answers", is_ready)).text
    };
    let banner = shown(&[]);
    let command = format!("tempmail --data-dir '{}'", data.display());
    assert!(banner.contains(&format!("  {command} send-test hello@example.test\n")), "{banner}");
    assert!(banner.contains(&format!("  {command} inbox hello@example.test\n")), "{banner}");
    assert_eq!(shown(&["-q"]), "");
    let registered = shown(&["--mx-host", "mx.example.org"]);
    assert!(registered.contains(&format!("  {command} domain add DOMAIN\n")), "{registered}");
    assert!(!registered.contains("example.test"), "{registered}");
}

#[test]
fn a_wrong_base_address_is_said_and_no_missing_mail() {
    let daemon = Program::fresh(&[]);
    let wrong = format!("http://{}/x", daemon.http);
    let unknown = "0190b6a5-7c3e-7d2f-8a4b-1c5d9e0f2a01";
    for args in [&["inbox", TO][..], &["read", unknown], &["webhook", "list", TO], &["domain", "list"]] {
        let outcome = run(&[&["--server", &wrong], args].concat());
        assert_eq!(outcome.code, Some(6), "{outcome:?}");
        assert!(outcome.stderr.contains("not the base address"), "{outcome:?}");
    }
    assert_eq!(remote(daemon.http, &["read", unknown]).code, Some(3));

    let tls = run(&["--server", &format!("https://{}", daemon.http), "inbox", TO]);
    assert_eq!(tls.code, Some(6), "{tls:?}");
    assert!(tls.stderr.contains("does not speak TLS") && tls.stderr.contains("--server http://"), "{tls:?}");
}

#[test]
fn colours_of_wrong_command_lines_follow_the_flag() {
    let dir = tempfile::tempdir().expect("directory");
    let shown = |color: &[&str]| {
        let mut command = program::terminal_command(dir.path(), &[&["inbox", "no-address"], color].concat());
        command.env_remove("NO_COLOR");
        terminal::on_terminal(command, 80, "").text
    };
    assert!(shown(&[]).contains('\u{1b}'));
    for never in [&["--color", "never"][..], &["--color=never"]] {
        assert!(!shown(never).contains('\u{1b}'), "{never:?}");
    }
}
