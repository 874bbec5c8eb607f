//! The contract of every command: transports, streams, errors. The exit codes are in `exits`.
//! Promise: it outlives the code below it.

use super::service::{Service, domain, email, id_of};
use super::{TO, run};
use crate::support::command::{fed, outcome, tempmail};
use crate::support::program::local;

#[test]
fn flag_environment_and_socket_lead_to_the_same_answer() {
    let service = Service::start();
    service.contents().emails = vec![email(1, TO, "one")];
    let by_flag = service.run(&["-v", "inbox", TO]);
    let by_env = outcome(tempmail(service.data_dir()).env("TEMPMAIL_SERVER", service.url()).args(["inbox", TO]));
    let by_socket = service.run_local(&["-v", "inbox", TO]);
    let by_env_dir = local(service.data_dir(), &["inbox", TO]);
    assert!(by_flag.stdout.contains("one"));
    for other in [&by_socket, &by_env, &by_env_dir] {
        assert_eq!(by_flag.stdout, other.stdout);
    }
    assert!(by_flag.stderr.contains(&service.url()), "{}", by_flag.stderr);
    assert!(by_socket.stderr.contains("tempmail.sock"), "{}", by_socket.stderr);
}

#[test]
fn a_data_directory_that_is_not_there_is_said_and_not_made() {
    let dir = tempfile::tempdir().expect("directory");
    let missing = dir.path().join("data");
    let outcome = run(&["--data-dir", missing.to_str().expect("path"), "inbox", TO]);
    assert_eq!(outcome.code, Some(6));
    assert!(
        outcome.stderr.contains("does not exist") && outcome.stderr.contains("tempmail serve"),
        "{}",
        outcome.stderr
    );
    assert!(!missing.exists());
}

#[test]
fn what_no_server_can_answer_is_exit_code_2() {
    for args in [
        &["inbox", "no-address"][..],
        &["inbox", TO, "--mailboxes"],
        &["inbox", TO, "--limit", "0"],
        &["inbox", TO, "--page", "x"],
        &["--server", "", "inbox", TO],
        &["--server", "http://127.0.0.1", "--ca-file", "/does/not/exist", "inbox", TO],
        &["--server", "http://ann:pw@127.0.0.1", "inbox", TO],
        &["--server", "ftp://127.0.0.1", "inbox", TO],
        &["--server", "http://127.0.0.1", "--data-dir", "/x", "inbox", TO],
        &["inbox", TO, "--json", "-o", "tsv"],
        &["read", "not-an-id"],
        &["unknown"],
        &["help", "unknown"],
        &["domain", "add", "-x"],
    ] {
        let outcome = run(args);
        assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{args:?}");
        assert_ne!(outcome.stderr, "", "{args:?}");
    }
}

#[test]
fn a_server_that_is_not_there_or_not_ours_is_exit_code_6() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bind").local_addr().expect("address");
    let outcome = run(&["--server", &format!("http://{free}"), "inbox", TO]);
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot be reached"), "{}", outcome.stderr);

    let service = Service::start();
    let noise = service.run(&["inbox", "noise@example.test"]);
    assert_eq!(noise.code, Some(6));
    assert!(noise.stderr.contains("does not answer like tempmail"), "{}", noise.stderr);

    let redirecting = format!("{}/redirecting", service.url());
    let outcome = run(&["--server", &redirecting, "inbox", TO]);
    assert_eq!(outcome.code, Some(6));
    assert!(outcome.stderr.contains("https://elsewhere.test/"), "{}", outcome.stderr);
}

#[test]
fn the_token_comes_from_a_file_or_the_environment() {
    let service = Service::start();
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), "secret\n").expect("write");
    let path = file.path().to_str().expect("path");
    assert_eq!(service.run(&["domain", "verify"]).code, Some(4));
    assert_eq!(service.run(&["--token-file", path, "domain", "verify"]).code, Some(0));
    outcome(service.command(&["domain", "verify"]).env("TEMPMAIL_TOKEN", "secret")).ok();
    assert_eq!(service.contents().tokens, ["Bearer secret", "Bearer secret"]);
}

#[test]
fn a_token_is_taken_from_standard_input() {
    let service = Service::start();
    let mut command = service.command(&["--token-file", "-", "domain", "verify"]);
    assert_eq!(fed(&mut command, "secret\n").code, Some(0));
    let both = service.run(&["--token-file", "-", "--ca-file", "-", "domain", "verify"]);
    assert!(both.code == Some(2) && both.stderr.contains("both be standard input"), "{both:?}");
    assert_eq!(service.contents().tokens, ["Bearer secret"]);
}

#[test]
fn json_is_the_answer_as_it_was_sent() {
    let service = Service::start();
    service.contents().emails = vec![email(1, TO, "one\u{85}")];
    service.contents().domains = vec![domain("a.test", "active")];
    let mail = format!("{}\n", email(1, TO, "one\u{85}"));
    for args in [&["wait", TO][..], &["expect", TO], &["read", TO, "--latest"], &["read", &id_of(1), "-o", "ndjson"]] {
        let form: &[&str] = if args.contains(&"-o") { &[] } else { &["--json"] };
        assert_eq!(service.run(&[args, form].concat()).stdout, mail, "{args:?}");
    }
    let domains = service.run(&["domain", "ls", "--json"]).stdout;
    assert_eq!(domains, format!("[{}]\n", domain("a.test", "active")));
    let inbox = service.run(&["inbox", TO, "--json"]).stdout;
    assert!(inbox.starts_with("{\"emails\":[{\"id\":\"") && inbox.lines().count() == 1, "{inbox}");
}

#[test]
fn a_pipe_is_never_coloured_unless_asked() {
    let service = Service::start();
    service.contents().emails = vec![email(1, TO, "one")];
    let plain = service.run(&["inbox", TO, "-o", "table"]);
    assert!(plain.stdout.starts_with("ID") && !plain.stdout.contains('\u{1b}'), "{}", plain.stdout);
    assert!(plain.stdout.contains(&id_of(1)));
    assert!(service.run(&["inbox", TO, "-o", "table", "--color", "always"]).stdout.contains('\u{1b}'));
}

#[test]
fn a_guide_in_a_pipe_is_its_markdown() {
    let outcome = run(&["help", "http"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(outcome.stdout, include_str!("../../../man/guide/http.md"));
    assert_eq!(run(&["help", "domain", "add"]).stdout, run(&["domain", "add", "--help"]).stdout);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [&["--help"][..], &["--version"], &["domain", "add", "--help"], &["help", "read"]] {
        let outcome = run(args);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert_ne!(outcome.stdout, "");
    }
}

/// The one object on standard error.
fn problem(outcome: &super::Outcome) -> serde_json::Value {
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stderr).expect("JSON")
}

#[test]
fn with_json_an_error_is_one_object() {
    let service = Service::start();
    let busy = service.run(&["inbox", "busy@example.test", "--json"]);
    let object = problem(&busy);
    assert_eq!((busy.code, busy.stdout.as_str()), (Some(7), ""));
    assert_eq!((&object["status"], &object["exitCode"]), (&429.into(), &7.into()), "{object}");
    assert!(object["code"].is_string() && object["title"].is_string() && object["type"].is_string(), "{object}");
    assert!(object["hint"].as_str().is_some_and(|hint| hint.contains("60 s")), "{object}");

    for args in
        [&["inbox", "no-address", "--json"][..], &["-o", "ndjson", "unknown"], &["--json", "-o", "tsv", "status"]]
    {
        let outcome = run(args);
        assert_eq!(outcome.code, Some(2), "{args:?}");
        let object = problem(&outcome);
        assert_eq!(object["code"], "usage", "{object}");
        assert!(object["detail"].as_str().is_some_and(|detail| !detail.is_empty() && !detail.contains("error:")));
        assert!(object.get("status").is_none(), "{object}");
    }
}
