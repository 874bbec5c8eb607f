//! `tempmail status`
//! Promise: it outlives the code below it.

use super::Service;

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
async fn the_public_sees_whether_it_is_ready() {
    let service = Service::with("mx-host = 'mx.example.net'").await;
    let outcome = service.run(&["status"]).await.ok();
    assert_eq!(outcome.stdout, format!("domains.active\t0\nready\ttrue\nserver\t{}\n", service.url()));
}
