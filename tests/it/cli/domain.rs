//! `tempmail domain`
//! Promise: it outlives the code below it.

use serde_json::json;

use super::{Service, domain, on_terminal};
use crate::support::dns_zone::DnsZone;
use crate::support::front::Answer;

const MX_HOST: &str = "mx.tempmail.example";

/// A service, and a zone in which `example.org` points at it and `elsewhere.org` does not.
async fn service() -> (Service, DnsZone) {
    let zone = DnsZone::start().await;
    zone.set_addresses(MX_HOST, &["192.0.2.1"]);
    zone.set_mx("example.org", &[(10, MX_HOST)]);
    zone.set_mx("elsewhere.org", &[(5, "mail.other.example")]);
    let settings = format!("mx-host = '{MX_HOST}'\nresolver = ['{}']\ndomain = ['fixed.test']\n", zone.addr());
    (Service::with(&settings).await, zone)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_is_added_once_and_then_checked_again() {
    let (service, _zone) = service().await;
    let add = ["domain", "add", "Example.ORG.", "--owner", "Ann", "--email", "ann@example.org"];
    let first = service.run(&add).await.ok();
    let (at, result) = ("2023-11-14T22:13:20Z", "The MX record of example.org points at mx.tempmail.example");
    assert_eq!(first.stdout, format!("example.org\tactive\t{at}\t{at}\t{result}\n"));
    assert!(first.stderr.contains("from now on"), "{}", first.stderr);
    let again = service.run(&["domain", "add", "example.org", "--json"]).await;
    let mut checked = domain("example.org", "active");
    checked["lastCheckedAt"] = checked["addedAt"].clone();
    checked["lastCheckResult"] = result.into();
    assert_eq!(again.json(), checked);
    assert!(again.stderr.contains("checked again"), "{}", again.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_that_points_elsewhere_gets_the_record_to_create() {
    let (service, _zone) = service().await;
    let outcome = service.run(&["domain", "add", "elsewhere.org"]).await;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""));
    assert!(outcome.stderr.contains("\nelsewhere.org. IN MX 10 mx.tempmail.example.\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("; elsewhere.org. IN MX 5 mail.other.example.\n"), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_mx_host_it_says_which_setting_is_missing() {
    let outcome = Service::start().await.run(&["domain", "add", "example.org"]).await;
    assert_eq!(outcome.code, Some(6));
    assert!(outcome.stderr.contains("--mx-host"), "{}", outcome.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn skipping_the_check_is_the_administrators() {
    let (service, _zone) = service().await;
    assert_eq!(service.run(&["domain", "add", "elsewhere.org", "--skip-dns-check"]).await.code, Some(4));
    let local = service.run_local(&["domain", "add", "elsewhere.org", "--skip-dns-check", "-o", "id"]).await;
    assert_eq!((local.code, local.stdout.as_str()), (Some(0), "elsewhere.org\n"), "{}", local.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_prints_records_for_a_zone_file() {
    let (service, _zone) = service().await;
    let no = service.run(&["domain", "check-dns", "elsewhere.org"]).await;
    assert_eq!(no.code, Some(8));
    assert_eq!(
        no.stdout,
        "; The MX record of elsewhere.org points at mail.other.example, not at mx.tempmail.example.\n; Replace the MX \
         records of the domain with: elsewhere.org. IN MX 10 mx.tempmail.example.\n; expected:\n\
         elsewhere.org. IN MX 10 mx.tempmail.example.\n; found:\n; elsewhere.org. IN MX 5 mail.other.example.\n\
         ; mail.other.example is not at our address\n"
    );
    let yes = service.run(&["domain", "check-dns", "example.org", "--json"]).await.ok();
    assert_eq!(yes.json()["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn domains_are_listed() {
    let service = Service::start().await;
    let domains = json!([domain("a.test", "active"), domain("b.test", "deactivated")]);
    service.answers("GET /api/domains", Answer::json(&domains));
    service.answers("GET /api/domains/active", Answer::json(&json!(["a.test"])));
    let line = |name, status| format!("{name}\t{status}\t2023-11-14T22:13:20Z\t\t\n");
    let listed = service.run(&["domain", "list"]).await;
    assert_eq!(listed.stdout, line("a.test", "active") + &line("b.test", "deactivated"));
    assert_eq!(service.run(&["domain", "ls", "--active"]).await.stdout, "a.test\n");
    assert_eq!(service.run(&["domain", "ls", "--active", "--json"]).await.stdout, "[\"a.test\"]\n");
    service.noted().requests.clear();
    service.run_local(&["domain", "list"]).await.ok();
    assert_eq!(service.noted().requests, ["GET /api/admin/domains"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_is_removed_unless_it_is_fixed_or_unknown() {
    let (service, _zone) = service().await;
    let unchecked = service.run_local(&["domain", "add", "a.test", "--skip-dns-check"]).await.ok();
    assert_eq!(unchecked.stdout, "a.test\tactive\t2023-11-14T22:13:20Z\t\t\n");
    assert_eq!(service.run(&["domain", "remove", "a.test", "--yes"]).await.code, Some(4));
    let removed = service.run_local(&["domain", "rm", "a.test", "--yes"]).await;
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(0), "a.test\t0\n"), "{}", removed.stderr);
    assert_eq!(service.run_local(&["domain", "remove", "a.test", "--yes"]).await.code, Some(3));
    let fixed = service.run_local(&["domain", "remove", "fixed.test", "--yes"]).await;
    assert_eq!(fixed.code, Some(5));
    assert!(fixed.stderr.contains("--domain"), "{}", fixed.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_says_how_many_private_inboxes_go() {
    let (service, _zone) = service().await;
    service.run_local(&["domain", "add", "a.test", "--skip-dns-check"]).await.ok();
    for address in ["ann@a.test", "bob@a.test", "ann@fixed.test"] {
        service.run_local(&["new", "--private", address]).await.ok();
    }
    let dry = service.run_local(&["domain", "rm", "a.test", "--dry-run", "--json"]).await.ok();
    assert_eq!(dry.json(), json!({ "wouldDelete": 1, "leases": 2 }));
    assert!(dry.stderr.contains("private inboxes that go along, with their mail: 2"), "{dry:?}");
    let no = on_terminal(&service, "n\n", &["domain", "rm", "a.test"]).await;
    assert!(no.text.contains("Private inboxes that go along, with their mail: 2."), "{no:?}");
    let removed = service.run_local(&["domain", "rm", "a.test", "--yes", "--json"]).await.ok();
    assert_eq!(removed.json(), json!({ "deleted": 1, "leases": 2 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_was_held_back_names_the_way_on() {
    let service = Service::start().await;
    let round = |deactivated: u64, held_back: u64| {
        let answer = json!({
            "checked": 10, "deactivated": deactivated, "reactivated": 0, "failed": 0, "heldBack": held_back,
        });
        Answer::json(&answer)
    };
    service.answers_in_turn("POST /api/admin/domains/verify", vec![round(0, 9), round(9, 0)]);
    let first = service.run_local(&["domain", "verify"]).await.ok();
    assert_eq!(first.stdout, "checked\t10\ndeactivated\t0\nreactivated\t0\nfailed\t0\nheldBack\t9\n");
    assert!(first.stderr.contains("--force"), "{}", first.stderr);
    let forced = service.run_local(&["domain", "verify", "a.test", "--force"]).await;
    assert_eq!(forced.stderr, "");
    let last = service.noted().requests.last().cloned();
    assert_eq!(last.as_deref(), Some("POST /api/admin/domains/verify?domain=a.test&force=true"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_settings_fix_cannot_go() {
    let service = Service::start().await;
    for flag in ["--dry-run", "--yes"] {
        let refused = service.run_local(&["domain", "rm", "example.test", flag]).await;
        assert!(refused.code == Some(5) && refused.stderr.contains("settings"), "{refused:?}");
    }
}
