//! The first two minutes of a new user.

use serde_json::Value;

use crate::support::binary::Binary;
use crate::support::http;

const TO: &str = "hello@example.test";

#[tokio::test]
async fn a_first_start_without_a_domain_takes_a_test_mail_and_shows_it() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Binary::serve(&dir.path().join("data"), &[]);
    assert_eq!(daemon.logged("ready")["domains"], "example.test");

    let sent = daemon.tempmail(&["send-test", TO, "-o", "id"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let id = sent.stdout.trim();

    let inbox = daemon.tempmail(&["inbox", TO]);
    assert_eq!(inbox.code, Some(0), "{inbox:?}");
    assert!(inbox.stdout.starts_with(id) && inbox.stdout.lines().count() == 1, "{inbox:?}");
    assert_eq!(inbox.stderr, "");

    let read = daemon.tempmail(&["read", TO, "--latest"]);
    assert_eq!(read.code, Some(0), "{read:?}");
    assert!(read.stdout.contains("This is a test mail from `tempmail send-test`."), "{read:?}");

    let page = http::inbox(daemon.http, TO).await;
    let email = page["emails"][0].as_object().expect("an Email");
    let fields: Vec<&str> = email.keys().map(String::as_str).collect();
    assert_eq!(fields, ["from", "id", "message", "receivedAt", "recipient", "subject"]);
    assert!(email.values().all(Value::is_string), "{email:?}");
    assert_eq!((&email["id"], &email["recipient"]), (&Value::from(id), &Value::from(TO)));

    let deleted = daemon.tempmail(&["delete", TO, "--yes"]);
    assert_eq!(deleted.code, Some(0), "{deleted:?}");
    assert_eq!(http::total(daemon.http, TO).await, 0);
    daemon.stop();
}
