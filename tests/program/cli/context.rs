//! `tempmail context`, and which server the other commands ask.
//! Mechanism: it goes with contexts.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::service::{Service, email};
use super::{Outcome, TO};
use crate::support::command::{fed, tempmail};

/// A command of a user with this home.
fn of_user(home: &Path, env: &[(&str, &str)], args: &[&str], input: &str) -> Outcome {
    let mut command = tempmail(home);
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME").envs(env.iter().copied()).args(args);
    fed(&mut command, input)
}

fn service(subject: &str) -> Service {
    let service = Service::start();
    service.contents().emails = vec![email(1, TO, subject)];
    service
}

#[test]
fn a_context_is_used_unless_a_server_or_a_data_directory_is_named() {
    let (one, two) = (service("first"), service("second"));
    let home = tempfile::tempdir().expect("directory");
    let run = |env: &[(&str, &str)], args: &[&str]| of_user(home.path(), env, args, "");
    assert_eq!(run(&[], &["context", "add", "one", "--server", &one.url()]).code, Some(0));
    assert_eq!(run(&[], &["context", "add", "two", "--server", &two.url()]).code, Some(0));
    assert_eq!(run(&[], &["inbox", TO]).code, Some(6), "none is used yet");
    assert!(run(&[], &["--context", "two", "inbox", TO]).stdout.contains("second"));
    assert_eq!(run(&[], &["context", "use", "one"]).code, Some(0));
    assert!(run(&[], &["inbox", TO]).stdout.contains("first"));
    let by_variable = [("TEMPMAIL_CONTEXT", "two")];
    assert!(run(&by_variable, &["inbox", TO]).stdout.contains("second"));
    assert!(run(&by_variable, &["--context", "one", "inbox", TO]).stdout.contains("first"));
    assert!(run(&by_variable, &["--server", &one.url(), "inbox", TO]).stdout.contains("first"));
    assert!(run(&[("TEMPMAIL_SERVER", &two.url())], &["inbox", TO]).stdout.contains("second"));
    let directory = two.data_dir().to_str().expect("path");
    assert!(run(&[], &["--data-dir", directory, "inbox", TO]).stdout.contains("second"));
    assert!(run(&[("TEMPMAIL_DATA_DIR", directory)], &["inbox", TO]).stdout.contains("second"));
    assert_eq!(run(&[], &["--data-dir", directory, "--context", "one", "inbox", TO]).code, Some(2));
    assert!(run(&[], &["status", "--json"]).stdout.contains("\"context\": \"one\""));
    assert!(!run(&[], &["--server", &one.url(), "status", "--json"]).stdout.contains("context"));
    assert_eq!(
        run(&[], &["context", "ls"]).stdout,
        format!("one\t{}\tno\tyes\ntwo\t{}\tno\tno\n", one.url(), two.url())
    );
    assert_eq!(run(&[], &["context", "use", "-"]).code, Some(0));
    assert_eq!(run(&[], &["inbox", TO]).code, Some(6));
    run(&[], &["context", "use", "one"]);
    assert_eq!(run(&[], &["context", "rm", "one"]).code, Some(0));
    assert_eq!(run(&[], &["inbox", TO]).code, Some(6));
    for args in [&["--context", "one", "inbox", TO][..], &["context", "use", "one"], &["context", "rm", "one"]] {
        assert_eq!(run(&[], args).code, Some(3), "{args:?}");
    }
    for args in [&["context", "add", "x"][..], &["context", "add", "a/b", "--server", "http://127.0.0.1"]] {
        assert_eq!(run(&[], args).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_token_is_kept_for_its_owner_and_never_shown() {
    let service = service("mail");
    let home = tempfile::tempdir().expect("directory");
    let run = |env: &[(&str, &str)], args: &[&str], input: &str| of_user(home.path(), env, args, input);
    let add = ["context", "add", "work", "--server", &service.url(), "--token-file", "-"];
    assert_eq!(run(&[], &add, "secret\n").code, Some(0));
    assert_eq!(run(&[("TEMPMAIL_TOKEN", "other")], &["--context", "work", "domain", "verify"], "").code, Some(0));
    assert_eq!(service.contents().tokens, ["Bearer secret"]);
    let file = home.path().join(".config/tempmail/contexts.json");
    let mode = |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().expect("directory"))), (0o600, 0o700));
    let shown = run(&[], &["context", "list", "--json"], "");
    assert!(shown.stdout.contains("\"hasToken\": true") && !shown.stdout.contains("secret"), "{}", shown.stdout);
    assert_eq!(run(&[], &add, "two words\n").code, Some(2));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("chmod");
    let refused = run(&[], &["--context", "work", "inbox", TO], "");
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    assert!(refused.stderr.contains("chmod 600") && !refused.stderr.contains("secret"), "{}", refused.stderr);
}
