//! `tempmail domain`
//! Promise: it outlives the code below it.

use super::service::{Service, domain};

#[test]
fn a_domain_is_added_once_and_then_checked_again() {
    let service = Service::start();
    let first = service.run(&["domain", "add", "Example.ORG.", "--owner", "Ann", "--email", "ann@example.org"]).ok();
    assert_eq!(first.stdout, "example.org\tactive\t2023-11-14T22:13:20Z\t\t\n");
    assert!(first.stderr.contains("from now on"), "{}", first.stderr);
    let again = service.run(&["domain", "add", "example.org", "--json"]);
    assert_eq!(again.json(), domain("example.org", "active"));
    assert!(again.stderr.contains("checked again"), "{}", again.stderr);
}

#[test]
fn a_domain_that_points_elsewhere_gets_the_record_to_create() {
    let outcome = Service::start().run(&["domain", "add", "elsewhere.org"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(8), ""));
    assert!(outcome.stderr.contains("\nelsewhere.org. IN MX 10 mx.tempmail.example.\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("; elsewhere.org. IN MX 5 mail.other.example.\n"), "{}", outcome.stderr);
}

#[test]
fn without_an_mx_host_it_says_which_setting_is_missing() {
    let service = Service::start();
    service.contents().has_mx_host = false;
    let outcome = service.run(&["domain", "add", "example.org"]);
    assert_eq!(outcome.code, Some(6));
    assert!(outcome.stderr.contains("--mx-host"), "{}", outcome.stderr);
}

#[test]
fn skipping_the_check_is_the_administrators() {
    let service = Service::start();
    assert_eq!(service.run(&["domain", "add", "elsewhere.org", "--skip-dns-check"]).code, Some(4));
    let local = service.run_local(&["domain", "add", "elsewhere.org", "--skip-dns-check", "-o", "id"]);
    assert_eq!((local.code, local.stdout.as_str()), (Some(0), "elsewhere.org\n"), "{}", local.stderr);
}

#[test]
fn a_check_prints_records_for_a_zone_file() {
    let service = Service::start();
    let no = service.run(&["domain", "check-dns", "elsewhere.org"]);
    assert_eq!(no.code, Some(8));
    assert_eq!(
        no.stdout,
        "; the MX record points elsewhere\n; expected:\nelsewhere.org. IN MX 10 mx.tempmail.example.\n; found:\n\
         ; elsewhere.org. IN MX 5 mail.other.example.\n"
    );
    let yes = service.run(&["domain", "check-dns", "example.org", "--json"]).ok();
    assert_eq!(yes.json()["ok"], true);
}

#[test]
fn domains_are_listed() {
    let service = Service::start();
    service.contents().domains = vec![domain("a.test", "active"), domain("b.test", "deactivated")];
    let line = |name, status| format!("{name}\t{status}\t2023-11-14T22:13:20Z\t\t\n");
    assert_eq!(service.run(&["domain", "list"]).stdout, line("a.test", "active") + &line("b.test", "deactivated"));
    assert_eq!(service.run(&["domain", "ls", "--active"]).stdout, "a.test\n");
    assert_eq!(service.run(&["domain", "ls", "--active", "--json"]).stdout, "[\"a.test\"]\n");
    service.contents().requests.clear();
    service.run_local(&["domain", "list"]);
    assert_eq!(service.contents().requests, ["GET /api/admin/domains"]);
}

#[test]
fn a_domain_is_removed_unless_it_is_fixed_or_unknown() {
    let service = Service::start();
    service.contents().domains = vec![domain("a.test", "active")];
    assert_eq!(service.run(&["domain", "remove", "a.test", "--yes"]).code, Some(4));
    let removed = service.run_local(&["domain", "rm", "a.test", "--yes"]);
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(0), "a.test\t0\n"), "{}", removed.stderr);
    assert_eq!(service.run_local(&["domain", "remove", "a.test", "--yes"]).code, Some(3));
    let fixed = service.run_local(&["domain", "remove", "fixed.test", "--yes"]);
    assert_eq!(fixed.code, Some(5));
    assert!(fixed.stderr.contains("--domain"), "{}", fixed.stderr);
}

#[test]
fn a_round_that_was_held_back_names_the_way_on() {
    let service = Service::start();
    let round = service.run_local(&["domain", "verify"]).ok();
    assert_eq!(round.stdout, "checked\t10\ndeactivated\t0\nreactivated\t0\nfailed\t0\nheldBack\t9\n");
    assert!(round.stderr.contains("--force"), "{}", round.stderr);
    let forced = service.run_local(&["domain", "verify", "a.test", "--force"]);
    assert_eq!(forced.stderr, "");
    let last = service.contents().requests.last().cloned();
    assert_eq!(last.as_deref(), Some("POST /api/admin/domains/verify?domain=a.test&force=true"));
}
