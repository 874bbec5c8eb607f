//! The certificate: its names and its end.

use std::time::Duration;

use serde_json::{Map, Value};

use super::finding::Finding;
use super::subject::{Running, Subject};
use crate::cli::output::time;
use crate::config::Config;
use crate::model::{DomainName, Timestamp};

const CHECK: &str = "certificate";
/// Renewals of short-lived certificates come about then.
const SOON: Duration = Duration::from_hours(14 * 24);

/// What is known of a certificate.
struct Facts {
    names: Vec<String>,
    not_after: Timestamp,
    is_self_signed: bool,
}

/// Judges the certificate in use.
pub(super) fn check(subject: &Subject, now: Timestamp) -> Vec<Finding> {
    let Some(Running { status, .. }) = &subject.daemon else { return Vec::new() };
    let finding = match status.tls.as_ref().map(|tls| (fault(tls), facts(tls))) {
        Some((Some(fault), _)) => {
            let found = format!("its files cannot be used, so the old one is in use: {fault}");
            Finding::failure(CHECK, found, "mend the files; they are read again when they change and at SIGHUP")
        }
        Some((None, Some(facts))) => verdict(&facts, &subject.config.domains.mx_hosts, now),
        Some((None, None)) => Finding::warning(CHECK, "the daemon does not tell its names", "see the row on version"),
        None => none(&subject.config),
    };
    vec![finding]
}

fn fault(tls: &Map<String, Value>) -> Option<&str> {
    tls.get("fault")?.as_str()
}

fn facts(tls: &Map<String, Value>) -> Option<Facts> {
    let names = tls.get("names")?.as_array()?.iter().filter_map(|name| Some(name.as_str()?.to_owned()));
    Some(Facts {
        names: names.collect(),
        not_after: Timestamp::from_text(tls.get("notAfter")?.as_str()?)?,
        is_self_signed: tls.get("isSelfSigned")?.as_bool()?,
    })
}

fn none(config: &Config) -> Finding {
    if config.smtp.listen.iter().all(|address| address.ip().is_loopback()) {
        return Finding::ok(CHECK, "there is none, and SMTP listens on loopback only");
    }
    Finding::warning(CHECK, "there is none, so mail arrives in the clear", "set tls-cert and tls-key to offer STARTTLS")
}

fn verdict(facts: &Facts, ours: &[DomainName], now: Timestamp) -> Finding {
    let end = facts.not_after.to_rfc3339();
    let names = facts.names.join(", ");
    if facts.not_after < now {
        let ago = time::duration(now.since(facts.not_after));
        return Finding::failure(CHECK, format!("that of {names} expired {ago} ago, at {end}"), "renew it");
    }
    let left = facts.not_after.since(now);
    if left < SOON {
        let found = format!("that of {names} expires in {}, at {end}", time::duration(left));
        return Finding::warning(CHECK, found, "renew it, and see that its renewal works");
    }
    if let Some(name) = ours.iter().find(|name| !facts.names.iter().any(|other| covers(other, name.as_str()))) {
        let found = format!("it names {names}, and not {name}, which MX records point to");
        return Finding::warning(CHECK, found, "get one for that name: senders that verify it will not send");
    }
    let kind = if facts.is_self_signed { "self-signed, for development, " } else { "" };
    Finding::ok(CHECK, format!("that of {names} is {kind}valid until {end}"))
}

/// Whether a name of a certificate covers a host (RFC 6125 section 6.4): a `*` stands for one whole label.
fn covers(name: &str, host: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("*.") {
        Some(parent) => host.split_once('.').is_some_and(|(_, of)| of == parent),
        None => name == host,
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn of(names: &[&str], left: Duration, ours: &[&str]) -> Verdict {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let ours: Vec<DomainName> = ours.iter().map(|name| name.parse().expect("a name")).collect();
        verdict(&Facts { names, not_after: NOW.plus(left), is_self_signed: false }, &ours, NOW).verdict
    }

    #[test]
    fn an_expired_certificate_is_a_failure_and_one_that_soon_does_a_warning() {
        let facts = Facts {
            names: vec!["a.test".to_owned()],
            not_after: NOW.before(Duration::from_secs(1)),
            is_self_signed: false,
        };
        assert_eq!(verdict(&facts, &[], NOW).verdict, Verdict::Failure);
        assert_eq!(of(&["a.test"], Duration::ZERO, &[]), Verdict::Warning);
        assert_eq!(of(&["a.test"], SOON, &[]), Verdict::Ok);
    }

    #[test]
    fn a_certificate_without_our_name_is_a_warning() {
        assert_eq!(of(&["mx.a.test", "b.test"], 2 * SOON, &["b.test"]), Verdict::Ok);
        assert_eq!(of(&["*.A.test"], 2 * SOON, &["mx.a.test"]), Verdict::Ok);
        for (name, host) in [("*.a.test", "a.test"), ("*.a.test", "x.mx.a.test"), ("a.test", "mx.a.test")] {
            assert_eq!(of(&[name], 2 * SOON, &[host]), Verdict::Warning, "{name} {host}");
        }
    }
}
