//! What SIGHUP does, and the command that stops the daemon.
//! Promise: it outlives the code below it.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::support::certificates::Pair;
use crate::support::program::{Program, local, serve_command};
use crate::support::terminal::Terminal;
use crate::support::until::blocking;

/// What puts a command into a session without the terminal of the tests, which may ignore SIGHUP themselves.
const SESSION: [&str; 3] = ["env", "--default-signal=HUP", "setsid"];

/// A command behind others.
fn behind(others: &[&str], command: &Command) -> Command {
    let mut behind = Command::new(others[0]);
    behind.args(&others[1..]).arg(command.get_program()).args(command.get_args());
    behind.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    behind
}

/// A daemon behind other commands.
fn serve_behind(others: &[&str], dir: &std::path::Path, args: &[&str]) -> Program {
    Program::serve_with(dir, args, |command| {
        *command = behind(others, command);
        command.stderr(Stdio::piped()).stdout(Stdio::null());
    })
}

#[test]
fn sighup_names_what_was_reloaded_and_what_needs_a_restart() {
    let dir = tempfile::tempdir().expect("directory");
    let files = Pair::fresh().write(dir.path());
    let file = dir.path().join("own.toml");
    let settings = |more: &str| {
        let cert = files.certificate.display();
        fs::write(&file, format!("tls-cert = '{cert}'\ntls-key = 'key.pem'\n{more}")).expect("write");
    };
    settings("retention = '30m'\nmax-domains = 9\n");
    let args = ["--config", file.to_str().expect("UTF-8"), "--max-domains", "7"];
    let binary = serve_behind(&SESSION, dir.path(), &args);
    binary.signal(Signal::HUP);
    assert_eq!(binary.logged("SIGHUP: no setting has changed")["reloaded"], "the certificate");

    // A flag still wins over the file.
    settings("retention = '1h'\nmax-domains = 10\nsubaddressing = 'strip'\n");
    binary.signal(Signal::HUP);
    let line = binary.logged("SIGHUP: settings have changed that need a restart");
    assert_eq!(
        (&line["reloaded"], &line["needs_restart"]),
        (&"the certificate".into(), &"retention, subaddressing".into())
    );

    fs::write(&files.certificate, "nothing").expect("write");
    settings("retention = 'soon'\n");
    binary.signal(Signal::HUP);
    let line = binary.logged("SIGHUP: a start with the settings as they are now would fail");
    assert_eq!(line["reloaded"], "nothing");
    assert!(line["faults"].as_str().is_some_and(|text| text.contains("own.toml:3: retention: 'soon'")), "{line}");
    binary.stop();
}

#[test]
fn a_daemon_of_a_terminal_ends_with_it() {
    let dir = tempfile::tempdir().expect("directory");
    let terminal = Terminal::start(behind(&[&SESSION[..], &["--ctty"]].concat(), &serve_command(dir.path())), 80, "");
    blocking::until("the daemon listens", || dir.path().join("tempmail.sock").exists());
    let screen = terminal.signalled(Signal::HUP);
    assert_eq!(screen.code, Some(0), "{}", screen.text);
    assert!(!dir.path().join("tempmail.sock").exists(), "it has stopped in order");
}

#[test]
fn a_hangup_that_is_ignored_at_the_start_stays_ignored() {
    let dir = tempfile::tempdir().expect("directory");
    let binary = serve_behind(&[&SESSION[..], &["nohup"]].concat(), dir.path(), &[]);
    binary.signal(Signal::HUP);
    assert_eq!(binary.tempmail(&["status", "--quiet"]).code, Some(0));
    assert!(!binary.log().contains("SIGHUP"), "{}", binary.log());
    binary.stop();
}

#[test]
fn stop_ends_the_daemon_of_a_data_directory_and_waits_for_it() {
    let (dir, other) = (tempfile::tempdir().expect("directory"), Program::fresh(&[]));
    let binary = Program::serve(dir.path(), &[]);
    let stopped = local(dir.path(), &["stop"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (Some(0), ""));
    assert!(stopped.stderr.starts_with("stopped the service at "), "{}", stopped.stderr);
    assert!(!dir.path().join("tempmail.sock").exists());
    assert_eq!(binary.ended(), Some(0));
    let stopped = local(dir.path(), &["stop"]);
    assert_eq!(stopped.code, Some(6), "{}", stopped.stderr);
    let elsewhere = local(dir.path(), &["stop", "--server", "http://127.0.0.1:1"]);
    assert_eq!(elsewhere.code, Some(2), "{}", elsewhere.stderr);
    other.stop();
}
