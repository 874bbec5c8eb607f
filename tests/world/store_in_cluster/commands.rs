//! Commands on a store in a cluster, and the tour.
//! Promise: it outlives the code below it.

use serde_json::Value;

use crate::support::program::{Program, local, local_with};
use crate::support::ring::Ring;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::{keyspaces, tour};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn a_backup_of_a_directory_goes_into_a_cluster_and_back() {
    let ring = tokio::task::spawn_blocking(Ring::shared).await.expect("the ring");
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(&dir.path().join("data"), &[]);
    assert_eq!(daemon.tempmail(&["domain", "add", "mine.example", "--skip-dns-check"]).code, Some(0));
    for text in ["first", "second", "third"] {
        let message = format!("Subject: {text}\r\n\r\nthe {text} message");
        SmtpPeer::greeted(daemon.smtp).await.deliver("b@example.test", &message).await;
    }
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (file, again) = (path("file"), path("again"));
    assert_eq!(daemon.tempmail(&["db", "backup", &file]).code, Some(0));
    let listed = daemon.tempmail(&["inbox", "b@example.test", "-o", "id"]).stdout;
    daemon.stop();

    let of = |keyspace: &str, copies: &str| format!("cassandra://{}/{keyspace}{copies}", ring.contact_points()[0]);
    let keyspace = ring.fresh_keyspace();
    let store = of(&keyspace, "?replication=1");
    let home = dir.path().join("home");
    std::fs::create_dir(&home).expect("directory");
    let env = [("TEMPMAIL_STORE", store.as_str()), ("TEMPMAIL_CASSANDRA_TIMEOUT", "10s")];
    let cluster = |args: &[&str]| local_with(&home, &env, args);
    let three_copies = of(&keyspace, "");
    let early = local_with(&home, &[("TEMPMAIL_STORE", &three_copies), env[1]], &["db", "restore", &file]);
    assert!(early.code != Some(0) && early.stderr.contains("?replication=1"), "{}", early.stderr);
    let restored = cluster(&["db", "restore", &file, "--json"]);
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    let counts: Value = serde_json::from_str(&restored.stdout).expect("JSON");
    assert_eq!((&counts["emails"], &counts["domains"]), (&Value::from(3), &Value::from(1)));
    let listed_by = |service: Program| {
        let listed = service.tempmail(&["inbox", "b@example.test", "-o", "id"]).stdout;
        service.stop();
        listed
    };
    let node = ["--store", &store, "--cassandra-timeout", "10s"];
    assert_eq!(listed_by(Program::serve(&dir.path().join("node"), &node)), listed);
    let checked = cluster(&["db", "check"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""), "{}", checked.stderr);
    let salvage = cluster(&["db", "check", "--salvage"]);
    assert_eq!(salvage.code, Some(2), "{}", salvage.stderr);

    let refused = cluster(&["db", "restore", &file]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(5), ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("holds mail") && refused.stderr.contains("another keyspace"), "{}", refused.stderr);
    let backed_up = cluster(&["db", "backup", &again, "--json"]);
    assert_eq!(backed_up.code, Some(0), "{}", backed_up.stderr);
    assert_eq!(serde_json::from_str::<Value>(&backed_up.stdout).expect("JSON"), counts);
    let copy = dir.path().join("copy");
    assert_eq!(local(&copy, &["db", "restore", &again]).code, Some(0));
    assert_eq!(listed_by(Program::serve(&copy, &[])), listed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Cassandra"]
async fn the_tour_is_the_same_over_a_cluster() {
    let keyspace = keyspaces::empty().await;
    tour::take(&["--store", &keyspaces::location(&keyspace), "--cassandra-timeout", "10s"]).await;
}
