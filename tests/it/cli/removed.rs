//! Commands and flags that have gone: the refusal says what to do instead.
//! Promise: it outlives the code below it.

use std::path::Path;

use super::{NOWHERE, Service, TO, alone, run};
use crate::support::in_process::CommandLine;

/// Command lines, and a part of what is said.
const REMOVED: &[(&[&str], &str)] = &[
    (&["inbox", "a@example.test", "--jq", ".total"], "--json into `jq`"),
    (&["--jq=.total", "inbox", "a@example.test"], "--json into `jq`"),
    (&["context", "add", "work", "--server", "https://mail.example"], "set TEMPMAIL_SERVER and TEMPMAIL_TOKEN"),
    (&["db", "compact"], "frees space by itself"),
    (&["db", "stats", "--data-dir", "/x"], "`tempmail status --all`"),
    (&["send-test", "a@example.test", "--count", "3"], "a loop of the shell"),
    (&["completions", "elvish"], "for bash, fish and zsh"),
    (&["completions", "powershell"], "for bash, fish and zsh"),
    (&["export", "--all", "--mbox", "all.mbox"], "`read --raw`"),
    (&["import", "--mbox", "all.mbox"], "`send-test ADDR --file FILE`"),
    (&["expect", "a@example.test", "--html-has", "a.button"], "--link-host"),
    (&["expect", "a@example.test", "--report", "tap=result.tap"], "bats, prove or pytest"),
    (&["--context", "work", "inbox", "a@example.test"], "set TEMPMAIL_SERVER and TEMPMAIL_TOKEN"),
];

#[test]
fn what_has_gone_is_refused_and_the_refusal_says_what_to_do_instead() {
    for (args, instead) in REMOVED {
        let outcome = alone(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: `") && outcome.stderr.contains(instead), "{}", outcome.stderr);

        let outcome = alone(&[&["--json"], *args].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{args:?}: {}", outcome.stderr);
        let problem: serde_json::Value = serde_json::from_str(&outcome.stderr).expect("an error as JSON");
        assert_eq!(problem["code"], "usage", "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(instead)), "{problem}");
    }
}

#[test]
fn the_name_of_the_file_of_the_program_does_not_matter() {
    for name in ["/opt/mail/tempmail.new", "tm"] {
        let outcome = CommandLine::new(Path::new(NOWHERE), &["export"]).called(name).run();
        assert!(outcome.stderr.contains("`export` has gone"), "{}", outcome.stderr);
        let wrong = CommandLine::new(Path::new(NOWHERE), &["domain", "add"]).called(name).run();
        assert!(wrong.stderr.contains("Usage: tempmail domain add "), "{}", wrong.stderr);
    }
}

#[test]
fn only_the_very_words_are_answered() {
    for args in [&["token", "export"][..], &["inbox", TO, "--output", "export"], &["domain", "context"]] {
        let outcome = alone(args);
        assert_eq!(outcome.code, Some(2), "{args:?}");
        assert!(!outcome.stderr.contains("has gone"), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn an_expectation_of_no_mail_never_holds_because_of_a_pattern() {
    for pattern in ["^Your code", "code is [0-9]+", "code is (4|5)", "code is .{6}", "code$", "invoice-?"] {
        for flag in ["--text", "--attachment"] {
            let outcome = alone(&["expect", TO, flag, pattern, "--no-mail-within", "0s"]);
            assert_eq!(outcome.code, Some(2), "{pattern}");
            assert!(outcome.stderr.contains("patterns have gone"), "{}", outcome.stderr);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_that_named_a_server_is_refused_where_nothing_else_says_who_is_asked() {
    let service = Service::with_mails(&["one"]).await;
    let (here, there) = (service.dir().to_str().expect("path"), service.url());
    let of = async |env: &[(&str, &str)], args: &[&str]| {
        let line = CommandLine::new(service.dir(), args).env("TEMPMAIL_CONTEXT", "work");
        run(env.iter().fold(line, |line, (name, value)| line.env(name, value))).await
    };
    for env in [&[][..], &[("TEMPMAIL_DATA_DIR", here)]] {
        let refused = of(env, &["delete", TO, "--yes"]).await;
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{env:?}");
        assert!(refused.stderr.contains("set TEMPMAIL_SERVER and TEMPMAIL_TOKEN"), "{}", refused.stderr);
    }
    assert!(of(&[("TEMPMAIL_SERVER", &there)], &["inbox", TO]).await.ok().stdout.contains("one"));
    assert!(of(&[], &["--server", &there, "inbox", TO]).await.ok().stdout.contains("one"));
    assert!(of(&[], &["--data-dir", here, "inbox", TO]).await.ok().stdout.contains("one"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_named_a_server_is_refused_where_nothing_else_says_who_is_asked() {
    let service = Service::with_mails(&["one"]).await;
    let home = tempfile::tempdir().expect("directory");
    let file = home.path().join("tempmail/contexts.json");
    std::fs::create_dir(home.path().join("tempmail")).expect("directory");
    let of = async |args: &[&str]| run(CommandLine::new(home.path(), args)).await;
    std::fs::write(&file, r#"{"current": "work", "contexts": {"work": {"server": "https://m.test"}}}"#).expect("write");
    let refused = of(&["delete", TO, "--yes"]).await;
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    for word in ["contexts.json", "set TEMPMAIL_SERVER and TEMPMAIL_TOKEN", "remove the file"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
    assert!(of(&["--server", &service.url(), "inbox", TO]).await.ok().stdout.contains("one"));
    // Nothing was in use, so a command went to this machine.
    std::fs::write(&file, r#"{"contexts": {"work": {"server": "https://m.test"}}}"#).expect("write");
    assert_eq!(of(&["status"]).await.code, Some(6));
    std::fs::write(&file, "no JSON").expect("write");
    assert_eq!(of(&["status"]).await.code, Some(2), "it may have named one");
}
