//! The tour of README: the first two minutes of a new user, and what comes after them.

use std::fmt::Display;
use std::path::Path;

use serde_json::Value;
use tokio::task::{block_in_place, spawn_blocking};

use super::http;
use super::program::{Program, local};
use super::smtp_peer::SmtpPeer;
use super::until::until;
use super::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";

/// A daemon with a directory for files of the tour.
struct Tour<'a> {
    daemon: Program,
    data: &'a Path,
    files: &'a Path,
}

/// Takes the tour with these flags for the store.
pub(crate) async fn take(store: &[&str]) {
    let dir = tempfile::tempdir().expect("directory");
    let data = dir.path().join("data");
    let daemon = block_in_place(|| Program::serve(&data, &[store, &["--webhook-allow", "127.0.0.0/8"]].concat()));
    assert_eq!(daemon.logged("ready")["domains"], "example.test");
    let tour = Tour { daemon, data: &data, files: dir.path() };
    tour.shows_a_test_mail().await;
    tour.waits_for_a_code().await;
    tour.calls_a_webhook().await;
    tour.takes_mail_for_a_domain_of_its_own();
    tour.restores_a_backup_elsewhere();
    tour.deletes_an_inbox().await;
    block_in_place(|| tour.daemon.stop());
}

impl Tour<'_> {
    /// The output of a command that succeeds and warns of nothing, without the end of its last line.
    fn ok(&self, args: &[&str]) -> String {
        let outcome = block_in_place(|| self.daemon.tempmail(args));
        assert_eq!((outcome.code, outcome.stderr.contains("warning")), (Some(0), false), "{args:?}: {outcome:?}");
        outcome.stdout.trim_end().to_owned()
    }

    /// The path of a file of the tour.
    fn file(&self, name: &str) -> String {
        self.files.join(name).display().to_string()
    }

    async fn shows_a_test_mail(&self) {
        let id = self.ok(&["send-test", TO, "-o", "id"]);
        let inbox = self.daemon.tempmail(&["inbox", TO]);
        assert_eq!((inbox.code, inbox.stderr.as_str()), (Some(0), ""), "{inbox:?}");
        assert!(inbox.stdout.starts_with(&id) && inbox.stdout.lines().count() == 1, "{inbox:?}");
        let read = self.ok(&["read", TO, "--latest"]);
        assert!(read.contains("This is a test mail from `tempmail send-test`."), "{read}");

        let page = http::inbox(self.daemon.http, TO).await;
        let email = page["emails"][0].as_object().expect("an Email");
        let fields: Vec<&str> = email.keys().map(String::as_str).collect();
        assert_eq!(fields, ["id", "recipient", "from", "subject", "message", "receivedAt"]);
        assert!(email.values().all(Value::is_string), "{email:?}");
        assert_eq!((&email["id"], &email["recipient"]), (&Value::from(id), &Value::from(TO)));
    }

    async fn waits_for_a_code(&self) {
        let address = self.ok(&["new"]);
        assert!(address.ends_with("@example.test"), "{address}");
        let (data, to) = (self.data.to_owned(), address.clone());
        let waiting = spawn_blocking(move || local(&data, &["wait", &to, "--code", "--timeout", "50s"]));
        let mail = "Subject: Sign in\r\n\r\nYour verification code is 482913.";
        SmtpPeer::greeted(self.daemon.smtp).await.deliver(&address, mail).await;
        let waited = waiting.await.expect("the command");
        assert_eq!((waited.code, waited.stdout.as_str()), (Some(0), "482913\n"), "{waited:?}");
    }

    async fn calls_a_webhook(&self) {
        let sink = WebhookSink::start().await;
        sink.script("/hook", Behaviour::status(204));
        std::fs::write(self.file("secret"), "s".repeat(64)).expect("write");
        let (url, secret) = (sink.url("/hook"), self.file("secret"));
        let webhook = self.ok(&["webhook", "add", TO, &url, "--secret-file", &secret, "-o", "id"]);
        self.ok(&["webhook", "test", &webhook]);
        sink.wait_for(1).await;
        let id = self.ok(&["send-test", TO, "-o", "id"]);
        let requests = sink.wait_for(2).await;
        let event: Value = serde_json::from_slice(&requests[1].body).expect("JSON");
        assert_eq!(event["email"]["id"], *id, "{event}");
        self.until_said("the log has the mail", &["webhook", "deliveries", &webhook], "delivered").await;
    }

    fn takes_mail_for_a_domain_of_its_own(&self) {
        self.ok(&["domain", "add", "example.org", "--skip-dns-check"]);
        assert!(self.ok(&["domain", "list"]).contains("example.org\t"));
        let id = self.ok(&["send-test", "hello@example.org", "-o", "id"]);
        assert!(self.ok(&["inbox", "hello@example.org"]).starts_with(&id));
    }

    fn restores_a_backup_elsewhere(&self) {
        let file = self.file("backup");
        self.ok(&["db", "backup", &file]);
        let copy = self.files.join("copy");
        for args in [&["db", "restore", &file][..], &["db", "check"]] {
            let outcome = block_in_place(|| local(&copy, args));
            assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
        }
        let ids = ["inbox", TO, "-o", "id"];
        let restored = block_in_place(|| Program::serve(&copy, &[]).tempmail(&ids));
        assert_eq!(restored.stdout.trim_end(), self.ok(&ids));
    }

    async fn deletes_an_inbox(&self) {
        let id = self.ok(&["send-test", TO, "-o", "id"]);
        let twice = format!("http://{}/api/mail/delete?id={id}&id={id}", self.daemon.http);
        let answer = http::client().delete(twice).send().await.expect("an answer").text().await;
        assert_eq!(answer.expect("JSON"), r#"{"deleted":1}"#);
        self.ok(&["delete", TO, "--yes"]);
        assert_eq!(http::total(self.daemon.http, TO).await, 0);
        assert_eq!(http::total(self.daemon.http, "hello@example.org").await, 1);
    }

    /// Waits until a command prints these words.
    async fn until_said(&self, what: impl Display, args: &[&str], words: &str) {
        until(what, async || self.ok(args).contains(words)).await;
    }
}
