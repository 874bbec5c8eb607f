//! What the binary logs about sessions, and what it must never log.
//! Promise: it outlives the code below it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::certificates::Pair;
use crate::support::http;
use crate::support::program::Program;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::until::until_some;
use crate::support::webhook_sink::{Behaviour, WebhookSink};

const TO: &str = "hello@example.test";
const ENDED: &str = "smtp session ended";
const DROPPED: &str = "events were dropped";

/// Waits until so many sessions have ended, and returns their lines.
async fn ended(daemon: &Program, count: usize) -> Vec<Value> {
    lines(daemon, ENDED, count).await
}

/// Waits until so many lines have a message that starts like this, and returns them.
async fn lines(daemon: &Program, message: &str, count: usize) -> Vec<Value> {
    let what = format!("{count} lines of the log that start with {message:?}");
    until_some(what, async || {
        let log = daemon.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_wanted = |line: &Value| line["message"].as_str().is_some_and(|text| text.starts_with(message));
        let lines: Vec<Value> = lines.filter(is_wanted).collect();
        (lines.len() >= count).then_some(lines)
    })
    .await
}

#[tokio::test]
async fn each_session_has_one_line_when_it_ends() {
    let dir = tempfile::tempdir().expect("directory");
    let (pair, keys) = (Pair::fresh(), TempDir::new().expect("directory"));
    let files = pair.write(keys.path());
    let (certificate, key) = (files.certificate.to_str().expect("text"), files.key.to_str().expect("text"));
    let daemon = Program::serve(dir.path(), &["--tls-cert", certificate, "--tls-key", key]);

    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.command("EHLO first.test", "250").await;
    peer.command("STARTTLS", "220").await;
    let mut peer = peer.secure(&pair.connector()).await.expect("a handshake");
    peer.deliver(TO, "Subject: one\r\n\r\n").await;
    peer.command("MAIL FROM:<ann@sender.test>", "250").await;
    peer.command(&format!("RCPT TO:<{TO}>"), "250").await;
    peer.command("RCPT TO:<other@example.test>", "250").await;
    peer.command("RCPT TO:<nobody@elsewhere.test>", "550").await;
    peer.command("DATA", "354").await;
    peer.send("Subject: two\r\n\r\n.\r\n").await;
    peer.expect("250").await;
    peer.command("QUIT", "221").await;
    let lines = ended(&daemon, 1).await;
    let [line] = &lines[..] else { panic!("{lines:?}") };
    let octets = line["octets"].as_u64().expect("octets");
    assert!((30..60).contains(&octets), "two small messages: {line}");
    assert!(line["duration_ms"].is_u64(), "{line}");
    for (field, value) in [
        ("client", json!("127.0.0.1")),
        ("helo", json!("client.test")),
        ("tls", json!("TLSv1.3")),
        ("messages", json!(2)),
        ("recipients", json!(3)),
        ("refusals", json!(1)),
        ("reason", json!("quit")),
        ("level", json!("INFO")),
    ] {
        assert_eq!(line[field], value, "{field} of {line}");
    }

    drop(SmtpPeer::greeted(daemon.smtp).await);
    let mut errs = SmtpPeer::greeted(daemon.smtp).await;
    while !errs.try_exchange("WHAT\r\n").await.starts_with("421") {}
    let mut stays = SmtpPeer::greeted(daemon.smtp).await;
    stays.command("EHLO stays.test", "250").await;
    ended(&daemon, 3).await;
    daemon.signal(rustix::process::Signal::TERM);
    stays.expect("421 4.3.2").await;
    let reasons: Vec<String> = ended(&daemon, 4).await.iter().map(|line| line["reason"].to_string()).collect();
    let mut sorted = reasons.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["\"gone\"", "\"quit\"", "\"stopping\"", "\"tooManyErrors\""], "{reasons:?}");
}

/// Every place of a dialog has a word that the test looks for in the log. The places are the mail, sender and recipient
/// of it, webhooks and their secrets, and the requests of readers.
#[tokio::test]
async fn no_line_names_a_recipient_a_sender_content_or_a_secret_however_much_is_logged() {
    let access = ["--access-log", "full"];
    for (args, filter) in [(&access[..], None), (&[], None), (&["-v"], None), (&["-vv"], None), (&[], Some("trace"))] {
        let dir = tempfile::tempdir().expect("directory");
        let sink = WebhookSink::start().await;
        sink.script("/secrethook", Behaviour::Answer(500, Vec::new(), b"secretanswer".to_vec()));
        let daemon = Program::serve_with(dir.path(), args, |command| {
            command.args(["--webhook-allow", "127.0.0.0/8", "--webhook-schedule", "50ms", "--smtp-auth", "accept-any"]);
            command.env("RUST_LOG", filter.unwrap_or_default());
        });
        let body = json!({
            "recipient": "secretbox@example.test", "url": sink.url("/secrethook"), "secret": "secretsecret",
        });
        let url = format!("http://{}/api/webhooks", daemon.http);
        assert_eq!(http::client().post(url).json(&body).send().await.expect("an answer").status(), 201);
        send(&daemon).await;
        sink.wait_for(2).await;
        read(&daemon).await;
        assert_eq!(ended(&daemon, 3).await.len(), 3);
        let log = daemon.log();
        assert!(!log.contains("secret"), "{args:?} {filter:?}\n{log}");
        daemon.stop();
    }
}

#[tokio::test]
async fn the_access_log_has_a_line_for_each_request_and_is_off_by_default() {
    for (args, client) in [
        (&["--access-log", "masked"][..], Some("127.0.0.0/24")),
        (&["--access-log", "full"], Some("127.0.0.1")),
        (&[], None),
    ] {
        let dir = tempfile::tempdir().expect("directory");
        let daemon = Program::serve(dir.path(), args);
        let path = "/api/mail/messages/019aa5b4-6d4c-7c41-9f4e-0b1f6d0c5a11";
        let answer = http::client().get(format!("http://{}{path}", daemon.http)).send().await.expect("an answer");
        let id = answer.headers()["x-request-id"].to_str().expect("text").to_owned();
        let octets = answer.bytes().await.expect("a body").len();
        if let Some(client) = client {
            let line = &lines(&daemon, "http request", 1).await[0];
            for (field, value) in [
                ("request_id", json!(id)),
                ("client", json!(client)),
                ("method", json!("GET")),
                ("route", json!("/api/mail/messages/{id}")),
                ("status", json!(404)),
                ("octets", json!(octets)),
            ] {
                assert_eq!(line[field], value, "{field} of {line}");
            }
            assert!(line["duration_ms"].is_u64(), "{line}");
        }
        SmtpPeer::greeted(daemon.smtp).await.command("QUIT", "221").await;
        ended(&daemon, 1).await;
        assert_eq!(daemon.log().matches("http request").count(), usize::from(client.is_some()));
        assert!(!daemon.log().contains("019aa5b4-6d4c"), "an id of a mail: {}", daemon.log());
        daemon.stop();
    }
}

#[tokio::test]
async fn no_line_of_the_log_has_credentials() {
    let dir = tempfile::tempdir().expect("directory");
    let alone = ["--limit-exempt", "none", "--max-smtp-connections-per-client", "1"];
    let args = [&["-vv", "--smtp-auth", "accept-any"], &alone[..]].concat();
    let daemon = Program::serve_with(dir.path(), &args, |command| {
        command.env("RUST_LOG", "trace");
    });
    let [plain, user, password, no_message] =
        ["\0secretuser\0secretpassword", "secretuser", "secretpassword", "secret"]
            .map(|text| BASE64_STANDARD.encode(text));
    let too_long = "c2VjcmV0".repeat(4000);
    for dialog in [
        &[(format!("AUTH PLAIN {plain}"), "235")][..],
        &[("AUTH PLAIN".into(), "334"), (plain.clone(), "235")],
        &[("AUTH LOGIN".into(), "334"), (user.clone(), "334"), (password.clone(), "235")],
        &[(format!("AUTH LOGIN {user}"), "334"), (password.clone(), "235")],
        &[(format!("AUTH LOGIN {user}"), "334"), (format!("{password}!"), "501"), (password.clone(), "500")],
        &[(format!("AUTH PLAIN {no_message}"), "501"), ("AUTH PLAIN secret".into(), "501")],
        &[("AUTH PLAIN".into(), "334"), (too_long.clone(), "500"), (plain.clone(), "500")],
        &[("AUTH CRAM-MD5 secretuser".into(), "504"), ("PASS secretpassword".into(), "500")],
    ] {
        let mut peer = SmtpPeer::greeted_in_the_end(daemon.smtp).await;
        peer.command("EHLO client.test", "250").await;
        for (line, reply) in dialog {
            peer.command(line, reply).await;
        }
        SmtpPeer::connect(daemon.smtp).await.expect("421").await;
        peer.command("QUIT", "221").await;
    }
    // The log has the lines of the refusals.
    daemon.logged("smtp refused");
    let log = daemon.log();
    for secret in ["secret", &plain, &user, &password, &no_message] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    daemon.stop();
}

/// One session ends well, one breaks off within a message, and one sends a line that is too long.
async fn send(daemon: &Program) {
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.command("EHLO client.test", "250").await;
    // secretuser, secretpassword
    peer.command("AUTH PLAIN AHNlY3JldHVzZXIAc2VjcmV0cGFzc3dvcmQ=", "235").await;
    peer.deliver("secretbox@example.test", "From: secretfrom@a.test\r\nSubject: secretsubject\r\n\r\nsecretbody").await;
    peer.command("RCPT TO:<secretbox@example.test>", "503").await;
    peer.command("VRFY secretbox@example.test", "252").await;
    peer.command("SECRET secretcommand", "500").await;
    peer.command("MAIL FROM:<secretsender@sender.test>", "250").await;
    peer.command("RCPT TO:<secretother@secretdomain.test>", "550").await;
    peer.command("RCPT TO:<secretbroken", "501").await;
    peer.command("RCPT TO:<secretbox@example.test>", "250").await;
    peer.command("DATA", "354").await;
    peer.send(format!("Subject: secretsubject\r\n\r\n{}\r\n.\r\n", "secretbody\r\n".repeat(40_000))).await;
    peer.expect("552").await;
    peer.command("QUIT", "221").await;
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.begin_data("secretbox@example.test").await;
    peer.send("Subject: secretsubject\r\n\r\nsecretb").await;
    drop(peer);
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.send(format!("secretline {}\r\n", "x".repeat(5_000))).await;
    peer.expect("500").await;
    peer.command("QUIT", "221").await;
}

async fn read(daemon: &Program) {
    let inbox = http::inbox(daemon.http, "secretbox@example.test").await;
    let id = inbox["emails"][0]["id"].as_str().expect("an id").to_owned();
    for path in [
        format!("/api/mail/messages/{id}"),
        format!("/api/mail/messages/{id}/raw"),
        "/api/mail/messages?to=secretquery".to_owned(),
        "/api/mail/messages/secretid".to_owned(),
        "/secretpath".to_owned(),
    ] {
        http::get(daemon.http, &path).await;
        let request = http::client().get(format!("http://{}{path}", daemon.http)).header("x-secret", "secretfield");
        request.send().await.expect("an answer");
    }
    let url = format!("http://{}/api/mail/delete?to=secretbox@example.test", daemon.http);
    assert_eq!(http::client().delete(url).send().await.expect("an answer").status(), 200);
}

#[tokio::test]
async fn a_full_outbox_has_one_line_at_once_and_the_number_of_the_others_at_the_stop() {
    let dir = tempfile::tempdir().expect("directory");
    // Nothing listens there.
    let flags = ["--webhook-allow", "127.0.0.0/8", "--webhook-schedule", "1h", "--outbox-events", "1"];
    let daemon = Program::serve(dir.path(), &flags);
    let added = daemon.tempmail(&["webhook", "add", TO, "http://127.0.0.7:9/hook", "-o", "id"]).ok();
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    for _ in 0..4 {
        peer.deliver(TO, "Subject: s\r\n\r\n").await;
    }
    let said = lines(&daemon, DROPPED, 1).await;
    assert_eq!((said.len(), &said[0]["events"], &said[0]["level"]), (1, &json!(1), &json!("WARN")), "{said:?}");
    assert_eq!(said[0]["webhook"], added.stdout.trim());
    daemon.signal(Signal::TERM);
    let said = lines(&daemon, DROPPED, 2).await;
    assert_eq!(said[1]["events"], 2, "one waits: {said:?}");
}

#[tokio::test]
async fn a_proxy_that_is_not_trusted_is_warned_of_once() {
    let dir = tempfile::tempdir().expect("directory");
    let daemon = Program::serve(dir.path(), &[]);
    for field in ["x-forwarded-for", "forwarded", "x-forwarded-for"] {
        let request = http::client().get(format!("http://{}/healthz", daemon.http)).header(field, "192.0.2.1");
        assert_eq!(request.send().await.expect("an answer").status(), 200);
    }
    // By the time of this line all earlier ones have been read.
    SmtpPeer::greeted(daemon.smtp).await.command("QUIT", "221").await;
    ended(&daemon, 1).await;
    let warning = "a request came through a proxy, but no trusted-proxies are set";
    assert_eq!(lines(&daemon, warning, 1).await.len(), 1);
    daemon.stop();

    let daemon = Program::serve(dir.path(), &["--trusted-proxies", "192.0.2.0/24"]);
    let request = http::client().get(format!("http://{}/healthz", daemon.http)).header("forwarded", "for=192.0.2.1");
    assert_eq!(request.send().await.expect("an answer").status(), 200);
    SmtpPeer::greeted(daemon.smtp).await.command("QUIT", "221").await;
    ended(&daemon, 1).await;
    assert!(!daemon.log().contains(warning), "{}", daemon.log());
    daemon.stop();
}

#[tokio::test]
async fn a_store_that_is_full_says_so_and_what_is_needed_and_when_there_is_room_again() {
    let daemon = Program::fresh(&["--max-emails", "1"]);
    let mut peer = SmtpPeer::greeted(daemon.smtp).await;
    peer.deliver(TO, "Subject: s\r\n\r\n").await;
    let said = lines(&daemon, "the store is full", 1).await;
    assert_eq!(said[0]["level"], "WARN");
    assert_eq!(said[0]["shortage"], "1 messages are kept, as many as max-emails permits");
    peer.command("MAIL FROM:<a@b.example>", "452 4.3.1").await;
    let status = daemon.tempmail(&["status", "--json"]);
    assert!(status.stdout.contains(r#""cause":"storage_full""#), "{}", status.stdout);
    daemon.tempmail(&["delete", "--yes", TO]).ok();
    lines(&daemon, "the store has room again", 1).await;
    peer.deliver(TO, "Subject: s\r\n\r\n").await;
    daemon.stop();
}
