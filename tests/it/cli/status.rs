//! `tempmail status`
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{Service, UNKNOWN};
use crate::support::front::Answer;

#[tokio::test(flavor = "multi_thread")]
async fn the_administrator_sees_everything() {
    let service = Service::with_mails(&["a", "b", "c"]).await;
    let outcome = service.run_local(&["status"]).await.ok();
    assert!(outcome.stdout.contains("retentionSeconds\t7200\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("store.emails\t3\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("startedAt\t2023-11-14T22:13:20Z\n"), "{}", outcome.stdout);
    let json = service.run_local(&["status", "--json"]).await.json();
    assert_eq!(json["maxMessageOctets"], 307_200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_cluster_it_says_who_lives_and_how_fast_it_answers() {
    let service = Service::start().await;
    let mut status = service.server.admin_get("/api/admin/status").await;
    status["cluster"] = json!({
        "keyspace": "mail", "node": UNKNOWN, "livingNodes": 3, "leads": true, "answerMicros": 4_200,
    });
    service.answers("GET /api/admin/status", Answer::json(&status));
    let brief = service.run_local(&["status"]).await.ok().stdout;
    assert!(brief.contains("cluster.keyspace\tmail\ncluster.livingNodes\t3\ncluster.leads\ttrue\n"), "{brief}");
    let all = service.run_local(&["status", "--all"]).await.ok().stdout;
    assert!(all.contains("cluster.answerMicros\t4200\n"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_sees_whether_it_is_ready() {
    let service = Service::with("mx-host = 'mx.example.net'").await;
    let outcome = service.run(&["status"]).await.ok();
    assert_eq!(outcome.stdout, format!("domains.active\t0\nready\ttrue\nserver\t{}\n", service.url()));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_whole_on_a_narrow_terminal() {
    let service = Service::with("limit-exempt = ['192.0.2.0/24', '198.51.100.0/24', '2001:db8::/32']").await;
    let line = service.local_line(&["config", "show", "--origin"]);
    let screen = tokio::task::spawn_blocking(|| line.on_terminal(40)).await.expect("the command");
    // The rows of a cell, which is broken where its line is full.
    let mut settings = String::new();
    for line in screen.text.lines() {
        settings.extend(line.chars().take_while(|c| *c != ' '));
    }
    assert!(settings.contains("max-messages-per-mailbox") && settings.contains("webhook-schedule"), "{}", screen.text);
    assert!(!screen.text.contains('…'), "{}", screen.text);
    assert!(screen.text.lines().all(|line| line.chars().count() <= 40), "{}", screen.text);
}
