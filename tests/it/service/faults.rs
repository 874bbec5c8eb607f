//! Faults on purpose: rules in the settings and of a running daemon, with senders of our own.
//! Promise: it outlives the code below it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::command::{Outcome, outcome};
use crate::support::http;
use crate::support::program::{Program, refused, serve_command};
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::TestServer;
use crate::support::until::until;

const TO: &str = "hello@example.test";
const MAIL: &str = "MAIL FROM:<ann@sender.test>";
const RCPT: &str = "RCPT TO:<hello@example.test>";
/// Far longer than any test waits.
const LONG: &str = "delay 15m";

fn with(rules: &[&str]) -> String {
    format!("fault = {rules:?}\n")
}

async fn total(server: &TestServer) -> u64 {
    http::total(server.http(), TO).await
}

#[tokio::test]
async fn a_fault_at_the_end_stores_nothing_and_a_drop_says_nothing() {
    let server = TestServer::with(&with(&["end #1 550 5.6.0", "end #2 drop"])).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    for end in ["550 5.6.0", ""] {
        peer.begin_data(TO).await;
        peer.send("hi\r\n.\r\n").await;
        peer.expect(end).await;
        assert_eq!(total(&server).await, 0);
    }
    assert_eq!(peer.reply().await, "");
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "hi\r\n").await;
    assert_eq!(total(&server).await, 1);
    drop(peer);
    until("the end is counted", async || server.admin_get("/api/admin/status").await["smtp"]["ended"]["fault"] == 1)
        .await;
    let rules = server.admin_get("/api/admin/faults").await;
    let injected: Vec<_> = rules.as_array().expect("rules").iter().map(|rule| &rule["injected"]).collect();
    assert_eq!(injected, [1, 1], "{rules}");
    server.stop().await;
}

#[tokio::test]
async fn a_delay_lets_others_go_on_and_ends_when_the_service_stops() {
    let rules = [&format!("RCPT slow@* {LONG}")[..], &format!("end {LONG}")];
    let server = TestServer::with(&with(&rules)).await;
    let mut at_recipient = SmtpPeer::greeted(server.smtp()).await;
    // The earlier replies come before the delay.
    at_recipient.send(format!("EHLO client.test\r\n{MAIL}\r\nRCPT TO:<slow@example.test>\r\n")).await;
    at_recipient.expect("250").await;
    at_recipient.expect("250 2.1.0").await;
    at_recipient.expect_silence().await;
    let mut at_end = SmtpPeer::greeted(server.smtp()).await;
    at_end.begin_data(TO).await;
    at_end.send("hi\r\n.\r\n").await;
    at_end.expect_silence().await;
    let mut other = SmtpPeer::greeted(server.smtp()).await;
    other.begin_data(TO).await;
    assert_eq!(server.admin_get("/api/admin/status").await["smtp"]["connections"], 3, "delayed ones count");
    // At the end of its patience it would say nothing.
    let server = server.restart("").await;
    for mut delayed in [at_recipient, at_end] {
        delayed.expect("421 4.3.2").await;
        delayed.expect_closed().await;
    }
    assert_eq!(total(&server).await, 0, "what got no 250 is not there");
    server.stop().await;
}

#[tokio::test]
async fn a_delay_is_over_in_time_and_the_message_is_stored() {
    let server = TestServer::with(&with(&["end delay 300ms", "banner delay 200ms", "RCPT #1 delay 100ms 450"])).await;
    let begun = Instant::now();
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    assert!(begun.elapsed() >= Duration::from_millis(200));
    peer.command("EHLO client.test", "250").await;
    peer.command(MAIL, "250").await;
    peer.command(RCPT, "450 4.0.0").await;
    assert!(begun.elapsed() >= Duration::from_millis(300));
    peer.command(RCPT, "250").await;
    peer.command("DATA", "354").await;
    peer.send("hi\r\n.\r\n").await;
    peer.expect("250 2.0.0 Stored").await;
    assert!(begun.elapsed() >= Duration::from_millis(600));
    assert_eq!(total(&server).await, 1);
    server.stop().await;
}

#[tokio::test]
async fn a_delay_may_be_longer_than_the_timeout_of_a_client() {
    let server = TestServer::with(&format!("{}smtp-timeout = '1s'", with(&["DATA delay 1200ms"]))).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    // The clock of the server shows the time of the delay when that is over.
    peer.command("EHLO client.test", "250").await;
    peer.command(MAIL, "250").await;
    peer.command(RCPT, "250").await;
    peer.send("BDAT 4 LAST\r\n").await;
    until("the delay has begun", async || server.admin_get("/api/admin/faults").await[0]["injected"] == 1).await;
    server.clock.advance(Duration::from_millis(1200));
    peer.send("hi\r\n").await;
    peer.expect("250 2.0.0 Stored").await;
    assert_eq!(total(&server).await, 1);
    server.stop().await;
}

#[tokio::test]
async fn a_slow_reply_takes_its_time_and_comes_whole() {
    let server = TestServer::with(&with(&["end slow 50/s", "EHLO #2 slow 1/s"])).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.begin_data(TO).await;
    let begun = Instant::now();
    peer.send("hi\r\n.\r\n").await;
    peer.expect("250 2.0.0 Stored").await;
    // 18 octets with CRLF.
    assert!(begun.elapsed() >= Duration::from_millis(17 * 20), "{:?}", begun.elapsed());
    assert_eq!(total(&server).await, 1);
    // A stop sends the rest at once.
    peer.send("EHLO client.test\r\n").await;
    until("the slow reply has begun", async || server.admin_get("/api/admin/faults").await[1]["injected"] == 1).await;
    let stopping = tokio::spawn(server.stop());
    peer.expect("250-").await;
    peer.expect("421 4.3.2").await;
    peer.expect_closed().await;
    stopping.await.expect("an end");
}

#[tokio::test]
async fn starttls_breaks_off() {
    let server =
        TestServer::with(&format!("{}tls-cert = 'self-signed'", with(&["TLS #1 drop", "TLS #2 454 4.7.0"]))).await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.command("STARTTLS", "220").await;
    peer.expect_closed().await;
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.command("STARTTLS", "454 4.7.0").await;
    peer.command("STARTTLS", "220").await;
    drop(peer);
    server.stop().await;
}

#[tokio::test]
async fn rules_are_added_listed_and_cleared_while_the_daemon_runs() {
    let server = TestServer::with(&with(&["EHLO every 2 550"])).await;
    let (status, added) = server.admin_post("/api/admin/faults", &json!({ "rule": "MAIL #1 421 4.3.2" })).await;
    let expected = json!({ "id": 2, "rule": "MAIL #1 421 4.3.2", "source": "request", "matched": 0, "injected": 0 });
    assert_eq!((status, added), (201, expected));
    let mut peer = SmtpPeer::greeted(server.smtp()).await;
    peer.command("EHLO client.test", "250").await;
    peer.command("EHLO client.test", "550").await;
    peer.command(MAIL, "421 4.3.2").await;
    peer.expect_closed().await;
    let listed = server.admin_get("/api/admin/faults").await;
    let first = json!({ "id": 1, "rule": "EHLO every 2 550", "source": "settings", "matched": 2, "injected": 1 });
    assert_eq!((&listed[0], &listed[1]["injected"]), (&first, &json!(1)));

    let added = server.tempmail(&["fault", "add", "RCPT hello@* 450, later"]).await;
    assert_eq!((added.code, added.stdout.as_str()), (Some(2), ""), "a rule is read before it is sent: {added:?}");
    let added = server.tempmail(&["fault", "add", "RCPT hello@* 450 Later, please"]).await;
    assert_eq!((added.code, added.stdout.as_str()), (Some(0), "3\n"), "{added:?}");
    let list = server.tempmail(&["fault", "ls"]).await;
    assert!(list.stdout.contains("3\tRCPT hello@* 450 Later, please\trequest\t0\t0\n"), "{list:?}");
    let cleared = server.tempmail(&["fault", "clear", "1"]).await;
    assert_eq!((cleared.code, cleared.stdout.as_str()), (Some(0), "1\n"), "{cleared:?}");
    assert_eq!(server.tempmail(&["fault", "rm", "1"]).await.code, Some(3));
    assert_eq!(server.tempmail(&["fault", "clear"]).await.stdout, "2\n");
    assert_eq!(server.admin_get("/api/admin/faults").await, json!([]));
    SmtpPeer::greeted(server.smtp()).await.deliver(TO, "hi\r\n").await;

    let server = server.restart(&with(&["EHLO every 2 550"])).await;
    let listed = server.admin_get("/api/admin/faults").await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "those of the settings alone are back: {listed}");
    server.stop().await;
}

#[tokio::test]
async fn what_is_no_rule_and_what_is_one_too_many_is_refused() {
    let server = TestServer::start().await;
    let problem = async |body: Value| {
        let (status, problem) = server.admin_post("/api/admin/faults", &body).await;
        (status, problem["code"].as_str().unwrap_or_default().to_owned(), problem["detail"].to_string())
    };
    let (status, code, detail) = problem(json!({ "rule": "RCPT 250" })).await;
    assert_eq!((status, code.as_str()), (400, "parameter_invalid"));
    assert!(detail.contains("'RCPT 250'") && detail.contains("400 to 599"), "{detail}");
    assert_eq!(problem(json!({ "rule": 1 })).await.1, "parameter_invalid");
    assert_eq!(problem(json!({})).await.1, "parameter_missing");
    for _ in 0..100 {
        assert_eq!(problem(json!({ "rule": "TLS drop" })).await.0, 201);
    }
    assert_eq!(problem(json!({ "rule": "TLS drop" })).await.1, "limit_reached");
    let public = http::get(server.http(), "/api/admin/faults").await;
    assert_eq!((public.0, public.1["code"].as_str()), (401, Some("token_required")));
    server.stop().await;
}

#[tokio::test]
async fn strangers_meet_no_faults_unless_that_is_permitted() {
    let rule = json!({ "rule": "RCPT 451" });
    for settings in ["proxy-from = ['192.0.2.1/32']", "smtp-listen = ['127.0.0.1:0', '0.0.0.0:0']"] {
        let server = TestServer::with(settings).await;
        let (status, problem) = server.admin_post("/api/admin/faults", &rule).await;
        assert_eq!((status, problem["code"].as_str()), (409, Some("conflict")), "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("trusted-network")), "{problem}");
        server.stop().await;
    }
    let server = TestServer::with("proxy-from = ['192.0.2.1/32']\ntrusted-network = true").await;
    assert_eq!(server.admin_post("/api/admin/faults", &rule).await.0, 201);
    server.stop().await;
}

#[test]
fn a_bad_rule_and_an_exposed_one_are_exit_78() {
    let dir = tempfile::tempdir().expect("directory");
    for (args, words) in [
        (&["--fault", "RCPT 250"][..], &["--fault: 'RCPT 250'", "400 to 599", "STAGE [PATTERN]"][..]),
        (
            &["--fault", "RCPT 451", "--smtp-listen", "0.0.0.0:0"],
            &["--fault: faults are for tests of senders, but", "0.0.0.0:0"],
        ),
        (
            &["--fault", "RCPT 451", "--lmtp-listen", "0.0.0.0:0"],
            &["--fault: faults are for tests of senders, but", "0.0.0.0:0"],
        ),
        (
            &["--fault", "RCPT 451", "--proxy-from", "192.0.2.1"],
            &["--fault: faults are for tests of senders, but", "proxy-from"],
        ),
    ] {
        let Outcome { code, stderr: said, .. } = refused(dir.path(), args);
        assert_eq!(code, Some(78), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    let said = outcome(serve_command(dir.path()).env("TEMPMAIL_FAULT", "RCPT")).stderr;
    assert!(said.contains("TEMPMAIL_FAULT: 'RCPT': it does nothing"), "{said}");
}

#[test]
fn without_a_daemon_there_are_no_rules() {
    let dir = tempfile::tempdir().expect("directory");
    Program::serve(dir.path(), &[]).stop();
    let outcome = crate::support::program::local(dir.path(), &["fault", "list"]);
    assert_eq!(outcome.code, Some(6), "{outcome:?}");
    assert!(outcome.stderr.contains("no daemon runs"), "{outcome:?}");
}
