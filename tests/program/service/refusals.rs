//! Starts that fail: each prints one clear message and has the exit code of its cause.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::support::command::Outcome;
use crate::support::program::{Program, local, serve_command};

/// Runs `serve`, which must end by itself.
fn refused(command: &mut Command) -> Outcome {
    command.output().expect("run").into()
}

fn serve(data_dir: &Path, args: &[&str]) -> Outcome {
    refused(serve_command(data_dir).args(args))
}

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
        let mut command = Command::new(env!("CARGO_BIN_EXE_tempmail"));
        let other = if flag == "--smtp-listen" { "--http-listen" } else { "--smtp-listen" };
        command.args(["serve", flag, &address, other, "127.0.0.1:0", "--data-dir"]).arg(&data);
        let outcome = refused(&mut command);
        assert_eq!(outcome.code, Some(75), "{outcome:?}");
        assert_eq!(errors(&outcome).len(), 1, "{outcome:?}");
        let holder = format!("(process {})", std::process::id());
        assert!(outcome.stderr.contains(&address) && outcome.stderr.contains(&holder), "{outcome:?}");
    }
    assert!(!data.exists(), "nothing is made by a start that cannot be");
}

#[test]
fn a_data_directory_that_is_taken_is_exit_75_and_names_who_has_it() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    let outcome = serve(dir.path(), &[]);
    assert_eq!(outcome.code, Some(75), "{outcome:?}");
    assert_eq!(errors(&outcome).len(), 1, "{outcome:?}");
    assert!(outcome.stderr.contains(&daemon.process().to_string()), "{outcome:?}");
    // The running daemon is not disturbed.
    assert_eq!(daemon.tempmail(&["status"]).code, Some(0));
    daemon.stop();
}

#[test]
fn an_unknown_key_is_exit_78_and_the_nearest_is_named() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "hostname = \"here.test\"\nretentoin = \"2h\"\n").expect("write");
    let data = dir.path().join("data");
    let outcome = serve(&data, &["--config", file.to_str().expect("path")]);
    assert_eq!(outcome.code, Some(78), "{outcome:?}");
    for part in [file.to_str().expect("path"), "2", "retentoin", "retention"] {
        assert!(outcome.stderr.contains(part), "{part}: {outcome:?}");
    }
    assert!(!data.exists());
}

#[test]
fn a_data_directory_that_can_be_none_is_one_clear_line() {
    let dir = tempfile::tempdir().expect("directory");
    let file = dir.path().join("file");
    std::fs::write(&file, "x").expect("write");
    for path in [file.clone(), file.join("below"), "/proc/tempmail".into(), "/dev/null".into()] {
        let outcome = serve(&path, &[]);
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
    let outcome = serve(&data, &[]);
    assert_eq!(outcome.code, Some(78), "{outcome:?}");
    assert!(errors(&outcome).len() == 1 && outcome.stderr.contains("XDG_RUNTIME_DIR"), "{outcome:?}");
    assert!(!data.exists());
}

/// A regression: the message named a file without its directory: 'journal-0000000000000001: …'.
#[test]
fn a_file_that_cannot_be_made_is_named_with_its_directory() {
    let dir = tempfile::tempdir().expect("directory");
    std::fs::create_dir(dir.path().join("index.redb")).expect("a directory where the index is to be");
    let outcome = serve(dir.path(), &[]);
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
