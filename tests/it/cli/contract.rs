//! The contract of every command: transports, streams, errors. The exit codes are in `exits`.
//! Promise: it outlives the code below it.

use super::{Service, TO, alone, run};
use crate::support::command::Outcome;
use crate::support::front::{Answer, Front};
use crate::support::in_process::CommandLine;
use crate::support::reserved::Reserved;

#[tokio::test(flavor = "multi_thread")]
async fn flag_environment_and_socket_lead_to_the_same_answer() {
    let service = Service::with_mails(&["one"]).await;
    let by_flag = service.run(&["-v", "inbox", TO]).await;
    let by_env = run(CommandLine::new(service.dir(), &["inbox", TO]).env("TEMPMAIL_SERVER", &service.url())).await;
    let by_socket = service.run_local(&["-v", "inbox", TO]).await;
    let by_env_dir = run(CommandLine::on_data(service.dir(), &["inbox", TO])).await;
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
    let outcome = alone(&["--data-dir", missing.to_str().expect("path"), "inbox", TO]);
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
        let outcome = alone(args);
        assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{args:?}");
        assert_ne!(outcome.stderr, "", "{args:?}");
    }
}

#[test]
fn a_server_that_is_not_there_or_not_ours_is_exit_code_6() {
    let closed = Reserved::new();
    let outcome = alone(&["--server", &format!("http://{}", closed.address), "inbox", TO]);
    assert_eq!(outcome.code, Some(6), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot be reached"), "{}", outcome.stderr);

    let front = Front::alone();
    let url = front.url();
    front.answers("GET /api/mail/messages", Answer::of("text/html", "<html>It works!</html>"));
    let noise = alone(&["--server", &url, "inbox", "noise@example.test"]);
    assert_eq!(noise.code, Some(6));
    assert!(noise.stderr.contains("does not answer like tempmail"), "{}", noise.stderr);

    let redirecting = format!("{url}/redirecting");
    front.answers("GET /redirecting/api/mail/messages", Answer::redirect("https://elsewhere.test/"));
    let outcome = alone(&["--server", &redirecting, "inbox", TO]);
    assert_eq!(outcome.code, Some(6));
    assert!(outcome.stderr.contains("https://elsewhere.test/"), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_comes_from_a_file_or_the_environment() {
    let service = Service::with("mx-host = 'mx.example.net'").await;
    let secret = service.run_local(&["token", "new", "--name", "ci"]).await.ok().stdout;
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), &secret).expect("write");
    let path = file.path().to_str().expect("path");
    assert_eq!(service.run(&["domain", "verify"]).await.code, Some(4));
    service.run(&["--token-file", path, "domain", "verify"]).await.ok();
    run(service.line(&["domain", "verify"]).env("TEMPMAIL_TOKEN", secret.trim())).await.ok();
    let sent = format!("Bearer {}", secret.trim());
    assert_eq!(service.noted().tokens, [sent.as_str(), sent.as_str()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_taken_from_standard_input() {
    let service = Service::start().await;
    let token = service.run_local(&["token", "new", "--name", "ci"]).await.ok().stdout;
    let line = service.line(&["--token-file", "-", "token", "ls"]).fed(token);
    run(line).await.ok();
    let both = service.run(&["--token-file", "-", "--ca-file", "-", "domain", "verify"]).await;
    assert!(both.code == Some(2) && both.stderr.contains("both be standard input"), "{both:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_the_answer_as_it_was_sent() {
    let service = Service::with_mails(&["one"]).await;
    let id = service.ids(TO).await.remove(0);
    let sent = service.server.get(&format!("/api/mail/messages/{id}")).await.text().to_owned();
    for args in [&["wait", TO][..], &["expect", TO], &["read", TO, "--latest"], &["read", &id, "-o", "ndjson"]] {
        let form: &[&str] = if args.contains(&"-o") { &[] } else { &["--json"] };
        assert_eq!(service.run(&[args, form].concat()).await.stdout, format!("{sent}\n"), "{args:?}");
    }
    let domains = service.server.get("/api/domains").await.text().to_owned();
    assert_eq!(service.run(&["domain", "ls", "--json"]).await.stdout, format!("{domains}\n"));
    let inbox = service.run(&["inbox", TO, "--json"]).await.stdout;
    assert!(inbox.starts_with("{\"emails\":[{\"id\":\"") && inbox.lines().count() == 1, "{inbox}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_is_never_coloured_unless_asked() {
    let service = Service::with_mails(&["one"]).await;
    let plain = service.run(&["inbox", TO, "-o", "table"]).await;
    assert!(plain.stdout.starts_with("ID") && !plain.stdout.contains('\u{1b}'), "{}", plain.stdout);
    assert!(plain.stdout.contains(&service.ids(TO).await[0]));
    let coloured = service.run(&["inbox", TO, "-o", "table", "--color", "always"]).await;
    assert!(coloured.stdout.contains('\u{1b}'));
}

#[test]
fn a_guide_in_a_pipe_is_its_markdown() {
    let outcome = alone(&["help", "http"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(outcome.stdout, include_str!("../../../man/guide/http.md"));
    assert_eq!(alone(&["help", "domain", "add"]).stdout, alone(&["domain", "add", "--help"]).stdout);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [&["--help"][..], &["--version"], &["domain", "add", "--help"], &["help", "read"]] {
        let outcome = alone(args);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert_ne!(outcome.stdout, "");
    }
}

/// The one object on standard error.
fn problem(outcome: &Outcome) -> serde_json::Value {
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stderr).expect("JSON")
}

#[test]
fn with_json_an_error_is_one_object() {
    let front = Front::alone();
    front.answers("GET /api/mail/messages", Answer::problem(429, "rate_limited"));
    let busy = alone(&["--server", &front.url(), "inbox", "busy@example.test", "--json"]);
    let object = problem(&busy);
    assert_eq!((busy.code, busy.stdout.as_str()), (Some(7), ""));
    assert_eq!((&object["status"], &object["exitCode"]), (&429.into(), &7.into()), "{object}");
    assert!(object["code"].is_string() && object["title"].is_string() && object["type"].is_string(), "{object}");
    assert!(object["hint"].as_str().is_some_and(|hint| hint.contains("60 s")), "{object}");

    for args in
        [&["inbox", "no-address", "--json"][..], &["-o", "ndjson", "unknown"], &["--json", "-o", "tsv", "status"]]
    {
        let outcome = alone(args);
        assert_eq!(outcome.code, Some(2), "{args:?}");
        let object = problem(&outcome);
        assert_eq!(object["code"], "usage", "{object}");
        assert!(object["detail"].as_str().is_some_and(|detail| !detail.is_empty() && !detail.contains("error:")));
        assert!(object.get("status").is_none(), "{object}");
    }
}
