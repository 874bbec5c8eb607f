//! One command, two ways to the service: the daemon's socket and HTTP. Without a daemon there is none.
//! Promise: it outlives the code below it.

use serde_json::Value;

use crate::support::command::Outcome;
use crate::support::program::{Program, local, remote};
use crate::support::smtp_peer::SmtpPeer;

const TO: &str = "hello@example.test";

fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.json()
}

#[tokio::test]
async fn both_give_the_same_answers() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &["--domain", "example.test"]);
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    for number in 1..=4 {
        peer.deliver(TO, &format!("From: a@sender.test\r\nSubject: mail {number}\r\n\r\nHello {number}\r\n")).await;
    }
    daemon.tempmail(&["domain", "add", "kept.test", "--skip-dns-check"]).ok();

    let listed = json(&daemon.tempmail(&["inbox", TO, "--json"]));
    let ids: Vec<String> = listed["emails"]
        .as_array()
        .unwrap_or_else(|| listed.as_array().expect("emails"))
        .iter()
        .map(|email| email["id"].as_str().expect("id").to_owned())
        .collect();
    assert_eq!(ids.len(), 4);
    let oldest = &ids[3];

    // Reading, through the socket and over HTTP.
    let reads: [&[&str]; 5] = [
        &["inbox", TO, "--json"],
        &["inbox", TO],
        &["read", oldest],
        &["read", oldest, "--json"],
        &["read", oldest, "--raw"],
    ];
    let by_socket: Vec<Outcome> = reads.iter().map(|args| daemon.tempmail(args)).collect();
    for (args, expected) in reads.iter().zip(&by_socket) {
        assert_eq!(expected.code, Some(0), "{expected:?}");
        assert_eq!(remote(daemon.http, args).stdout, expected.stdout, "{args:?}");
    }
    let domains = ["domain", "list"];
    let list = daemon.tempmail(&domains);
    assert!(list.stdout.contains("example.test") && list.stdout.contains("kept.test"), "{list:?}");
    let active = remote(daemon.http, &["domain", "list", "--active"]);
    assert_eq!(active.stdout, daemon.tempmail(&["domain", "list", "--active"]).stdout);
    let status = json(&daemon.tempmail(&["status", "--json"]));
    assert_eq!(status["store"]["emails"], 4);
    let public = json(&remote(daemon.http, &["status", "--json"]));
    assert_eq!((&public["ready"], &public["domains"]["active"]), (&true.into(), &2.into()));

    // Each way deletes one Email.
    let delete = |id| ["delete", "--id", id, "--yes"];
    let by_socket_deleted = daemon.tempmail(&delete(&ids[0]));
    let by_http_deleted = remote(daemon.http, &delete(&ids[1]));
    for (id, outcome) in ids.iter().zip([by_socket_deleted, by_http_deleted]) {
        assert_eq!((outcome.code, outcome.stdout), (Some(0), format!("{id}\t1\n")), "{}", outcome.stderr);
    }
    assert_eq!(daemon.tempmail(&["inbox", TO]).stdout.lines().count(), 2);

    daemon.stop();
    for args in reads.iter().chain(&[&domains[..], &delete(&ids[2]), &["status", "--json"]]) {
        let alone = local(dir.path(), args);
        assert_eq!((alone.code, alone.stdout.as_str()), (Some(6), ""), "{args:?}: {alone:?}");
        assert!(alone.stderr.contains("no daemon runs") && alone.stderr.contains("tempmail serve"), "{alone:?}");
    }
}
