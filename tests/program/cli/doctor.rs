//! `tempmail doctor`
//! Promise: it outlives the code below it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rcgen::KeyPair;
use rustix::process::Signal;
use serde_json::Value;

use super::Outcome;
use crate::support::certificates::Pair;
use crate::support::dns_zone::DnsZone;
use crate::support::files::of_another_user;
use crate::support::program::{Program, local, local_with};

const DOMAIN: &str = "inbox.example.org";
const MX_HOST: &str = "mx.example.org";

/// A zone in which everything is right.
async fn zone() -> DnsZone {
    let zone = DnsZone::start().await;
    zone.set_addresses(MX_HOST, &["127.0.0.1"]);
    zone.set_mx(DOMAIN, &[(10, MX_HOST)]);
    zone
}

/// A daemon that asks this zone.
fn serve(dir: &Path, zone: &DnsZone, args: &[&str]) -> Program {
    let resolver = zone.addr().to_string();
    let own = ["--mx-host", MX_HOST, "--resolver", &resolver];
    Program::serve(dir, &[&own, args].concat())
}

/// The findings of one check, of `tempmail doctor --json`.
fn of<'a>(findings: &'a Value, check: &str) -> Vec<&'a Value> {
    let all = findings["findings"].as_array().expect("findings");
    all.iter().filter(|finding| finding["check"] == check).collect()
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

/// What `tempmail doctor` says of a running daemon, which must end with 8 for this check alone.
fn failure(binary: &Program, check: &str) -> String {
    let outcome = binary.tempmail(&["doctor", "--json"]);
    assert_eq!(outcome.code, Some(8), "{outcome:?}");
    let findings = json(&outcome);
    let all = findings["findings"].as_array().expect("findings");
    let failed: Vec<_> = all.iter().filter(|finding| finding["verdict"] == "failure").collect();
    assert_eq!(failed.iter().map(|finding| &finding["check"]).collect::<Vec<_>>(), [check], "{findings:#}");
    format!("{}; {}", failed[0]["found"].as_str().expect("text"), failed[0]["advice"].as_str().expect("advice"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_daemon_has_only_good_lines() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &["--tls-cert=self-signed", "--hostname", MX_HOST, "--domain", "fixed.test"]);
    binary.tempmail(&["domain", "add", DOMAIN]).ok();
    let files = || {
        let entries = fs::read_dir(dir.path()).expect("list").map(|entry| entry.expect("an entry").file_name());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let before = files();
    let outcome = binary.tempmail(&["doctor", "--json"]).ok();
    assert_eq!(files(), before);
    let findings = json(&outcome);
    assert_eq!(findings["ok"], true);
    for finding in findings["findings"].as_array().expect("findings") {
        // How much room a machine of tests has, and how busy its disk is, is nothing that the test decides.
        if finding["check"] != "space" && finding["check"] != "disk" {
            assert_eq!(finding["verdict"], "ok", "{finding}");
            assert!(finding["advice"].is_null(), "{finding}");
        }
    }
    for (check, lines) in [
        ("settings", 1),
        ("daemon", 1),
        ("version", 1),
        ("listener", 2),
        ("data-dir", 1),
        ("space", 1),
        ("disk", 1),
        ("resolver", 1),
        ("mx-host", 1),
        ("domain", 2),
        ("certificate", 1),
    ] {
        assert_eq!(of(&findings, check).len(), lines, "{check} in {findings:#}");
    }
    let lines = binary.tempmail(&["doctor"]).stdout;
    assert!(lines.lines().all(|line| line.split('\t').count() == 4), "{lines}");
    assert!(lines.contains("ok\tdomain\tThe MX record of inbox.example.org points at mx.example.org\t\n"), "{lines}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_a_domain_is_told_how_to_get_one() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &[]);
    let findings = json(&binary.tempmail(&["doctor", "--json"]).ok());
    let domain = of(&findings, "domain")[0];
    assert_eq!(
        (&domain["verdict"], &domain["found"]),
        (&"warning".into(), &"there is none, so no mail is received".into())
    );
    assert!(domain["advice"].as_str().is_some_and(|text| text.contains("`tempmail domain add DOMAIN`")), "{domain}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_that_others_may_enter_is_a_failure() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &[]);
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("chmod");
    let said = failure(&binary, "data-dir");
    assert!(said.contains("has mode 755: other users may look into it; run chmod 700 /"), "{said}");
    let mode = fs::metadata(dir.path()).expect("metadata").permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "it has changed something");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_is_a_failure() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let tls = tempfile::tempdir().expect("directory");
    let files = Pair::until(KeyPair::generate().expect("a key"), 2020).write(tls.path());
    let (cert, key) = (files.certificate.display().to_string(), files.key.display().to_string());
    let binary = serve(dir.path(), &zone, &["--tls-cert", &cert, "--tls-key", &key]);
    let said = failure(&binary, "certificate");
    assert!(
        said.starts_with("that of localhost expired ") && said.ends_with("2020-01-01T00:00:00Z; renew it"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mx_that_points_elsewhere_is_a_failure_with_the_record_to_set() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &[]);
    binary.tempmail(&["domain", "add", DOMAIN]).ok();
    zone.set_mx(DOMAIN, &[(5, "mail.other.example")]);
    let said = failure(&binary, "domain");
    assert_eq!(
        said,
        "The MX record of inbox.example.org points at mail.other.example, not at mx.example.org; \
         Replace the MX records of the domain with: inbox.example.org. IN MX 10 mx.example.org."
    );
    // What DNS does not answer is not known, and no failure.
    zone.servfail(DOMAIN);
    let outcome = binary.tempmail(&["doctor", "--json"]).ok();
    assert_eq!(of(&json(&outcome), "domain")[0]["verdict"], "warning");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_elsewhere_is_doubted_and_one_without_an_address_fails() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &[]);
    zone.set_addresses(MX_HOST, &["192.0.2.7"]);
    let outcome = binary.tempmail(&["doctor", "--json"]).ok();
    let findings = json(&outcome);
    assert_eq!(of(&findings, "mx-host")[0]["verdict"], "warning");
    assert!(of(&findings, "mx-host")[0]["advice"].as_str().is_some_and(|text| text.contains("public-address")));
    zone.remove(MX_HOST);
    assert!(failure(&binary, "mx-host").starts_with("mx.example.org has no address"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolver_that_does_not_answer_holds_nobody_up() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &[]);
    for name in ["doctor.test", MX_HOST] {
        zone.silence(name);
    }
    let said = failure(&binary, "resolver");
    assert!(said.contains("did not answer in time"), "{said}");
}

#[test]
fn without_a_service_nothing_is_examined_and_nothing_is_made() {
    let dir = tempfile::tempdir().expect("directory");
    let outcome = local(dir.path(), &["doctor"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(6), ""), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: no daemon runs on /"), "{outcome:?}");
    assert!(outcome.stderr.ends_with("\nhint: start `tempmail serve`\n"), "{outcome:?}");
    assert_eq!(fs::read_dir(dir.path()).expect("list").count(), 0, "it has made something");
}

#[test]
fn a_data_directory_of_another_user_is_said_before_anything_is_guessed() {
    let dir = tempfile::tempdir().expect("directory");
    let outcome = local(&of_another_user(dir.path().join("data")), &["doctor"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(4), ""), "{outcome:?}");
    assert!(outcome.stderr.contains("belongs to another user\nhint: run the command as that user"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_be_used_are_a_failure() {
    let (dir, zone) = (tempfile::tempdir().expect("directory"), zone().await);
    let binary = serve(dir.path(), &zone, &[]);
    let outcome = local_with(dir.path(), &[("TEMPMAIL_RETENTION", "soon")], &["doctor"]);
    assert_eq!(outcome.code, Some(8), "{outcome:?}");
    assert!(
        outcome.stdout.starts_with("failure\tsettings\tTEMPMAIL_RETENTION: 'soon' is not a duration"),
        "{outcome:?}"
    );
    // The daemon has its own, so the rest is examined.
    assert!(outcome.stdout.contains("\nok\tdaemon\t"), "{outcome:?}");
    binary.stop();
    assert_eq!(local(dir.path(), &["doctor", "--server", "http://127.0.0.1:1"]).code, Some(2));
}

#[test]
fn a_daemon_that_does_not_answer_is_a_failure_and_the_machine_is_examined() {
    let dir = tempfile::tempdir().expect("directory");
    let binary = Program::serve(dir.path(), &[]);
    binary.signal(Signal::STOP);
    let outcome = binary.tempmail(&["doctor", "--json"]);
    binary.signal(Signal::CONT);
    assert_eq!(outcome.code, Some(8), "{outcome:?}");
    let findings = json(&outcome);
    assert_eq!(of(&findings, "daemon")[0]["verdict"], "failure");
    assert_eq!((of(&findings, "disk").len(), of(&findings, "listener").len()), (1, 0), "{findings:#}");
    binary.stop();
}
