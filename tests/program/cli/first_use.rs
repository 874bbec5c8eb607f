//! What a new user meets: the first words, questions, hints and wrong addresses.
//! Promise: it outlives the code below it.

use std::net::TcpListener;

use super::service::webhooks::{delivery, webhook, webhook_id};
use super::service::{Service, domain, id_of};
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
fn removing_a_domain_is_asked_for_and_says_what_goes() {
    let service = Service::start();
    service.contents().domains = vec![domain("a.test", "active")];
    service.contents().webhooks =
        vec![webhook(1, "x@a.test", "https://hooks.example/"), webhook(2, "y@a.test", "https://hooks.example/")];
    let left = || service.contents().domains.len();
    let refused = service.run_local(&["domain", "rm", "a.test"]);
    assert_eq!((refused.code, left()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("--yes"), "{refused:?}");
    let dry = service.run_local(&["domain", "rm", "a.test", "--dry-run"]);
    assert_eq!((dry.code, dry.stdout.as_str(), left()), (Some(0), "a.test\t2\n", 1), "{dry:?}");
    assert_eq!(service.run_local(&["domain", "rm", "b.test", "--dry-run"]).code, Some(3));

    let no = program::on_terminal(service.data_dir(), 80, "n\n", &["domain", "rm", "a.test"]);
    assert_eq!((no.code, left()), (Some(0), 1), "{no:?}");
    assert!(no.text.contains("its 2 webhooks and their secrets") && no.text.contains("nothing was removed"), "{no:?}");
    let yes = program::on_terminal(service.data_dir(), 80, "y\n", &["domain", "rm", "a.test"]);
    assert_eq!((yes.code, left()), (Some(0), 0), "{yes:?}");
}

#[test]
fn quiet_leaves_errors_without_hints() {
    let service = Service::start();
    let args = ["read", &id_of(9)[..4], "--html"];
    let with_hint = service.run(&args);
    let quiet = service.run(&[&["-q"], &args[..]].concat());
    assert_eq!((with_hint.code, quiet.code), (Some(2), Some(2)));
    assert!(with_hint.stderr.contains("hint:"), "{with_hint:?}");
    assert!(quiet.stderr.starts_with("error:") && !quiet.stderr.contains("hint:"), "{quiet:?}");
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
    let unknown = id_of(1);
    for args in [&["inbox", TO][..], &["read", &unknown], &["webhook", "list", TO], &["domain", "list"]] {
        let outcome = run(&[&["--server", &wrong], args].concat());
        assert_eq!(outcome.code, Some(6), "{outcome:?}");
        assert!(outcome.stderr.contains("not the base address"), "{outcome:?}");
    }
    assert_eq!(remote(daemon.http, &["read", &unknown]).code, Some(3));

    let tls = run(&["--server", &format!("https://{}", daemon.http), "inbox", TO]);
    assert_eq!(tls.code, Some(6), "{tls:?}");
    assert!(tls.stderr.contains("does not speak TLS") && tls.stderr.contains("--server http://"), "{tls:?}");
}

#[test]
fn what_is_piped_to_delete_cannot_be_asked_about() {
    let service = Service::start();
    let screen = program::on_terminal(service.data_dir(), 80, "", &["delete", "-"]);
    assert_eq!(screen.code, Some(2), "{screen:?}");
    assert!(screen.text.contains("standard input") && !screen.text.contains("without a terminal"), "{screen:?}");
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

#[test]
fn active_patterns_are_no_lack_of_domains() {
    let daemon = Program::fresh(&["--domain", "*"]);
    let outcome = daemon.tempmail(&["domain", "ls", "--active"]);
    assert!(outcome.stderr.contains("mail is received for *"), "{outcome:?}");
    let service = Service::start();
    service.contents().domains = vec![domain("a.test", "deactivated")];
    let none = service.run(&["domain", "ls", "--active"]);
    assert!(none.stderr.contains("no domain is active"), "{none:?}");
}

#[test]
fn hints_fit_what_went_wrong() {
    let service = Service::start();
    service.contents().webhooks = vec![webhook(1, TO, "https://nowhere.invalid/")];
    for (error, hint) in [("dns", "does not resolve"), ("connect", "listens"), ("timeout", "within 15 s")] {
        let mut attempt = delivery("given_up", None);
        attempt["error"] = error.into();
        service.contents().deliveries = vec![attempt];
        let outcome = service.run_local(&["webhook", "test", &webhook_id(1)]);
        assert_eq!(outcome.code, Some(8), "{outcome:?}");
        assert!(outcome.stderr.contains(hint) && !outcome.stderr.contains("200 to 299"), "{outcome:?}");
    }

    // A port that closes connections in place of a greeting, as one of HTTP does in the end.
    let closing = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = closing.local_addr().expect("address").to_string();
    std::thread::spawn(move || closing.accept());
    let outcome = service.run_local(&["send-test", TO, "--smtp", &port]);
    assert_eq!(outcome.code, Some(6), "{outcome:?}");
    assert!(outcome.stderr.contains("not of HTTP"), "{outcome:?}");
}
