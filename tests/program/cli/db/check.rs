//! Damage is found and named, and a salvage continues without the damaged part.
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::{damage, files, segments, send, serve};
use crate::support::http;
use crate::support::program::{local, refused};

/// What is said when a registry that cannot be read had the tokens.
const TOKENS_LOST: &str =
    "tokens of remote callers cannot be read and are lost; `tempmail token new --name NAME` makes new ones";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_octet_of_a_message_is_found_and_costs_that_message_alone() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    daemon.tempmail(&["webhook", "add", "a@example.test", "https://hooks.invalid/x"]).ok();
    daemon.tempmail(&["domain", "add", "mine.example", "--skip-dns-check"]).ok();
    daemon.tempmail(&["token", "new", "--name", "ci"]).ok();
    for text in ["first", "second", "third"] {
        send(&daemon, "b@example.test", &format!("Subject: {text}\r\n\r\nthe {text} message")).await;
    }
    daemon.stop();
    damage(dir.path(), b"the second message");
    let before = files(dir.path());
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!(checked.code, Some(8), "{}", checked.stderr);
    let fields: Vec<&str> = checked.stdout.trim_end().split('\t').collect();
    assert_eq!((fields[0], fields.len(), checked.stdout.lines().count()), ("email", 4, 1), "{}", checked.stdout);
    assert!(fields[3].ends_with("cannot be read"), "{}", checked.stdout);
    let json: Value = local(dir.path(), &["db", "check", "--json"]).json();
    assert_eq!((&json["clean"], &json["findings"][0]["kind"]), (&Value::Bool(false), &Value::from("email")));
    assert!(files(dir.path()) == before, "a check wrote to the store");

    let asked = local(dir.path(), &["db", "check", "--salvage"]);
    assert_eq!(asked.code, Some(2), "{}", asked.stderr);
    assert!(files(dir.path()) == before, "nothing changes without consent");
    let salvaged = local(dir.path(), &["db", "check", "--salvage", "--yes"]).ok();
    assert!(salvaged.stderr.contains("kept 2 Emails of 3, 1 domains and 1 webhooks"), "{}", salvaged.stderr);
    assert!(!salvaged.stderr.contains("token"), "{}", salvaged.stderr);
    let aside = files(&dir.path().join("damaged-1"));
    let octets = |files: &[(std::path::PathBuf, Vec<u8>)]| -> Vec<Vec<u8>> {
        files.iter().map(|(_, octets)| octets.clone()).collect()
    };
    let of_store: Vec<_> = before
        .into_iter()
        .filter(|(path, _)| aside.iter().any(|(copied, _)| copied.file_name() == path.file_name()))
        .collect();
    assert!(!aside.is_empty() && octets(&aside) == octets(&of_store), "the damaged files are not as they were");
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "{}", checked.stderr);
    let daemon = serve(dir.path());
    assert_eq!(http::total(daemon.http, "b@example.test").await, 2);
    assert!(daemon.tempmail(&["token", "list"]).stdout.starts_with("ci\t"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_names_the_place_of_damage_and_the_remedy() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    for text in ["first", "second", "third"] {
        send(&daemon, "b@example.test", &format!("Subject: {text}\r\n\r\nthe {text} message")).await;
    }
    // After a stop in order a start reads what the service wrote beside the segment.
    daemon.kill();
    // The first record has it behind its header.
    damage(dir.path(), b"b@example.test");
    let refused = refused(dir.path(), &["--max-message-size", "64KB"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for words in ["segment 1 of the journal is damaged at offset ", "db check --salvage"] {
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!(local(dir.path(), &["db", "check"]).code, Some(8));
    local(dir.path(), &["db", "check", "--salvage", "--yes"]).ok();
    let daemon = serve(dir.path());
    assert_eq!(http::total(daemon.http, "b@example.test").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_registry_the_journal_is_what_there_is() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    daemon.tempmail(&["domain", "add", "mine.example", "--skip-dns-check"]).ok();
    for text in ["first", "second"] {
        send(&daemon, "b@example.test", &format!("Subject: {text}\r\n\r\nthe {text} message")).await;
    }
    daemon.stop();
    std::fs::remove_file(dir.path().join("store/registry.redb")).expect("remove");
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(8), "registry-damaged\t\t\tregistry.redb is missing\n"));
    let salvaged = local(dir.path(), &["db", "check", "--salvage", "--yes"]).ok();
    assert!(salvaged.stderr.contains(TOKENS_LOST), "{}", salvaged.stderr);
    let daemon = serve(dir.path());
    assert_eq!(http::total(daemon.http, "b@example.test").await, 2);
}

/// The name of the one token that a service on this directory knows.
fn tokens(dir: &std::path::Path) -> String {
    let daemon = serve(dir);
    let listed = daemon.tempmail(&["token", "list"]).ok().stdout;
    daemon.stop();
    listed.split('\t').next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_over_a_damaged_registry_says_that_its_tokens_are_lost() {
    let dir = tempfile::tempdir().expect("directory");
    let (data, backup) = (dir.path().join("data"), dir.path().join("backup"));
    let restore = ["db", "restore", backup.to_str().expect("path"), "--yes"];
    let daemon = serve(&data);
    daemon.tempmail(&["token", "new", "--name", "ci"]).ok();
    daemon.tempmail(&["db", "backup", backup.to_str().expect("path")]).ok();
    daemon.stop();
    let restored = local(&data, &restore).ok();
    assert_eq!(restored.stderr, "");
    assert_eq!(tokens(&data), "ci");
    std::fs::write(data.join("store/registry.redb"), [9; 5000]).expect("write");
    let restored = local(&data, &restore).ok();
    assert!(restored.stderr.contains(TOKENS_LOST), "{}", restored.stderr);
    assert_eq!(tokens(&data), "");
    assert_eq!(local(&dir.path().join("new"), &restore).ok().stderr, "", "where nothing was, nothing is lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_segment_that_is_gone_is_named() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    send(&daemon, "b@example.test", "Subject: x\r\n\r\nx").await;
    daemon.stop();
    std::fs::remove_file(&segments(dir.path())[0]).expect("remove");
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!(checked.code, Some(8), "{}", checked.stderr);
    assert!(checked.stdout.contains("segment-missing\t1\t0\tthe segment is missing\n"), "{}", checked.stdout);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_in_order_leaves_nothing_to_find() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    daemon.tempmail(&["webhook", "add", "a@example.test", "https://hooks.invalid/x"]).ok();
    let large = "0123456789abcdef\r\n".repeat(3_000);
    for number in 0..40 {
        let to = ["a@example.test", "b@example.test", "c@example.test"][number % 3];
        send(&daemon, to, &format!("Subject: {number}\r\n\r\n{large}")).await;
    }
    daemon.tempmail(&["delete", "a@example.test", "--yes"]).ok();
    daemon.tempmail(&["delete", "b@example.test", "--yes"]).ok();
    let running = daemon.tempmail(&["status", "--all"]).stdout;
    assert!(running.contains("store.emails\t13\n") && running.contains("store.events\t14\n"), "{running}");
    daemon.kill();
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "after a kill: {}", checked.stderr);
    let daemon = serve(dir.path());
    let again = daemon.tempmail(&["status", "--all"]).stdout;
    assert!(again.contains("store.emails\t13\n") && again.contains("store.webhooks\t1\n"), "{again}");
    daemon.stop();
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "after it was opened: {}", checked.stderr);
}
