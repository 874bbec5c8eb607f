//! `--jq`
//! Mechanism: it goes with `--jq`.

use super::service::{Service, email, id_of};
use super::{TO, run};
use crate::support::command::on_data;
use crate::support::program::terminal_command;
use crate::support::terminal::on_terminal;

fn service() -> Service {
    let service = Service::start();
    service.contents().emails = vec![email(2, TO, "\u{1b}[2Jb"), email(1, TO, "a")];
    service
}

#[test]
fn an_expression_gets_the_json_of_a_command() {
    let service = service();
    for (args, printed) in [
        (
            &["inbox", TO, "--jq", ".total, (.emails[0] | {id, from})"][..],
            format!("2\n{{\"id\":\"{}\",\"from\":\"ann@sender.test\"}}\n", id_of(2)),
        ),
        (&["inbox", TO, "--jq=.emails[].subject"], "\u{1b}[2Jb\na\n".to_owned()),
        (&["inbox", TO, "-o", "ndjson", "--jq", ".id"], format!("{}\n{}\n", id_of(2), id_of(1))),
        (&["inbox", TO, "--all", "--jq", ".emails | length"], "2\n".to_owned()),
        (&["read", &id_of(1), "--jq", ".subject"], "a\n".to_owned()),
    ] {
        let outcome = service.run(args);
        assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (Some(0), printed, String::new()), "{args:?}");
    }
}

#[test]
fn what_cannot_work_is_said_before_anything_is_done() {
    let service = service();
    for (args, said) in [
        (&["delete", TO, "--yes", "--jq", ".["][..], "--jq, character 3"),
        (&["delete", TO, "--yes", "--jq", "env.HOME"], "no filter env"),
        (&["delete", TO, "--yes", "--jq", ".", "-o", "tsv"], "--output"),
        (&["serve", "--jq", "."], "no JSON"),
        (&["db", "backup", "-", "--jq", "."], "no JSON"),
        (&["config", "init", "--jq", "."], "no JSON"),
        (&["help", "http", "--jq", "."], "no JSON"),
    ] {
        let outcome = service.run(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}");
        let problem: serde_json::Value = serde_json::from_str(&outcome.stderr).expect("an error as JSON");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(said)), "{problem}");
    }
    assert!(service.contents().requests.is_empty());
}

#[test]
fn an_error_of_the_expression_is_a_failure() {
    let service = service();
    let outcome = service.run(&["inbox", TO, "--jq", ".total, (.total | keys)"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), "2\n"));
    assert!(outcome.stderr.contains("--jq: "), "{}", outcome.stderr);
}

#[test]
fn a_terminal_is_not_steered_by_a_mail() {
    let (dir, service) = (tempfile::tempdir().expect("directory"), service());
    let args = ["--server", &service.url(), "inbox", TO, "--jq", ".emails[].subject"];
    let screen = on_terminal(terminal_command(dir.path(), &args), 80, "");
    assert_eq!((screen.code, screen.text.as_str()), (Some(0), "\u{241b}[2Jb\na\n"));
}

#[test]
fn a_reader_that_has_seen_enough_ends_an_endless_expression() {
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    let dir = tempfile::tempdir().expect("directory");
    let status = on_data(dir.path(), &["config", "show", "--jq", "repeat(1)"]).stdout(writer).status();
    assert_eq!(status.expect("run").code(), Some(0));
    assert_eq!(run(&["--version", "--jq", "."]).code, Some(0));
}
