//! The domains: whether the MX of each points here.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::finding::Finding;
use super::subject::Subject;
use crate::client::Domain;
use crate::dns::{self, Failure, FoundDetail, MxReport, Ours, Resolver};
use crate::model::DomainName;

const CHECK: &str = "domain";
/// How many domains are asked for; thousands would take too long for a person.
const DOMAINS_MAX: usize = 100;
/// How many are asked for at once.
const AT_ONCE: usize = 8;

pub(super) async fn check(subject: &Subject, resolver: Arc<dyn Resolver>) -> Vec<Finding> {
    let Some(daemon) = &subject.daemon else { return fixed_only(subject) };
    let settings = &subject.config.domains;
    let ours = Ours { hosts: settings.mx_hosts.clone(), addresses: settings.public_addresses.clone() };
    let (pinned, verified): (Vec<&Domain>, Vec<&Domain>) = daemon.domains.iter().partition(|domain| is_pinned(domain));
    let mut findings = Vec::new();
    if !pinned.is_empty() {
        findings.push(without_dns(pinned.iter().map(|domain| domain.domain.clone()).collect()));
    }
    let names: Vec<DomainName> = verified.iter().filter_map(|domain| domain.domain.parse().ok()).collect();
    let asked = stream::iter(names.iter().take(DOMAINS_MAX)).map(|name| async {
        // In its order, whichever answers first.
        verdict(name, dns::check(&*resolver, &ours, name, FoundDetail::Addresses).await)
    });
    findings.extend(asked.buffered(AT_ONCE).collect::<Vec<_>>().await);
    if names.len() > DOMAINS_MAX {
        let found = format!("{} more were not checked", names.len() - DOMAINS_MAX);
        findings.push(Finding::warning(CHECK, found, "`tempmail domain verify` checks all"));
    }
    if findings.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            "there is none, so no mail is accepted",
            "`tempmail domain add` registers one",
        ));
    }
    findings
}

/// Fixed in the settings, or pinned by the administrator: never verified.
fn is_pinned(domain: &Domain) -> bool {
    let is_set = |name: &str| domain.other.get(name).and_then(serde_json::Value::as_bool) == Some(true);
    is_set("fixed") || is_set("pinned")
}

fn fixed_only(subject: &Subject) -> Vec<Finding> {
    let fixed: Vec<String> = subject.config.domains.fixed.iter().map(ToString::to_string).collect();
    let mut findings: Vec<Finding> = (!fixed.is_empty()).then(|| without_dns(fixed)).into_iter().collect();
    findings.push(Finding::ok(CHECK, "registered ones are known only while the daemon runs"));
    findings
}

fn without_dns(names: Vec<String>) -> Finding {
    let shown = names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(3);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Finding::ok(CHECK, format!("{shown}{more} receive mail without a check of DNS"))
}

fn verdict(name: &DomainName, result: Result<MxReport, Failure>) -> Finding {
    match result {
        Ok(report) if report.ok => Finding::ok(CHECK, report.message.trim_end_matches('.')),
        Ok(report) => {
            let (found, advice) = report.message.split_once(". ").unwrap_or((&report.message, "correct its MX record"));
            Finding::failure(CHECK, found, advice)
        }
        Err(why) => Finding::warning(CHECK, format!("{name}: {why}"), "nothing is known of it; try again later"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn an_mx_that_points_elsewhere_is_a_failure_with_the_record_to_create() {
        let name: DomainName = "a.test".parse().expect("name");
        let of = |ok, sentence: &str, message: &str| {
            let (message, sentence) = (message.to_owned(), sentence.to_owned());
            let report =
                MxReport { ok, message, domain: name.clone(), expected: Vec::new(), found: Vec::new(), sentence };
            verdict(&name, Ok(report))
        };
        let here = "The MX record of a.test points at mx.test";
        assert_eq!(of(true, here, &format!("{here}.")), Finding::ok(CHECK, here));
        let elsewhere = "a.test has no MX record";
        let record = "Create the record: a.test. IN MX 10 mx.test.";
        assert_eq!(of(false, elsewhere, &format!("{elsewhere}. {record}")), Finding::failure(CHECK, elsewhere, record));
        assert_eq!(verdict(&name, Err(Failure::TimedOut)).verdict, Verdict::Warning);
    }

    #[test]
    fn many_names_are_counted() {
        let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(without_dns(names).found, "a, b, c and 1 more receive mail without a check of DNS");
    }
}
