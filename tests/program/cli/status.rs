//! `tempmail status`
//! Promise: it outlives the code below it.

use serde_json::Value;

use super::service::Service;

#[test]
fn the_administrator_sees_everything() {
    let service = Service::start();
    let outcome = service.run_local(&["status"]).ok();
    assert!(outcome.stdout.contains("retentionSeconds\t7200\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("store.emails\t3\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("startedAt\t2023-11-14T22:13:20Z\n"), "{}", outcome.stdout);
    let json: Value = service.run_local(&["status", "--json"]).json();
    assert_eq!(json["maxMessageOctets"], 307_200);
}

#[test]
fn the_public_sees_whether_it_is_ready() {
    let service = Service::start();
    let outcome = service.run(&["status"]).ok();
    assert_eq!(outcome.stdout, format!("domains.active\t0\nready\ttrue\nserver\t{}\n", service.url()));
}
