//! The end of a lease: nothing of it is left, and nothing of it becomes public.
//! Promise: it outlives the code below it.

use std::sync::Arc;

use serde_json::json;
use tempmail::store::disk::{Directory, Disk};
use tempmail::store::{StoreOptions, backup, salvage};

use super::{ANN, DAY, HOUR, NOBODY, holder, lease_of, plain, rcpt, subjects, take, try_take, until_clear};
use crate::store::locked_directory;
use crate::suites::options;
use crate::support::answer::Answer;
use crate::support::smtp_peer::SmtpPeer;
use crate::support::test_server::{START, TestServer};

#[tokio::test]
async fn mail_and_webhooks_go_at_the_end() {
    let server = TestServer::with("webhook-allow = ['127.0.0.0/8']").await;
    let key = take(&server, ANN, json!({ "forSeconds": 3600 })).await;
    server.send(ANN, "secret", "").await;
    let hook = json!({ "recipient": ANN, "url": "http://127.0.0.1:9/hook" });
    let registered = Answer::to(server.request("POST", "/api/webhooks").bearer_auth(&key).json(&hook)).await;
    assert_eq!(registered.status, 201);
    server.clock.advance(HOUR);
    assert_eq!(subjects(&server, ANN, None).await, [""; 0], "nothing becomes public in the moment of the end");
    assert_eq!(holder(&server, "GET", "", &key, plain()).await, 401);
    until_clear(&server).await;
    assert_eq!(rcpt(&server, "Ann+x@example.test").await, NOBODY);
    server.stop().await;
}

#[tokio::test]
async fn an_inbox_that_nobody_reads_ends_early() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "idleSeconds": 600 })).await;
    for _ in 0..5 {
        server.clock.advance(HOUR / 10);
        assert_eq!(subjects(&server, ANN, Some(&key)).await, [""; 0]);
        // What others ask about it is no reading.
        server.send(ANN, "hi", "").await;
        assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
        let own = Answer::to(server.request("DELETE", "/api/mail/delete").query(&[("to", ANN)]).bearer_auth(&key));
        assert_eq!(own.await.status, 200);
    }
    server.clock.advance(HOUR / 6);
    assert_eq!(holder(&server, "GET", "", &key, plain()).await, 401);
    until_clear(&server).await;
    server.stop().await;
}

/// What was accepted at RCPT arrives in the moment before the end and goes with it, or is refused.
#[tokio::test]
async fn mail_on_its_way_at_the_end_reaches_nobody() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, plain()).await;
    let mut alone = SmtpPeer::greeted(server.smtp()).await;
    alone.begin_data(ANN).await;
    let mut shared = SmtpPeer::greeted(server.smtp()).await;
    let [ann, bob] = [ANN, "bob@example.test"].map(|address| format!("RCPT TO:<{address}>"));
    let dialog =
        [("EHLO client.test", "250"), ("MAIL FROM:<>", "250"), (&*ann, "250"), (&*bob, "250"), ("DATA", "354")];
    shared.dialog(&dialog).await;
    assert_eq!(holder(&server, "DELETE", ANN, &key, plain()).await, 200);
    alone.command("Subject: late\r\n\r\n.", NOBODY).await;
    shared.command("Subject: late\r\n\r\n.", "250").await;
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    assert_eq!(subjects(&server, "bob@example.test", None).await, ["late"]);
    assert_eq!(server.stats().await.emails, 1);
    server.stop().await;
}

#[tokio::test]
async fn an_end_that_was_interrupted_is_finished_at_the_next_start() {
    let server = TestServer::start().await;
    take(&server, ANN, json!({ "forSeconds": 3600 })).await;
    server.send(ANN, "secret", "").await;
    let clock = Arc::clone(&server.clock);
    let dir = server.stop().await;
    clock.advance(DAY);
    let server = TestServer::again(dir, clock, "").await;
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    until_clear(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn the_removal_of_a_domain_ends_its_leases() {
    let server = TestServer::start().await;
    let own = json!({ "domain": "own.test", "skipDnsCheck": true });
    assert_eq!(server.admin_post("/api/admin/domains", &own).await.0, 201);
    let key = take(&server, "ann@own.test", plain()).await;
    let other = take(&server, ANN, plain()).await;
    let random = try_take(&server, &json!({ "domain": "own.test" })).await.1;
    for address in ["ann@own.test", random["address"].as_str().expect("one"), "public@own.test", ANN] {
        server.send(address, "hi", "").await;
    }
    let hook = json!({ "recipient": "ann@own.test", "url": "https://hooks.example/" });
    let registered = Answer::to(server.request("POST", "/api/webhooks").bearer_auth(&key).json(&hook)).await;
    assert_eq!(registered.status, 201);
    let private = server.admin_get("/api/mail/messages?to=ann@own.test").await["emails"][0]["id"].clone();
    let private = format!("/api/mail/messages/{}", private.as_str().expect("an id"));
    assert_eq!(server.admin_get("/api/admin/domains?domain=own.test").await[0]["leases"], 2);
    assert_eq!(Answer::to(server.admin("GET", &private)).await.status, 200);

    let removed = Answer::to(server.admin("DELETE", "/api/admin/domains?domain=own.test")).await.json();
    assert_eq!(removed, json!({ "deleted": 1, "leases": 2 }));
    assert_eq!(holder(&server, "GET", "", &key, plain()).await, 401);
    assert_eq!(holder(&server, "GET", "", &other, plain()).await, 200);
    // The administrator does not find it either.
    server.until_stats(|stats| (stats.emails, stats.leases, stats.webhooks) == (2, 1, 0)).await;
    assert_eq!(Answer::to(server.admin("GET", &private)).await.status, 404);
    assert_eq!(subjects(&server, "public@own.test", None).await, ["hi"], "other mail stays");
    assert_eq!(subjects(&server, ANN, Some(&other)).await, ["hi"]);
    assert_eq!(server.admin_post("/api/admin/domains", &own).await.0, 201);
    assert_eq!(subjects(&server, "ann@own.test", None).await, [""; 0]);
    assert_eq!(try_take(&server, &json!({ "address": "ann@own.test" })).await.0, 409, "it rests");
    server.stop().await;
}

#[tokio::test]
async fn a_salvage_keeps_leases_and_their_mail() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "messages": 9 })).await;
    server.send(ANN, "secret", "").await;
    let clock = Arc::clone(&server.clock);
    let dir = server.stop().await;
    let directory = locked_directory(dir.path());
    let options = StoreOptions { retention: None, ..options() };
    let salvaged = salvage(Arc::clone(&directory), &options, START, &mut |_, _| {}).expect("salvage");
    assert_eq!((salvaged.copied.emails, salvaged.copied.leases), (1, 1));
    drop(directory);
    let server = TestServer::again(dir, clock, "").await;
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["secret"]);
    server.send(ANN, "later", "").await;
    assert_eq!(lease_of(&server, &key).await["messagesLeft"], 7);
    server.stop().await;
}

#[tokio::test]
async fn a_backup_has_leases_and_their_mail() {
    let server = TestServer::start().await;
    let key = take(&server, ANN, json!({ "keepSeconds": 86_400 })).await;
    server.send(ANN, "secret", "").await;
    let octets = Answer::to(server.admin("GET", "/api/admin/backup")).await.body;
    let clock = Arc::clone(&server.clock);
    server.stop().await;
    let dir = tempfile::tempdir().expect("directory");
    let disk: Arc<dyn Disk> = Arc::new(Directory::lock(dir.path()).expect("lock"));
    let options = StoreOptions { retention: None, ..options() };
    let counts = backup::restore(&mut &*octets, &disk, &options, true, &mut |_| {}).expect("restore");
    assert_eq!((counts.emails, counts.leases), (1, 1));
    drop(disk);
    let server = TestServer::again(dir, clock, "").await;
    server.clock.advance(12 * HOUR);
    assert_eq!(subjects(&server, ANN, Some(&key)).await, ["secret"], "it lives as its inbox said");
    assert_eq!(subjects(&server, ANN, None).await, [""; 0]);
    server.stop().await;
}
