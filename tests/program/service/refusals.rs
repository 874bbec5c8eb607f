//! Starts that fail: each prints one clear message and has the exit code of its cause.
//! Promise: it outlives the code below it.

use std::net::TcpListener;
use std::process::Command;

use crate::support::command::{Outcome, outcome, tempmail};
use crate::support::program::{Program, local, refused, serve_command};

/// The lines that are no log and no hint.
fn errors(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter(|line| line.starts_with("error: ")).collect()
}

#[test]
fn a_port_that_is_taken_is_exit_75_and_names_who_has_it() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    let taken = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = taken.local_addr().expect("address").to_string();
    for flag in ["--smtp-listen", "--http-listen"] {
        let other = if flag == "--smtp-listen" { "--http-listen" } else { "--smtp-listen" };
        let mut command = tempmail(dir.path());
        command.args(["serve", flag, &address, other, "127.0.0.1:0", "--data-dir"]).arg(&data);
        let outcome = outcome(&mut command);
        assert_eq!(outcome.code, Some(75), "{outcome:?}");
        assert_eq!(errors(&outcome).len(), 1, "{outcome:?}");
        let holder = format!("(process {})", std::process::id());
        assert!(outcome.stderr.contains(&address) && outcome.stderr.contains(&holder), "{outcome:?}");
    }
    assert!(!data.exists(), "nothing is made by a start that cannot be");
}

#[test]
fn a_data_directory_that_is_taken_is_exit_75_and_names_who_has_it() {
    let daemon = Program::fresh(&[]);
    let outcome = refused(daemon.dir(), &[]);
    assert_eq!(outcome.code, Some(75), "{outcome:?}");
    assert_eq!(errors(&outcome).len(), 1, "{outcome:?}");
    assert!(outcome.stderr.contains(&daemon.process().to_string()), "{outcome:?}");
    // The running daemon is not disturbed.
    daemon.tempmail(&["status"]).ok();
    daemon.stop();
}

#[test]
fn an_unknown_key_is_exit_78_and_the_nearest_is_named() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "hostname = \"here.test\"\nretentoin = \"2h\"\n").expect("write");
    let data = dir.path().join("data");
    let outcome = refused(&data, &["--config", file.to_str().expect("path")]);
    assert_eq!(outcome.code, Some(78), "{outcome:?}");
    for part in [file.to_str().expect("path"), "2", "retentoin", "retention"] {
        assert!(outcome.stderr.contains(part), "{part}: {outcome:?}");
    }
    assert!(!data.exists());
}

/// Connections to them would never get an answer.
#[test]
fn sockets_of_a_service_manager_are_exit_78_and_what_to_do_is_said() {
    let dir = tempfile::tempdir().expect("directory");
    let serve = serve_command(dir.path());
    let mut shell = Command::new("sh");
    shell.args(["-c", "export LISTEN_PID=$$ LISTEN_FDS=2; exec \"$@\"", "sh"]).arg(serve.get_program());
    shell.args(serve.get_args()).env_clear().envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let outcome = outcome(&mut shell);
    assert_eq!(outcome.code, Some(78), "{outcome:?}");
    assert!(outcome.stderr.contains("LISTEN_FDS") && outcome.stderr.contains("smtp-listen"), "{outcome:?}");
}

#[test]
fn a_data_directory_that_can_be_none_is_one_clear_line() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("file");
    std::fs::write(&file, "x").expect("write");
    for path in [file.clone(), file.join("below"), "/proc/tempmail".into(), "/dev/null".into()] {
        let outcome = refused(&path, &[]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let errors = errors(&outcome);
        assert!(errors.len() == 1 && errors[0].contains(path.to_str().expect("path")), "{outcome:?}");
        assert!(!outcome.stderr.contains("panicked") && outcome.stderr.lines().count() <= 3, "{outcome:?}");
    }
    assert_eq!(std::fs::read(&file).expect("read"), b"x");
}

/// A regression: the directory was created first, and stayed behind.
#[test]
fn a_path_too_long_for_the_socket_is_exit_78_and_makes_nothing() {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("x".repeat(120));
    let outcome = refused(&data, &[]);
    assert_eq!(outcome.code, Some(78), "{outcome:?}");
    assert!(errors(&outcome).len() == 1 && outcome.stderr.contains("XDG_RUNTIME_DIR"), "{outcome:?}");
    assert!(!data.exists());
}

/// A regression: the message named a file without its directory: 'journal-0000000000000001: …'.
#[test]
fn a_file_that_cannot_be_made_is_named_with_its_directory() {
    let dir = tempfile::tempdir().expect("directory");
    std::fs::create_dir_all(dir.path().join("store/registry.redb")).expect("a directory where the registry is to be");
    let outcome = refused(dir.path(), &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let errors = errors(&outcome);
    assert!(errors.len() == 1 && errors[0].contains(dir.path().to_str().expect("path")), "{outcome:?}");
}

#[test]
fn a_command_makes_nothing_in_an_empty_directory() {
    let dir = tempfile::tempdir().expect("directory");
    for args in
        [&["inbox", "a@example.test"][..], &["status"], &["domain", "list"], &["delete", "a@example.test", "--yes"]]
    {
        let outcome = local(dir.path(), args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(6), ""), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains("tempmail serve"), "{outcome:?}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("list").count(), 0);
}
