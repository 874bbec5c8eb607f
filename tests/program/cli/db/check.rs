//! Damage is found and named, and a salvage continues without the damaged part.

use serde_json::Value;

use super::{damage, files, segments, send, serve};
use crate::support::http;
use crate::support::program::local;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_octet_of_a_message_is_found_and_costs_that_message_alone() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    assert_eq!(daemon.tempmail(&["webhook", "add", "a@example.test", "https://hooks.invalid/x"]).code, Some(0));
    assert_eq!(daemon.tempmail(&["domain", "add", "mine.example", "--skip-dns-check"]).code, Some(0));
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
    let json: Value = serde_json::from_str(&local(dir.path(), &["db", "check", "--json"]).stdout).expect("JSON");
    assert_eq!((&json["clean"], &json["findings"][0]["kind"]), (&Value::Bool(false), &Value::from("email")));
    assert!(files(dir.path()) == before, "a check wrote to the store");

    let asked = local(dir.path(), &["db", "check", "--salvage"]);
    assert_eq!(asked.code, Some(2), "{}", asked.stderr);
    assert!(files(dir.path()) == before, "nothing changes without consent");
    let salvaged = local(dir.path(), &["db", "check", "--salvage", "--yes"]);
    assert_eq!(salvaged.code, Some(0), "{}", salvaged.stderr);
    assert!(salvaged.stderr.contains("kept 2 Emails of 3, 1 domains and 1 webhooks"), "{}", salvaged.stderr);
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
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_names_the_place_of_damage_and_the_remedy() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    for text in ["first", "second", "third"] {
        send(&daemon, "b@example.test", &format!("Subject: {text}\r\n\r\nthe {text} message")).await;
    }
    // So the start has to replay the journal.
    daemon.kill();
    damage(dir.path(), b"the second message");
    let refused = crate::support::program::serve_command(dir.path())
        .args(["--max-message-size", "64KB", "--segment-size", "1MB"])
        .output()
        .expect("run");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("segment 1 of the journal is damaged at offset ") && said.contains("db check --salvage"),
        "{said}"
    );
    assert_eq!(local(dir.path(), &["db", "check"]).code, Some(8));
    let salvaged = local(dir.path(), &["db", "check", "--salvage", "--yes"]);
    assert_eq!(salvaged.code, Some(0), "{}", salvaged.stderr);
    let daemon = serve(dir.path());
    assert_eq!(http::total(daemon.http, "b@example.test").await, 2);
    daemon.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_index_the_journal_is_what_there_is() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = serve(dir.path());
    assert_eq!(daemon.tempmail(&["domain", "add", "mine.example", "--skip-dns-check"]).code, Some(0));
    for text in ["first", "second"] {
        send(&daemon, "b@example.test", &format!("Subject: {text}\r\n\r\nthe {text} message")).await;
    }
    daemon.stop();
    std::fs::remove_file(dir.path().join("index.redb")).expect("remove");
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(8), "index-missing\t\t\tindex.redb is missing\n"));
    assert_eq!(local(dir.path(), &["db", "check", "--salvage", "--yes"]).code, Some(0));
    let daemon = serve(dir.path());
    assert_eq!(http::total(daemon.http, "b@example.test").await, 2);
    assert_eq!(daemon.tempmail(&["domain", "list", "-o", "id"]).stdout.lines().next(), Some("mine.example"));
    daemon.stop();
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
    assert_eq!(daemon.tempmail(&["webhook", "add", "a@example.test", "https://hooks.invalid/x"]).code, Some(0));
    let large = "0123456789abcdef\r\n".repeat(3_000);
    for number in 0..40 {
        let to = ["a@example.test", "b@example.test", "c@example.test"][number % 3];
        send(&daemon, to, &format!("Subject: {number}\r\n\r\n{large}")).await;
    }
    assert_eq!(daemon.tempmail(&["delete", "a@example.test", "--yes"]).code, Some(0));
    assert_eq!(daemon.tempmail(&["delete", "b@example.test", "--yes"]).code, Some(0));
    let running = daemon.tempmail(&["db", "stats"]);
    assert!(running.stdout.contains("emails\t13\n") && running.stdout.contains("events\t14\n"), "{}", running.stdout);
    daemon.kill();
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "after a kill: {}", checked.stderr);
    let stats = local(dir.path(), &["db", "stats"]);
    assert!(stats.stdout.contains("emails\t13\n") && stats.stdout.contains("webhooks\t1\n"), "{}", stats.stdout);
    let compacted = local(dir.path(), &["db", "compact", "--json"]);
    assert_eq!(compacted.code, Some(0), "{}", compacted.stderr);
    let sizes: Value = serde_json::from_str(&compacted.stdout).expect("JSON");
    let size = |name: &str| sizes[name].as_u64().expect("a number");
    assert!(size("indexOctetsAfter") < size("indexOctetsBefore"), "{sizes}");
    let checked = local(dir.path(), &["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "after compaction: {}", checked.stderr);
}
